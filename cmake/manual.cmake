# SPDX-License-Identifier: Apache-2.0
# The man page and the completions of shells, written by a program of ours from the option rows.
file(GLOB manual_sources CONFIGURE_DEPENDS src/manual/*.c)
add_executable(xferbench_manual ${manual_sources})
target_link_libraries(xferbench_manual PRIVATE xferbench_core)
xferbench_add_registry(xferbench_manual MODES ${XFERBENCH_MODES})
set_target_properties(xferbench_manual PROPERTIES LINKER_LANGUAGE C)

# The page's date: that of SOURCE_DATE_EPOCH where it is set, so that the same sources make the same page.
string(TIMESTAMP manual_date "%Y-%m-%d" UTC)
file(GLOB manual_parts CONFIGURE_DEPENDS src/manual/*.in)
set(manual_folder ${CMAKE_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${manual_folder})
set(manual_files xferbench.1 xferbench.bash _xferbench xferbench.fish)
list(TRANSFORM manual_files PREPEND ${manual_folder}/)
add_custom_command(OUTPUT ${manual_files}
                   COMMAND xferbench_manual ${PROJECT_SOURCE_DIR}/src/manual ${manual_folder} ${manual_date}
                   DEPENDS xferbench_manual ${manual_parts}
                   COMMENT "Writing the man page and the completions" VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual_files})
