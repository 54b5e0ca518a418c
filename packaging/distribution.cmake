# SPDX-License-Identifier: Apache-2.0
# cpack runs this when everything is in place. It changes the files of a DEB or an RPM as distributions expect.
if(NOT CPACK_GENERATOR STREQUAL "TGZ")
  find_program(gzip gzip REQUIRED)
  set(share "${CPACK_TEMPORARY_DIRECTORY}/program/usr/share")

  # The libraries are those of the distribution, where every program looks.
  file(RPATH_REMOVE FILE "${CPACK_TEMPORARY_DIRECTORY}/program/usr/bin/xferbench")

  # Without its name and time: the same page makes the same file.
  execute_process(COMMAND ${gzip} -n -9 "${share}/man/man1/xferbench.1" COMMAND_ERROR_IS_FATAL ANY)

  # The examples name the program where `cmake --install` puts it.
  file(GLOB examples "${share}/doc/xferbench/scripts/examples/*")
  foreach(example IN LISTS examples)
    file(READ "${example}" text)
    string(REPLACE "/usr/local/bin/xferbench" "/usr/bin/xferbench" changed "${text}")
    if(NOT changed STREQUAL text)
      file(WRITE "${example}" "${changed}")
    endif()
  endforeach()

  if(CPACK_GENERATOR STREQUAL "DEB")
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH where it is set
    foreach(folder "${share}/doc/xferbench" "${CPACK_TEMPORARY_DIRECTORY}/doc/usr/share/doc/xferbench-doc")
      configure_file("${CMAKE_CURRENT_LIST_DIR}/deb/copyright" "${folder}/copyright" COPYONLY NO_SOURCE_PERMISSIONS)
      configure_file("${CMAKE_CURRENT_LIST_DIR}/deb/changelog.in" "${folder}/changelog" @ONLY NO_SOURCE_PERMISSIONS)
      execute_process(COMMAND ${gzip} -n -9 "${folder}/changelog" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    # Where Debian's zsh looks for what packages bring.
    file(RENAME "${share}/zsh/site-functions" "${share}/zsh/vendor-completions")
  endif()
endif()

# Folders have the user's umask, and one that others may not read would be unreadable on every machine.
file(CHMOD_RECURSE "${CPACK_TEMPORARY_DIRECTORY}" DIRECTORY_PERMISSIONS
     OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
