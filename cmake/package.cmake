# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, and the portable bundle that `cpack -G TGZ` makes.
#
# The bundle is what is installed and more, the component "bundle": the libraries that a node may lack,
# in a folder of their own, where only our programs look; and with XFERBENCH_TESTS=ON what tests a
# machine with a GPU. It then needs glibc, the GPU's driver, hwloc and libsmartcols of the node.
include(GNUInstallDirs)
# Named, so that cpack leaves install_manifest.txt alone: by that an installed xferbench is removed.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)

set(documents ${CMAKE_INSTALL_DOCDIR})
set(private_libraries ${CMAKE_INSTALL_LIBDIR}/xferbench)
set(helpers ${CMAKE_INSTALL_LIBEXECDIR}/xferbench)

# xferbench_look_for_private_libraries(<folder of the programs> <program>...)
function(xferbench_look_for_private_libraries folder)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
  set(libraries ${private_libraries})
  cmake_path(ABSOLUTE_PATH libraries BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
  cmake_path(RELATIVE_PATH libraries BASE_DIRECTORY ${folder})
  set_target_properties(${ARGN} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
endfunction()

# The file of a library as the linker found it, under the name that programs ask for, and its terms.
function(xferbench_bundle_library imported package)
  get_target_property(paths PkgConfig::${imported} INTERFACE_LINK_LIBRARIES)
  list(GET paths 0 path)
  get_filename_component(real "${path}" REALPATH)
  get_filename_component(name "${real}" NAME)
  string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" soname "${name}")
  install(FILES "${real}" DESTINATION ${private_libraries} RENAME "${soname}" COMPONENT bundle EXCLUDE_FROM_ALL)
  string(REGEX REPLACE "^lib" "" without_lib ${package}) # Fedora's name for it
  file(GLOB terms /usr/share/doc/${package}*/copyright /usr/share/licenses/${package}*/* /usr/share/licenses/${without_lib}*/*)
  foreach(file IN LISTS terms)
    get_filename_component(name "${file}" NAME)
    install(FILES "${file}" DESTINATION ${documents} RENAME ${package}-${name} COMPONENT bundle EXCLUDE_FROM_ALL)
  endforeach()
endfunction()

xferbench_look_for_private_libraries(${CMAKE_INSTALL_BINDIR} xferbench)
install(TARGETS xferbench DESTINATION ${CMAKE_INSTALL_BINDIR})
xferbench_bundle_library(CJSON libcjson)
xferbench_bundle_library(LZ4 liblz4)
if(URING_FOUND AND NOT XFERBENCH_URING_STATIC)
  xferbench_bundle_library(URING liburing)
endif()

install(FILES ${manual_folder}/xferbench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# Where each shell looks for what comes with programs.
install(FILES ${manual_folder}/xferbench.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME xferbench)
install(FILES ${manual_folder}/_xferbench DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${manual_folder}/xferbench.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# In the folders they have in the source tree, so that their links lead somewhere here too.
install(FILES README.md CONTRIBUTING.md LICENSE CHANGELOG.md DESTINATION ${documents})
install(DIRECTORY docs DESTINATION ${documents} PATTERN "*.c" EXCLUDE)
install(DIRECTORY scripts/examples DESTINATION ${documents}/scripts USE_SOURCE_PERMISSIONS)
install(DIRECTORY bench/results bench/traces DESTINATION ${documents}/bench)

if(XFERBENCH_TESTS)
  set(for_gpus test_contract test_damage hold_depth)
  xferbench_look_for_private_libraries(${helpers} ${for_gpus})
  install(TARGETS ${for_gpus} DESTINATION ${helpers} COMPONENT bundle EXCLUDE_FROM_ALL)
  install(PROGRAMS scripts/test-gpu.sh DESTINATION ${helpers} COMPONENT bundle EXCLUDE_FROM_ALL)
  install(TARGETS fake_nvml DESTINATION ${helpers}/fake_nvml COMPONENT bundle EXCLUDE_FROM_ALL)
  if(TARGET xferbench_hip_cuda)
    install(TARGETS xferbench_hip_cuda DESTINATION ${helpers}/hip_cuda COMPONENT bundle EXCLUDE_FROM_ALL)
  endif()
  xferbench_bundle_library(CMOCKA libcmocka)
endif()

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME "xferbench-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_CMAKE_PROJECTS
    "${PROJECT_BINARY_DIR};xferbench;program;/;${PROJECT_BINARY_DIR};xferbench;bundle;/")
include(CPack)
