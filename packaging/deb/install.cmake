# SPDX-License-Identifier: Apache-2.0
# What only a package of Debian has. Runs after packaging/distribution.cmake, while cpack makes it.
set(data "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share")
set(folder "${data}/doc/xferbench")

configure_file("${package_source}/deb/copyright" "${folder}/copyright" COPYONLY NO_SOURCE_PERMISSIONS)
# Of SOURCE_DATE_EPOCH where it is set.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file("${package_source}/deb/changelog.in" "${folder}/changelog" @ONLY NO_SOURCE_PERMISSIONS)
execute_process(COMMAND ${package_gzip} -n -9 -f "${folder}/changelog" COMMAND_ERROR_IS_FATAL ANY)

# Where Debian's zsh looks for what packages bring.
file(MAKE_DIRECTORY "${data}/zsh/vendor-completions")
file(RENAME "${data}/zsh/site-functions/_xferbench" "${data}/zsh/vendor-completions/_xferbench")
file(REMOVE_RECURSE "${data}/zsh/site-functions")
