# SPDX-License-Identifier: Apache-2.0
# CUDA: nvcc on PATH or under /usr/local/cuda, of release 11.8 or later.
set(XFERBENCH_CUDA_OLDEST 11.8)

# The capabilities from 7.5 up that nvcc makes code for: machine code of each, and PTX of the newest
# for what comes later. Empty if nvcc does not answer or knows none.
function(xferbench_cuda_architectures nvcc result)
  execute_process(COMMAND ${nvcc} --list-gpu-code OUTPUT_VARIABLE codes ERROR_QUIET)
  string(REGEX MATCHALL "sm_[0-9]+" codes "${codes}")
  set(list "")
  set(newest 0)
  foreach(code IN LISTS codes)
    string(REPLACE "sm_" "" number ${code})
    if(number GREATER_EQUAL 75)
      list(APPEND list ${number}-real)
      if(number GREATER newest)
        set(newest ${number})
      endif()
    endif()
  endforeach()
  if(newest)
    list(APPEND list ${newest}-virtual)
  endif()
  set(${result} "${list}" PARENT_SCOPE)
endfunction()

# Sets XFERBENCH_ABSENT_cuda to why nvcc cannot be used, or to nothing. Looks at its release and has it
# compile our kernels: it may not get on with the C++ compiler that is there. It is tried every time,
# because that compiler may change while nvcc does not.
function(xferbench_check_nvcc)
  set(absent "")
  execute_process(COMMAND ${XFERBENCH_NVCC} --version RESULT_VARIABLE code OUTPUT_VARIABLE version
    ERROR_VARIABLE version)
  string(REPLACE "\n" " " version "${version}")
  if(NOT version MATCHES "release ([0-9]+\\.[0-9]+)")
    xferbench_first_error("${version}" error)
    if(error STREQUAL "")
      string(REGEX REPLACE "^[0-9]+$" "exit code \\0" code "${code}")
      set(error "it prints nothing, ${code}")
    endif()
    set(absent "${XFERBENCH_NVCC} does not tell its release: ${error}")
  elseif(CMAKE_MATCH_1 VERSION_LESS XFERBENCH_CUDA_OLDEST)
    set(absent "${XFERBENCH_NVCC} is of CUDA ${CMAKE_MATCH_1}, and xferbench needs \
${XFERBENCH_CUDA_OLDEST} or later")
  elseif(NOT cuda_architectures)
    set(absent "${XFERBENCH_NVCC} knows no GPU from sm_75 up")
  else()
    set(host_compiler ${CMAKE_CUDA_HOST_COMPILER} $ENV{CUDAHOSTCXX})
    if(host_compiler)
      list(GET host_compiler 0 host_compiler)
      set(host_compiler -ccbin ${host_compiler})
    endif()
    execute_process(COMMAND ${XFERBENCH_NVCC} ${host_compiler} -std=c++17
      -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
      -c ${PROJECT_SOURCE_DIR}/src/backends/cuda/kernels.cu -o ${PROJECT_BINARY_DIR}/check_nvcc.o
      RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(code)
      xferbench_first_error("${output}" error)
      set(absent "${XFERBENCH_NVCC} did not compile our kernels: ${error}")
    endif()
  endif()
  set(XFERBENCH_ABSENT_cuda "${absent}" PARENT_SCOPE)
endfunction()

# The same for what the C compiler needs of the toolkit, by the backend's own files.
function(xferbench_check_cuda_headers)
  set(absent "")
  if(NOT TARGET CUDA::cudart_static)
    set(absent "the CUDA Toolkit of ${XFERBENCH_NVCC} lacks its headers, libcudart.so or \
libcudart_static.a")
  elseif(NOT XFERBENCH_CUDA_COMPILES STREQUAL CUDAToolkit_VERSION)
    file(GLOB sources ${PROJECT_SOURCE_DIR}/src/backends/cuda/*.c)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    try_compile(compiles ${PROJECT_BINARY_DIR}/check_cuda SOURCES ${sources}
      CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/include;${PROJECT_SOURCE_DIR}/src;${CUDAToolkit_INCLUDE_DIRS}"
      C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF OUTPUT_VARIABLE output)
    if(compiles)
      set(XFERBENCH_CUDA_COMPILES ${CUDAToolkit_VERSION} CACHE INTERNAL "The toolkit that was tried")
    else()
      xferbench_first_error("${output}" error)
      set(absent "the backend does not compile with CUDA ${CUDAToolkit_VERSION}: ${error}")
    endif()
  endif()
  set(XFERBENCH_ABSENT_cuda "${absent}" PARENT_SCOPE)
endfunction()

# All that this folder and CMake's own files in it know of a toolkit that was removed.
function(xferbench_forget_cuda)
  get_cmake_property(names CACHE_VARIABLES)
  list(FILTER names INCLUDE REGEX "^(XFERBENCH_NVCC|CMAKE_CUDA_COMPILER|CUDA_.*|CUDAToolkit_.*)$")
  foreach(name IN LISTS names)
    unset(${name} CACHE)
  endforeach()
  file(REMOVE ${CMAKE_PLATFORM_INFO_DIR}/CMakeCUDACompiler.cmake)
endfunction()

set(XFERBENCH_ABSENT_cuda "")
if(XFERBENCH_CUDA STREQUAL "OFF")
  set(XFERBENCH_ABSENT_cuda "it was configured with XFERBENCH_CUDA=OFF")
else()
  if(XFERBENCH_NVCC AND NOT EXISTS "${XFERBENCH_NVCC}")
    message(STATUS "${XFERBENCH_NVCC} is gone: looking for another nvcc")
    xferbench_forget_cuda()
  endif()
  find_program(XFERBENCH_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(XFERBENCH_NVCC)
    set(cuda_architectures ${XFERBENCH_CUDA_ARCHITECTURES})
    if(NOT cuda_architectures)
      xferbench_cuda_architectures(${XFERBENCH_NVCC} cuda_architectures)
    endif()
    xferbench_check_nvcc()
  else()
    set(XFERBENCH_ABSENT_cuda "no nvcc was found when it was built: install the CUDA Toolkit or put its \
bin folder on PATH, and build again")
  endif()
  if(NOT XFERBENCH_ABSENT_cuda)
    set(ENV{CUDACXX} ${XFERBENCH_NVCC})
    set(CMAKE_CUDA_ARCHITECTURES ${cuda_architectures})
    enable_language(CUDA)
    # The kernels use nothing of the C++ runtime; without this the binary would need libstdc++.
    set(CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES "")
    find_package(CUDAToolkit)
    xferbench_check_cuda_headers()
    set(cuda_found "built in: nvcc ${CMAKE_CUDA_COMPILER_VERSION} (${XFERBENCH_NVCC})")
  endif()
  if(XFERBENCH_ABSENT_cuda AND XFERBENCH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "XFERBENCH_CUDA=ON, but ${XFERBENCH_ABSENT_cuda}")
  endif()
endif()

# What lets `explain` see into CUDA programs: a shared object of its own, whose bytes the program contains.
function(xferbench_add_collector target)
  set(collector_is_there 0)
  set(collector_absent "${XFERBENCH_ABSENT_cuda}")
  if(NOT XFERBENCH_ABSENT_cuda)
    set(collector_absent "the CUDA Toolkit that it was built with has no cupti.h")
    find_path(XFERBENCH_CUPTI_INCLUDE cupti.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
              ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include)
    if(XFERBENCH_CUPTI_INCLUDE)
      set(collector_is_there 1)
      add_library(xferbench_collector MODULE src/backends/cuda/injected/collector.c)
      target_include_directories(xferbench_collector SYSTEM PRIVATE ${XFERBENCH_CUPTI_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
      target_compile_options(xferbench_collector PRIVATE -Wall -Wextra -Wconversion -Wshadow -fvisibility=hidden
        $<$<BOOL:${XFERBENCH_WERROR}>:-Werror>)
      target_link_options(xferbench_collector PRIVATE -s)
      target_link_libraries(xferbench_collector PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
      set(collector_file ${CMAKE_CURRENT_BINARY_DIR}/collector.so)
      set_target_properties(xferbench_collector PROPERTIES PREFIX "" OUTPUT_NAME collector
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    endif()
  endif()
  configure_file(cmake/collector.c.in ${CMAKE_CURRENT_BINARY_DIR}/collector.c @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/collector.c)
  if(collector_is_there)
    set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/collector.c PROPERTIES OBJECT_DEPENDS ${collector_file})
    add_dependencies(${target} xferbench_collector)
  endif()
endfunction()

function(xferbench_add_cuda target)
  # A library of its own, so that the warnings asked of our C do not reach nvcc's generated code.
  add_library(xferbench_cuda_kernels OBJECT src/backends/cuda/kernels.cu)
  target_include_directories(xferbench_cuda_kernels PRIVATE include src)
  set_target_properties(xferbench_cuda_kernels PROPERTIES CUDA_STANDARD 17)
  # Nothing of the C++ runtime. The statics are nvcc's handles of kernels: setting one twice is harmless.
  target_compile_options(xferbench_cuda_kernels PRIVATE
    -Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:xferbench_cuda_kernels>)
  target_link_libraries(${target} PUBLIC CUDA::cudart_static)
  # The toolkit's headers are not ours to warn about.
  target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endfunction()
