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

# What xferbench can do without. A program without them says what it cannot do: `xferbench list`.
set(XFERBENCH_LIBRARIES xferbench::CJSON)
set(XFERBENCH_LEFT_OUT "")         # names of those that are not in this build
set(XFERBENCH_LEFT_OUT_SOURCES "") # files that are not
set(XFERBENCH_WITHOUT_hwloc "threads and memory are not bound to NUMA nodes, and --numa is refused")
set(XFERBENCH_WITHOUT_liblz4 "the mode compress skips --codec lz4")
set(XFERBENCH_WITHOUT_liburing "files are read by preadv instead of io_uring")
set(XFERBENCH_WITHOUT_libsqlite3 "explain reads no export of Nsight Systems")
set(XFERBENCH_WITHOUT_zlib "explain reads no gzipped trace")

# xferbench_find_optional(<NAME> <module> <library> <what> <package of Debian> <of Fedora> <SOURCE>): by XFERBENCH_<NAME>.
# <SOURCE>.c is compiled with the library, <SOURCE>_none.c without it. Sets XFERBENCH_HAS_<NAME>.
macro(xferbench_find_optional name module library what debian fedora source)
  set(XFERBENCH_HAS_${name} OFF)
  if(NOT XFERBENCH_${name} STREQUAL "OFF")
    xferbench_find_library(${name} "${module}")
    set(XFERBENCH_HAS_${name} ${${name}_FOUND})
  endif()
  if(XFERBENCH_HAS_${name})
    list(APPEND XFERBENCH_LIBRARIES xferbench::${name})
    list(APPEND XFERBENCH_LEFT_OUT_SOURCES ${source}_none.c)
  elseif(XFERBENCH_${name} STREQUAL "ON")
    xferbench_lacks("XFERBENCH_${name}=ON, but ${what}" ${debian} ${fedora})
  else()
    list(APPEND XFERBENCH_LEFT_OUT ${library})
    list(APPEND XFERBENCH_LEFT_OUT_SOURCES ${source}.c)
    if(XFERBENCH_${name} STREQUAL "AUTO")
      message(STATUS "Left out: ${what} was not found. To have it, install ${debian} (Fedora: ${fedora}).")
    endif()
  endif()
endmacro()

# xferbench_add_left_out(<target> <library>...): the list of what a program lacks.
function(xferbench_add_left_out target)
  set(entries "")
  foreach(library IN LISTS ARGN)
    string(APPEND entries "    {\"${library}\", \"${XFERBENCH_WITHOUT_${library}}\"},\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/left_out.c.in ${CMAKE_CURRENT_BINARY_DIR}/${target}_left_out.c @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${target}_left_out.c)
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
xferbench_find_optional(HWLOC "hwloc>=2.0" hwloc "hwloc 2.0 or later" libhwloc-dev hwloc-devel src/machine/topology)
xferbench_find_optional(LZ4 liblz4 liblz4 liblz4 liblz4-dev lz4-devel src/codecs/lz4_compress)
xferbench_find_optional(URING "liburing>=2.2" liburing "liburing 2.2 or later" liburing-dev liburing-devel
                        src/storage/reader_uring)
xferbench_find_optional(SQLITE "sqlite3>=3.31" libsqlite3 "libsqlite3 3.31 or later" libsqlite3-dev sqlite-devel
                        src/trace/nsys)
xferbench_find_optional(ZLIB zlib zlib zlib zlib1g-dev zlib-devel src/trace/gzip)
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
