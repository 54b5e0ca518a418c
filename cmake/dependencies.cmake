# SPDX-License-Identifier: Apache-2.0
# What every build needs. scripts/install-deps.sh installs it.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc>=2.0)
pkg_check_modules(SMARTCOLS REQUIRED IMPORTED_TARGET smartcols>=2.37)
if(XFERBENCH_TESTS)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
