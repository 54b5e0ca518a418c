# SPDX-License-Identifier: Apache-2.0
# xferbench_add_registry(<target> MODES <mode>... [BACKENDS <backend>...])
#
# Gives a program its lists of backends and modes: an explicit list, because a constructor in a static
# library vanishes with the object file that nobody refers to. BACKENDS defaults to all.
function(xferbench_add_registry target)
  cmake_parse_arguments(arg "" "" "MODES;BACKENDS" ${ARGN})
  if(NOT arg_BACKENDS)
    set(arg_BACKENDS ${XFERBENCH_BACKENDS})
  endif()
  set(declarations "")
  set(backend_entries "")
  set(mode_entries "")
  foreach(backend IN LISTS arg_BACKENDS)
    if(XFERBENCH_ABSENT_${backend})
      string(APPEND backend_entries
             "    {.name = \"${backend}\", .absent_reason = \"${XFERBENCH_ABSENT_${backend}}\"},\n")
    else()
      string(APPEND declarations "extern const struct xb_backend xb_${backend}_backend;\n")
      string(APPEND backend_entries
             "    {.name = \"${backend}\", .backend = &xb_${backend}_backend},\n")
    endif()
  endforeach()
  foreach(mode IN LISTS arg_MODES)
    string(APPEND declarations "extern const struct xb_mode xb_mode_${mode};\n")
    string(APPEND mode_entries "    &xb_mode_${mode},\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/registry_list.c.in
                 ${CMAKE_CURRENT_BINARY_DIR}/${target}_registry.c @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${target}_registry.c)
endfunction()
