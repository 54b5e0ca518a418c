# SPDX-License-Identifier: Apache-2.0
# cpack runs this when everything is in place. It makes folders with the user's umask, and a folder that
# others may not read would be unreadable on every machine.
file(CHMOD_RECURSE "${CPACK_TEMPORARY_DIRECTORY}" DIRECTORY_PERMISSIONS
     OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
