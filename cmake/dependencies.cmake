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

find_package(Threads REQUIRED)
find_package(PkgConfig)
if(NOT PKG_CONFIG_FOUND)
  xferbench_lacks(pkg-config pkg-config pkgconf-pkg-config)
endif()
pkg_check_modules(CJSON IMPORTED_TARGET libcjson)
if(NOT CJSON_FOUND)
  xferbench_lacks(libcjson libcjson-dev cjson-devel)
endif()
pkg_check_modules(HWLOC IMPORTED_TARGET hwloc>=2.0)
if(NOT HWLOC_FOUND)
  xferbench_lacks("hwloc 2.0 or later" libhwloc-dev hwloc-devel)
endif()
pkg_check_modules(LZ4 IMPORTED_TARGET liblz4)
if(NOT LZ4_FOUND)
  xferbench_lacks(liblz4 liblz4-dev lz4-devel)
endif()
pkg_check_modules(SMARTCOLS IMPORTED_TARGET smartcols>=2.37)
if(NOT SMARTCOLS_FOUND)
  xferbench_lacks("libsmartcols 2.37 or later" libsmartcols-dev libsmartcols-devel)
endif()
# Reads files past the page cache; without it preadv does. The static library, where there is one: the
# program then needs nothing more on a node.
pkg_check_modules(URING IMPORTED_TARGET liburing>=2.2)
if(URING_FOUND)
  find_library(XFERBENCH_URING_STATIC NAMES liburing.a HINTS ${URING_LIBRARY_DIRS})
endif()
if(XFERBENCH_TESTS)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
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
