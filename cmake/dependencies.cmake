# SPDX-License-Identifier: Apache-2.0
# What every build needs, and with XFERBENCH_TESTS=ON its tests. What is missing is named with
# the package that has it and the script that installs it.

# xferbench_lacks(<what> <package of Debian> <package of Fedora>): ends the configuration.
function(xferbench_lacks what debian fedora)
  message(FATAL_ERROR "${what} was not found. Install ${debian} (Fedora: ${fedora}), or run "
          "scripts/install-deps.sh, which installs everything missing. Then run this again.")
endfunction()

# The same for what only the tests need.
function(xferbench_tests_lack what debian fedora)
  message(FATAL_ERROR "${what} was not found, and the tests need it. Install ${debian} (Fedora: ${fedora}), "
          "or run scripts/install-deps.sh --test, which installs everything missing. Then run this again; "
          "or build without the tests: -DXFERBENCH_TESTS=OFF.")
endfunction()

option(XFERBENCH_STATIC_LIBRARIES
       "Make libraries part of the programs where there is an archive (.a) of them: for other nodes" OFF)

# xferbench_find_archive(<NAME> <variable>): what to link in place of the shared library of a module that
# pkg-config found: its archive, and the libraries that it needs. Empty where one of them is missing.
function(xferbench_find_archive name result)
  set(${result} "" PARENT_SCOPE)
  set(needed ${${name}_STATIC_LIBRARIES})
  list(POP_FRONT needed own)
  find_library(XFERBENCH_${name}_ARCHIVE NAMES lib${own}.a HINTS ${${name}_LIBDIR} ${${name}_LIBRARY_DIRS})
  if(NOT XFERBENCH_${name}_ARCHIVE)
    return()
  endif()
  set(libraries ${XFERBENCH_${name}_ARCHIVE})
  foreach(library IN LISTS needed)
    # By the name that programs ask for where nothing but the shared hwloc has brought the library here.
    find_library(XFERBENCH_${name}_NEEDS_${library} NAMES ${library} lib${library}.so.1)
    if(NOT XFERBENCH_${name}_NEEDS_${library})
      return()
    endif()
    list(APPEND libraries ${XFERBENCH_${name}_NEEDS_${library}})
  endforeach()
  set(${result} ${libraries} PARENT_SCOPE)
endfunction()

# xferbench_find_library(<NAME> <module of pkg-config, with the oldest release>): sets <NAME>_FOUND, and then
# makes xferbench::<NAME>, which is linked. The property XFERBENCH_ARCHIVES lists those that the programs
# contain, XFERBENCH_SHARED the others.
function(xferbench_find_library name module)
  pkg_check_modules(${name} IMPORTED_TARGET ${module})
  if(NOT ${name}_FOUND)
    return()
  endif()
  add_library(xferbench_library_${name} INTERFACE)
  add_library(xferbench::${name} ALIAS xferbench_library_${name})
  set(libraries "")
  if(XFERBENCH_STATIC_LIBRARIES)
    xferbench_find_archive(${name} libraries)
  endif()
  if(libraries)
    target_include_directories(xferbench_library_${name} SYSTEM INTERFACE ${${name}_INCLUDE_DIRS})
    target_link_libraries(xferbench_library_${name} INTERFACE ${libraries})
    set_property(GLOBAL APPEND PROPERTY XFERBENCH_ARCHIVES ${XFERBENCH_${name}_ARCHIVE})
  else()
    target_link_libraries(xferbench_library_${name} INTERFACE PkgConfig::${name})
    set_property(GLOBAL APPEND PROPERTY XFERBENCH_SHARED ${module})
  endif()
endfunction()

find_package(Threads REQUIRED)
find_package(PkgConfig)
if(NOT PKG_CONFIG_FOUND)
  xferbench_lacks(pkg-config pkg-config pkgconf-pkg-config)
endif()
xferbench_find_library(CJSON libcjson)
if(NOT CJSON_FOUND)
  xferbench_lacks(libcjson libcjson-dev cjson-devel)
endif()
xferbench_find_library(HWLOC hwloc>=2.0)
if(NOT HWLOC_FOUND)
  xferbench_lacks("hwloc 2.0 or later" libhwloc-dev hwloc-devel)
endif()
xferbench_find_library(LZ4 liblz4)
if(NOT LZ4_FOUND)
  xferbench_lacks(liblz4 liblz4-dev lz4-devel)
endif()
# Reads files past the page cache; without it preadv does.
xferbench_find_library(URING liburing>=2.2)
if(XFERBENCH_TESTS)
  xferbench_find_library(CMOCKA cmocka)
  if(NOT CMOCKA_FOUND)
    xferbench_tests_lack(cmocka libcmocka-dev libcmocka-devel)
  endif()
  # The system's before one of the user's own, which may lack python3-jsonschema.
  find_program(XFERBENCH_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_program(XFERBENCH_PYTHON python3)
  if(NOT XFERBENCH_PYTHON)
    xferbench_tests_lack(python3 python3 python3)
  endif()
endif()
