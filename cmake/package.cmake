# SPDX-License-Identifier: Apache-2.0
# The portable bundle: cpack -G TGZ. It needs glibc, the GPU's driver, hwloc and libsmartcols of the
# node, and brings cJSON along. With XFERBENCH_TESTS=ON also what tests the GPU there, and cmocka.

# The file of a library as the linker found it, under the name that programs ask for, and its terms.
function(xferbench_bundle_library imported package)
  get_target_property(paths PkgConfig::${imported} INTERFACE_LINK_LIBRARIES)
  list(GET paths 0 path)
  get_filename_component(real "${path}" REALPATH)
  get_filename_component(name "${real}" NAME)
  string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" soname "${name}")
  install(FILES "${real}" DESTINATION lib RENAME "${soname}")
  string(REGEX REPLACE "^lib" "" without_lib ${package}) # Fedora's name for it
  file(GLOB terms /usr/share/doc/${package}*/copyright /usr/share/licenses/${package}*/* /usr/share/licenses/${without_lib}*/*)
  foreach(file IN LISTS terms)
    get_filename_component(name "${file}" NAME)
    install(FILES "${file}" DESTINATION share/doc/xferbench RENAME ${package}-${name})
  endforeach()
endfunction()

set_target_properties(xferbench PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS xferbench DESTINATION bin)
xferbench_bundle_library(CJSON libcjson)
install(FILES README.md LICENSE CHANGELOG.md docs/result.schema.json docs/processes.schema.json docs/measurement.md
        docs/options.md docs/hip.md docs/link.md docs/link-ceilings.md docs/link.schema.json docs/compare.md
        docs/compare.schema.json docs/limits.schema.json docs/list.schema.json docs/limits.example.json
        DESTINATION share/doc/xferbench)
install(DIRECTORY docs/ci DESTINATION share/doc/xferbench)

install(DIRECTORY scripts/examples DESTINATION share/doc/xferbench USE_SOURCE_PERMISSIONS)

if(XFERBENCH_TESTS)
  set_target_properties(test_contract test_damage hold_depth PROPERTIES INSTALL_RPATH "$ORIGIN/../../lib")
  install(TARGETS test_contract test_damage hold_depth DESTINATION libexec/xferbench)
  install(PROGRAMS scripts/test-gpu.sh DESTINATION scripts)
  if(TARGET xferbench_hip_cuda)
    install(TARGETS xferbench_hip_cuda DESTINATION libexec/xferbench/hip_cuda)
  endif()
  xferbench_bundle_library(CMOCKA libcmocka)
endif()

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME "xferbench-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
