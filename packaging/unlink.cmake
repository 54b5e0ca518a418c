# SPDX-License-Identifier: Apache-2.0
# The measurements of bench/ are 22 MB and stay in the source tree. In the installed documents the links to them
# become plain text.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${documents}")
file(GLOB pages "${root}/*.md" "${root}/docs/*.md")
foreach(page IN LISTS pages)
  file(READ "${page}" text)
  string(REGEX REPLACE "\\[([^]]*)\\]\\((\\.\\./)?bench/[^)]*\\)" "\\1" text "${text}")
  file(WRITE "${page}" "${text}")
endforeach()
