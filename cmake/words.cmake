# SPDX-License-Identifier: Apache-2.0
# The entries of docs/words.md as the initialiser of an array, XB_WORDS, for src/commands.c.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/words.md)
file(READ docs/words.md words)
string(FIND "${words}" "\n- **" begin)
string(SUBSTRING "${words}" ${begin} -1 words)
string(REPLACE "\n  " " " words "${words}")
string(REPLACE "\"" "\\\"" words "${words}")
string(REGEX REPLACE "\n- \\*\\*([^*]+)\\*\\*: ([^\n]*)" " \\\\\n    {\"\\1\", \"\\2\"}," words "${words}")
file(CONFIGURE OUTPUT include/xferbench/words.h CONTENT "#define XB_WORDS${words}\n" @ONLY)
