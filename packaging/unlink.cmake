# SPDX-License-Identifier: Apache-2.0
# The measurements of bench/ are 22 MB and stay in the source tree. In the installed documents the links to them
# become plain text.
cmake_path(ABSOLUTE_PATH documents BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
set(root "$ENV{DESTDIR}${documents}")
file(GLOB pages "${root}/*.md" "${root}/docs/*.md")
if(NOT pages)
  message(FATAL_ERROR "No documents were found in ${root}")
endif()
foreach(page IN LISTS pages)
  file(READ "${page}" text)
  string(REGEX REPLACE "\\[([^]]*)\\]\\((\\.\\./)?bench/[^)]*\\)" "\\1" text "${text}")
  file(WRITE "${page}" "${text}")
endforeach()
