# SPDX-License-Identifier: Apache-2.0
# Completes the bundle: copies into it the libraries that its programs need and a node may lack, and their
# licences, and writes its README. Variables with bundle_ come from cmake/package.cmake.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(licences "${root}/${bundle_documents_folder}/licences")

# Parts of glibc, which every node has: a copy would not work with another release.
set(of_glibc "^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util))\\.so")

# Licences, by the beginning of a library's file name.
set(licence_of_libcjson MIT)
set(licence_of_libhwloc BSD-3-Clause)
set(licence_of_liblz4 BSD-2-Clause)
set(licence_of_liburing "MIT or LGPL-2.1")
set(licence_of_libsqlite3 "public domain")
set(licence_of_libz Zlib)
set(licence_of_libudev LGPL-2.1-or-later)
set(licence_of_libcap "BSD-3-Clause or GPL-2.0")
set(licence_of_libcmocka Apache-2.0)
set(licence_of_libcudart_static "NVIDIA's, docs.nvidia.com/cuda/eula")
set(licence_of_libgcc_s "GPL-3.0 with GCC exception")
set(licence_of_libstdc++ "GPL-3.0 with GCC exception")

# xferbench_find_package_of(<file> <variables for package, version, and name and version of its sources>): empty
# where no package manager knows the file.
function(xferbench_find_package_of file package version sources)
  set(${package} "" PARENT_SCOPE)
  set(${version} "" PARENT_SCOPE)
  set(${sources} "" PARENT_SCOPE)
  # A package may name its file by a path from before /lib became a link to /usr/lib.
  string(REGEX REPLACE "^/usr/" "/" short "${file}")
  foreach(path "${file}" "/usr${file}" "${short}")
    execute_process(COMMAND dpkg-query -S "${path}" RESULT_VARIABLE code OUTPUT_VARIABLE owner ERROR_QUIET)
    if(code EQUAL 0 AND owner MATCHES "^([^:, ]+)")
      set(name "${CMAKE_MATCH_1}")
      execute_process(COMMAND dpkg-query -W -f "\${Version} \${source:Package} \${source:Version}\n" ${name}
                      OUTPUT_VARIABLE releases)
      if(releases MATCHES "^([^ ]+) ([^\n]+)")
        set(${package} ${name} PARENT_SCOPE)
        set(${version} ${CMAKE_MATCH_1} PARENT_SCOPE)
        set(${sources} ${CMAKE_MATCH_2} PARENT_SCOPE)
        return()
      endif()
    endif()
    execute_process(COMMAND rpm -qf --qf "%{NAME} %{VERSION}-%{RELEASE} %{SOURCERPM}\n" "${path}"
                    RESULT_VARIABLE code OUTPUT_VARIABLE owner ERROR_QUIET)
    if(code EQUAL 0 AND owner MATCHES "^([^ ]+) ([^ ]+) ([^\n]+)")
      set(${package} ${CMAKE_MATCH_1} PARENT_SCOPE)
      set(${version} ${CMAKE_MATCH_2} PARENT_SCOPE)
      set(${sources} ${CMAKE_MATCH_3} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# xferbench_pad(<text> <width> <variable>)
function(xferbench_pad text width result)
  string(LENGTH "${text}" length)
  while(length LESS width)
    string(APPEND text " ")
    math(EXPR length "${length} + 1")
  endwhile()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# xferbench_copy_licence(<text> <name>): with those that Debian has once for all packages, to which it refers.
function(xferbench_copy_licence text name)
  configure_file("${text}" "${licences}/${name}" COPYONLY NO_SOURCE_PERMISSIONS)
  file(READ "${text}" content)
  string(REGEX MATCHALL "/usr/share/common-licenses/[A-Za-z0-9]+(-[0-9.]*[0-9])?" common "${content}")
  list(REMOVE_DUPLICATES common)
  foreach(text IN LISTS common)
    get_filename_component(name "${text}" NAME)
    if(EXISTS "${text}" AND NOT EXISTS "${licences}/${name}")
      get_filename_component(text "${text}" REALPATH)
      configure_file("${text}" "${licences}/${name}" COPYONLY NO_SOURCE_PERMISSIONS)
    endif()
  endforeach()
endfunction()

# xferbench_describe(<name> <file> <part|file>): one line more in the table, and the library's licence.
function(xferbench_describe name file how)
  xferbench_find_package_of("${file}" package version sources)
  string(REGEX REPLACE "\\..*" "" key "${name}")
  set(licence "${licence_of_${key}}")
  if(key STREQUAL "libcudart_static")
    set(version ${bundle_cuda_release})
  endif()
  set(texts "")
  if(package)
    string(REGEX REPLACE "^lib" "" short "${package}")
    file(GLOB texts "/usr/share/doc/${package}/copyright" "/usr/share/licenses/${package}/*"
         "/usr/share/licenses/${short}/*")
  endif()
  foreach(text IN LISTS texts)
    get_filename_component(text_name "${text}" NAME)
    xferbench_copy_licence("${text}" "${key}-${text_name}")
  endforeach()
  if(NOT licence AND texts)
    set(licence "see its file")
  elseif(NOT licence)
    message(FATAL_ERROR "The bundle needs ${file}, and neither packaging/bundle/install.cmake nor the system says "
            "under which licence that is. Add it there.")
  endif()
  if(NOT texts AND NOT key STREQUAL "libcudart_static")
    message(WARNING "No text of the licence of ${file} was found (${licence}). Put it into "
            "${bundle_documents_folder}/licences before you pass the bundle on.")
  endif()
  if(NOT version)
    set(version "of ${file}")
  endif()
  if(NOT sources)
    set(sources "of ${file}")
  endif()
  xferbench_pad("${name}" 22 name)
  if(licence MATCHES "^LGPL")
    set(owed_sources "${owed_sources}    ${name}source  ${sources}\n" PARENT_SCOPE)
  endif()
  xferbench_pad("${how}" 6 how)
  xferbench_pad("${version}" 20 version)
  set(table "${table}    ${name}${how}${version} ${licence}\n" PARENT_SCOPE)
endfunction()

set(table "")
set(owed_sources "")
foreach(archive IN LISTS bundle_archives)
  get_filename_component(name "${archive}" NAME)
  get_filename_component(archive "${archive}" REALPATH)
  xferbench_describe("${name}" "${archive}" part)
endforeach()

file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${bundle_built_programs} MODULES ${bundle_built_modules}
     PRE_EXCLUDE_REGEXES "${of_glibc}" RESOLVED_DEPENDENCIES_VAR libraries)
