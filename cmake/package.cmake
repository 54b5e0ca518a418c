# SPDX-License-Identifier: Apache-2.0
# The portable bundle: cpack -G TGZ. It needs glibc, the GPU's driver, hwloc and libsmartcols of the
# node, and brings cJSON along.
include(GNUInstallDirs)

set_target_properties(xferbench PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS xferbench DESTINATION bin)
install(FILES README.md LICENSE CHANGELOG.md DESTINATION share/doc/xferbench)
install(FILES docs/result.schema.json DESTINATION share/doc/xferbench)

# libcjson.so.1 as the linker found it, under the name the binary asks for.
function(xferbench_bundle_library imported)
  get_target_property(paths PkgConfig::${imported} INTERFACE_LINK_LIBRARIES)
  list(GET paths 0 path)
  get_filename_component(real "${path}" REALPATH)
  get_filename_component(name "${real}" NAME)
  string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" soname "${name}")
  install(FILES "${real}" DESTINATION lib RENAME "${soname}")
endfunction()
xferbench_bundle_library(CJSON)
foreach(copyright /usr/share/doc/libcjson1/copyright /usr/share/licenses/cjson/LICENSE)
  if(EXISTS ${copyright})
    install(FILES ${copyright} DESTINATION share/doc/xferbench RENAME cjson-copyright)
  endif()
endforeach()

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME xferbench)
set(CPACK_PACKAGE_FILE_NAME "xferbench-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
