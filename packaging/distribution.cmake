# SPDX-License-Identifier: Apache-2.0
# Changes the installed files of the component "program" as distributions expect. Runs while cpack makes a
# DEB or an RPM, on the copy of the files that goes into it.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

# The libraries are those of the distribution, where every program looks.
file(RPATH_REMOVE FILE "${root}/${package_program}")

# Without its name and time: the same page makes the same file.
execute_process(COMMAND ${package_gzip} -n -9 -f "${root}/${package_manual}" COMMAND_ERROR_IS_FATAL ANY)

# The examples name the program where `cmake --install` puts it.
file(GLOB examples "${root}/${package_documents}/scripts/examples/*")
foreach(example IN LISTS examples)
  file(READ "${example}" text)
  string(REPLACE "/usr/local/bin/xferbench" "/usr/bin/xferbench" changed "${text}")
  if(NOT changed STREQUAL text)
    file(WRITE "${example}" "${changed}")
  endif()
endforeach()