list(SORT libraries)
foreach(library IN LISTS libraries)
  get_filename_component(name "${library}" NAME)
  get_filename_component(library "${library}" REALPATH)
  # A copy under the name that programs ask for.
  file(COPY "${library}" DESTINATION "${root}/${bundle_libraries_folder}")
  get_filename_component(copied "${library}" NAME)
  if(NOT copied STREQUAL name)
    file(RENAME "${root}/${bundle_libraries_folder}/${copied}" "${root}/${bundle_libraries_folder}/${name}")
  endif()
  xferbench_describe("${name}" "${library}" file)
endforeach()

if(owed_sources)
  set(owed_sources "
Libraries under the LGPL are files: you may put other builds of them in their
place. Whoever passes this folder on has to offer their sources too:

${owed_sources}")
endif()

# The newest release of glibc that a symbol asks for, in all files of the bundle.
file(GLOB_RECURSE files "${root}/${bundle_program_folder}/*" "${root}/${bundle_helpers_folder}/*"
     "${root}/${bundle_libraries_folder}/*")
set(glibc 0)
foreach(file IN LISTS files)
  if(NOT file MATCHES "\\.sh$")
    execute_process(COMMAND ${bundle_readelf} --version-info --wide "${file}" OUTPUT_VARIABLE versions
                    COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "Name: GLIBC_[0-9.]+" versions "${versions}")
    foreach(version IN LISTS versions)
      string(REPLACE "Name: GLIBC_" "" version "${version}")
      if(version VERSION_GREATER glibc)
        set(glibc ${version})
      endif()
    endforeach()
  endif()
endforeach()

set(tests_text "")
if(EXISTS "${root}/${bundle_helpers_folder}/test-gpu.sh")
  set(tests_text "On a node with a GPU, ${bundle_helpers_folder}/test-gpu.sh tests every mode.\n")
endif()
configure_file("${bundle_source}/README.in" "${root}/README" @ONLY NO_SOURCE_PERMISSIONS)
