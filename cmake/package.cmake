# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, and the packages that cpack makes: see docs/packages.md. By components:
#
# program  the program, its man page, completions and scripts: the packages xferbench
# doc      documents and two example files: the packages xferbench-doc
# bundle   for TGZ, beside both: the libraries that a node may lack, in a folder of their own, where only our
#          programs look, and README; with XFERBENCH_TESTS=ON what tests a machine with a GPU
#
# `cmake --install` installs the first two.
# Named, so that cpack leaves install_manifest.txt alone: by that an installed xferbench is removed.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)

set(documents ${CMAKE_INSTALL_DOCDIR})
set(private_libraries ${CMAKE_INSTALL_LIBDIR}/xferbench)
set(helpers ${CMAKE_INSTALL_LIBEXECDIR}/xferbench)

# xferbench_look_for_private_libraries(<folder of the programs> <program>...): as DT_RPATH, by which the
# libraries there find each other too. After it the folders of CMAKE_INSTALL_RPATH, and of libraries outside the system's.
function(xferbench_look_for_private_libraries folder)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
  set(libraries ${private_libraries})
  cmake_path(ABSOLUTE_PATH libraries BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
  cmake_path(RELATIVE_PATH libraries BASE_DIRECTORY ${folder})
  set(paths "$ORIGIN/${libraries}" ${CMAKE_INSTALL_RPATH})
  # In the build folder already: else CMake keeps the room for it with colons, and the loader takes what is between
  # two of them for the folder in which the program is started, where anybody may have put a library. So it needs
  # those of libraries that the system does not know, too.
  set_target_properties(${ARGN} PROPERTIES INSTALL_RPATH "${paths}" INSTALL_RPATH_USE_LINK_PATH ON
                        BUILD_WITH_INSTALL_RPATH ON)
  foreach(program IN LISTS ARGN)
    target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
  endforeach()
endfunction()

xferbench_look_for_private_libraries(${CMAKE_INSTALL_BINDIR} xferbench)
install(TARGETS xferbench DESTINATION ${CMAKE_INSTALL_BINDIR})

install(FILES ${manual_folder}/xferbench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# Where each shell looks for what comes with programs.
install(FILES ${manual_folder}/xferbench.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME xferbench)
install(FILES ${manual_folder}/_xferbench DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${manual_folder}/xferbench.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# In the folders they have in the source tree, so that links lead somewhere here too. With stated
# permissions: those of a source tree depend on who checked it out.
install(FILES LICENSE DESTINATION ${documents})
install(DIRECTORY scripts/examples DESTINATION ${documents}/scripts
        PATTERN "*.sh" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
        WORLD_EXECUTE)
install(FILES README.md CONTRIBUTING.md CHANGELOG.md DESTINATION ${documents} COMPONENT doc)
install(DIRECTORY docs DESTINATION ${documents} COMPONENT doc PATTERN "*.c" EXCLUDE)
install(FILES bench/results/h200/all-1g-7.json DESTINATION ${documents}/examples RENAME run.json COMPONENT doc)
install(FILES bench/results/h200/link-idle.json DESTINATION ${documents}/examples RENAME link.json COMPONENT doc)
install(CODE "set(documents \"${documents}\")" COMPONENT doc)
install(SCRIPT packaging/unlink.cmake COMPONENT doc)

# All that goes into a package: less than "all" with the tests.
add_custom_target(packaged DEPENDS xferbench manual)

# ---- the bundle ----
set(bundle_programs $<TARGET_FILE:xferbench>)
set(bundle_modules "")
get_property(bundle_archives GLOBAL PROPERTY XFERBENCH_ARCHIVES)
if(NOT XFERBENCH_ABSENT_cuda)
  get_target_property(archive CUDA::cudart_static IMPORTED_LOCATION)
  if(NOT archive)
    set(archive ${CUDA_cudart_static_LIBRARY})
  endif()
  list(APPEND bundle_archives ${archive})
endif()
if(XFERBENCH_TESTS)
  set(for_gpus test_contract test_damage hold_depth)
  xferbench_look_for_private_libraries(${helpers} ${for_gpus})
  install(TARGETS ${for_gpus} DESTINATION ${helpers} COMPONENT bundle EXCLUDE_FROM_ALL)
  install(PROGRAMS scripts/test-gpu.sh DESTINATION ${helpers} COMPONENT bundle EXCLUDE_FROM_ALL)
  foreach(program IN LISTS for_gpus)
    list(APPEND bundle_programs $<TARGET_FILE:${program}>)
  endforeach()
  install(TARGETS fake_nvml DESTINATION ${helpers}/fake_nvml COMPONENT bundle EXCLUDE_FROM_ALL)
  list(APPEND bundle_modules $<TARGET_FILE:fake_nvml>)
  add_dependencies(packaged ${for_gpus} fake_nvml)
  if(TARGET xferbench_hip_cuda)
    install(TARGETS xferbench_hip_cuda DESTINATION ${helpers}/hip_cuda COMPONENT bundle EXCLUDE_FROM_ALL)
    list(APPEND bundle_modules $<TARGET_FILE:xferbench_hip_cuda>)
    add_dependencies(packaged xferbench_hip_cuda)
  endif()
endif()
set(bundle_backends host)
foreach(backend cuda hip)
  if(NOT XFERBENCH_ABSENT_${backend})
    list(APPEND bundle_backends ${backend})
  endif()
endforeach()
list(JOIN bundle_backends ", " backends)
install(CODE "
set(bundle_version \"${PROJECT_VERSION}\")
set(bundle_architecture \"${CMAKE_SYSTEM_PROCESSOR}\")
set(bundle_backends \"${backends}\")
set(bundle_cuda_release \"${CUDAToolkit_VERSION}\")
set(bundle_built_programs \"${bundle_programs}\")
set(bundle_built_modules \"${bundle_modules}\")
set(bundle_archives \"${bundle_archives}\")
set(bundle_program_folder \"${CMAKE_INSTALL_BINDIR}\")
set(bundle_helpers_folder \"${helpers}\")
set(bundle_libraries_folder \"${private_libraries}\")
set(bundle_documents_folder \"${documents}\")
set(bundle_manual_folder \"${CMAKE_INSTALL_MANDIR}\")
set(bundle_readelf \"${CMAKE_READELF}\")
set(bundle_source \"${PROJECT_SOURCE_DIR}/packaging/bundle\")
" COMPONENT bundle EXCLUDE_FROM_ALL)
install(SCRIPT packaging/bundle/install.cmake COMPONENT bundle EXCLUDE_FROM_ALL)

# ---- packages for distributions ----
# Who makes packages for others writes there who he is, or says -DCPACK_PACKAGE_CONTACT="Name <address>".
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS packaging/publisher)
file(STRINGS packaging/publisher publisher REGEX "^[a-z]+=")
foreach(line IN LISTS publisher)
  string(REGEX MATCH "^([a-z]+)=(.*)" line "${line}")
  set(publisher_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "${publisher_maintainer}")
endif()
if(NOT publisher_homepage MATCHES "\\.invalid$")
  set(CPACK_PACKAGE_HOMEPAGE_URL "${publisher_homepage}")
endif()

# What they share; packaging/cpack.cmake has what each kind of package needs.
set(CPACK_PACKAGE_VENDOR "xferbench developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measures how fast data moves between a host and its GPUs")
set(CPACK_PACKAGE_DESCRIPTION "\
xferbench measures every way in which a program can move data between the
memory of a host and that of its GPUs, checks every byte that it moved, and
tells whether a PCIe link gives what it should.

The backends in this package: ${backends}. It needs no package of CUDA or
ROCm: for NVIDIA GPUs it needs the driver, for AMD GPUs HIP's runtime
(libamdhip64). It looks for both when it runs.")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR TGZ)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/packaging/cpack.cmake)
set(CPACK_XFERBENCH_BUILD ${PROJECT_BINARY_DIR})
set(CPACK_XFERBENCH_STATIC ${XFERBENCH_STATIC_LIBRARIES})
set(CPACK_XFERBENCH_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_XFERBENCH_TESTS ${XFERBENCH_TESTS})
include(CPack)
