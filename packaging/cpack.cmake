# SPDX-License-Identifier: Apache-2.0
# cpack reads this for each kind of package that it makes.

set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/distribution.cmake")
set(CPACK_INSTALL_CMAKE_PROJECTS "")
if(CPACK_GENERATOR STREQUAL "TGZ")
  foreach(component program doc bundle)
    list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "${CPACK_XFERBENCH_BUILD}" xferbench ${component} /)
  endforeach()
  set(CPACK_PACKAGE_FILE_NAME "xferbench-${CPACK_PACKAGE_VERSION}-${CPACK_XFERBENCH_ARCHITECTURE}")
  if(CPACK_XFERBENCH_TESTS)
    string(APPEND CPACK_PACKAGE_FILE_NAME -tests)
  endif()
elseif(CPACK_GENERATOR MATCHES "^(DEB|RPM)$")
  if(CPACK_XFERBENCH_STATIC)
    message(FATAL_ERROR "A package for a distribution uses the libraries of the distribution, and this build has "
            "them in the program. Configure one with -DXFERBENCH_STATIC_LIBRARIES=OFF, and run cpack there.")
  endif()
  # A package each: xferbench and xferbench-doc.
  set(CPACK_INSTALL_CMAKE_PROJECTS "${CPACK_XFERBENCH_BUILD}" xferbench ALL /)
  set(CPACK_COMPONENTS_ALL program doc)
  set(CPACK_${CPACK_GENERATOR}_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
  set(CPACK_COMPONENT_DOC_DESCRIPTION "The documents of xferbench, and two files of results to try it on.")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()

if(CPACK_GENERATOR STREQUAL "DEB")
  foreach(tool dpkg-shlibdeps file)
    find_program(path_of_${tool} ${tool})
    if(NOT path_of_${tool})
      message(FATAL_ERROR "${tool} was not found, which it takes to tell on what the package depends. Install "
              "dpkg-dev and file, on a release of Debian or Ubuntu.")
    endif()
  endforeach()
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME xferbench)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS xferbench-doc)
  set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
  set(CPACK_DEBIAN_DOC_PACKAGE_SUGGESTS xferbench)
  set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
  if(NOT CPACK_DEBIAN_COMPRESSION_TYPE)
    set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
  endif()
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
elseif(CPACK_GENERATOR STREQUAL "RPM")
  set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
  set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
  set(CPACK_RPM_PACKAGE_GROUP "Applications/System")
  set(CPACK_RPM_PACKAGE_SUMMARY "How fast data moves between a host and its GPUs")
  set(CPACK_PACKAGE_RELOCATABLE OFF)
  set(CPACK_RPM_MAIN_COMPONENT program)
  set(CPACK_RPM_DOC_PACKAGE_ARCHITECTURE noarch)
  set(CPACK_RPM_DOC_PACKAGE_SUMMARY "Documents of xferbench")
  set(CPACK_RPM_PROGRAM_USER_FILELIST "%license /usr/share/doc/xferbench/LICENSE")
  # No links to debug files, which no package has, and not the name of the machine; dates by
  # SOURCE_DATE_EPOCH where that is set.
  set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none
%define _buildhost localhost
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define packager ${CPACK_PACKAGE_CONTACT}")
  # Folders of every system. Those of the shells may lack their package: ours is one of their owners.
  set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/doc /usr/share/man /usr/share/man/man1)
endif()
