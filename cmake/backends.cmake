# SPDX-License-Identifier: Apache-2.0
# Which backends are built in. XFERBENCH_ABSENT_<name> is empty for those, else the reason in words.

foreach(name CUDA HIP)
  string(TOUPPER "${XFERBENCH_${name}}" XFERBENCH_${name})
  if(NOT XFERBENCH_${name} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "XFERBENCH_${name}=${XFERBENCH_${name}}: it takes ON, OFF or AUTO")
  endif()
endforeach()

# ---- CUDA: nvcc on PATH or under /usr/local/cuda ----

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

set(XFERBENCH_ABSENT_cuda "")
set(cuda_advice "install the CUDA Toolkit or put its bin folder on PATH, and build again")
if(XFERBENCH_CUDA STREQUAL "OFF")
  set(XFERBENCH_ABSENT_cuda "it was configured with XFERBENCH_CUDA=OFF")
else()
  find_program(XFERBENCH_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(XFERBENCH_NVCC)
    set(cuda_architectures ${XFERBENCH_CUDA_ARCHITECTURES})
    if(NOT cuda_architectures)
      xferbench_cuda_architectures(${XFERBENCH_NVCC} cuda_architectures)
    endif()
    # Tried apart first: an nvcc that does not get on with this compiler must not end an AUTO build.
    set(ENV{CUDACXX} ${XFERBENCH_NVCC})
    include(CheckLanguage)
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER OR NOT cuda_architectures)
      set(XFERBENCH_ABSENT_cuda
          "${XFERBENCH_NVCC} did not work with the C++ compiler found, or knows no GPU from sm_75 up")
    endif()
  else()
    set(XFERBENCH_ABSENT_cuda "no nvcc was found when it was built: ${cuda_advice}")
  endif()
  if(XFERBENCH_ABSENT_cuda AND XFERBENCH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "XFERBENCH_CUDA=ON, but ${XFERBENCH_ABSENT_cuda}")
  endif()
endif()
if(NOT XFERBENCH_ABSENT_cuda)
  set(CMAKE_CUDA_ARCHITECTURES ${cuda_architectures})
  enable_language(CUDA)
  # The kernels use nothing of the C++ runtime; without this the binary would need libstdc++.
  set(CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES "")
  find_package(CUDAToolkit REQUIRED)
  set(cuda_found "built in: nvcc ${CMAKE_CUDA_COMPILER_VERSION} (${XFERBENCH_NVCC})")
endif()

function(xferbench_add_cuda target)
  if(XFERBENCH_ABSENT_cuda)
    return()
  endif()
  # A library of its own, so that the warnings asked of our C do not reach nvcc's generated code.
  add_library(xferbench_cuda_kernels OBJECT src/backends/cuda/kernels.cu)
  target_include_directories(xferbench_cuda_kernels PRIVATE include)
  set_target_properties(xferbench_cuda_kernels PROPERTIES CUDA_STANDARD 17)
  # Nothing of the C++ runtime. The statics are nvcc's handles of kernels: setting one twice is harmless.
  target_compile_options(xferbench_cuda_kernels PRIVATE
    -Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics)
  file(GLOB sources CONFIGURE_DEPENDS src/backends/cuda/*.c)
  target_sources(${target} PRIVATE ${sources} $<TARGET_OBJECTS:xferbench_cuda_kernels>)
  target_link_libraries(${target} PUBLIC CUDA::cudart_static)
  # The toolkit's headers are not ours to warn about.
  target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endfunction()

# ---- HIP: headers from libamdhip64-dev or /opt/rocm. The runtime itself is opened at run time. ----
set(XFERBENCH_ABSENT_hip "")
if(XFERBENCH_HIP STREQUAL "OFF")
  set(XFERBENCH_ABSENT_hip "it was configured with XFERBENCH_HIP=OFF")
else()
  find_path(XFERBENCH_HIP_INCLUDE hip/hiprtc.h PATHS $ENV{ROCM_PATH}/include /opt/rocm/include)
  if(XFERBENCH_HIP_INCLUDE)
    # Tried apart first, as above: headers of an unknown release must not end an AUTO build.
    include(CheckCSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${XFERBENCH_HIP_INCLUDE})
    set(CMAKE_REQUIRED_DEFINITIONS -D__HIP_PLATFORM_AMD__=1)
    check_c_source_compiles("#include <hip/hip_runtime_api.h>
      #include <hip/hiprtc.h>
      int main(void) { return (int)sizeof(hipUUID) + (int)hipDeviceAttributeIsLargeBar == 0; }"
      XFERBENCH_HIP_HEADERS_WORK)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_DEFINITIONS)
    if(NOT XFERBENCH_HIP_HEADERS_WORK)
      set(XFERBENCH_ABSENT_hip "the HIP headers in ${XFERBENCH_HIP_INCLUDE} did not compile")
    endif()
  else()
    set(XFERBENCH_ABSENT_hip "no HIP headers were found when it was built: install libamdhip64-dev, \
or ROCm in /opt/rocm, and build again")
  endif()
  if(XFERBENCH_ABSENT_hip AND XFERBENCH_HIP STREQUAL "ON")
    message(FATAL_ERROR "XFERBENCH_HIP=ON, but ${XFERBENCH_ABSENT_hip}")
  endif()
endif()

# One text of the kernels' source and all it includes, as an array: hipRTC is given no folders to
# look into. Of what is included each file comes before what includes it.
function(xferbench_embed_kernels output)
  set(text "")
  foreach(file include/xferbench/kernel_text.h include/xferbench/pattern.h include/xferbench/access.h
               src/backends/gpu/kernels.h src/backends/gpu/kernels.cuh)
    file(READ ${PROJECT_SOURCE_DIR}/${file} part)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(REGEX REPLACE "(^|\n)[ \t]*#[ \t]*include[^\n]*" "\\1" part "${part}")
    string(APPEND text "${part}")
  endforeach()
  file(WRITE ${output}.txt "${text}")
  file(READ ${output}.txt bytes HEX)
  string(REGEX REPLACE "(................................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
    "/* Made by cmake/backends.cmake from src/backends/gpu/kernels.cuh. */\n#include \"compiler.h\"\n\nconst char xb_hip_kernel_text[] = {\n@bytes@0};\n")
endfunction()

function(xferbench_add_hip target)
  if(XFERBENCH_ABSENT_hip)
    return()
  endif()
  set(text ${PROJECT_BINARY_DIR}/hip_kernel_text.c)
  xferbench_embed_kernels(${text})
  file(GLOB sources CONFIGURE_DEPENDS src/backends/hip/*.c)
  set_source_files_properties(${text} PROPERTIES INCLUDE_DIRECTORIES
                              "${PROJECT_SOURCE_DIR}/src/backends/hip;${PROJECT_SOURCE_DIR}/include")
  target_sources(${target} PRIVATE ${sources} ${text})
  target_link_libraries(${target} PUBLIC ${CMAKE_DL_LIBS})
  # AMD's headers are not ours to warn about.
  target_include_directories(${target} SYSTEM PRIVATE ${XFERBENCH_HIP_INCLUDE})
endfunction()

# ---- what the GPU backends share ----
function(xferbench_add_gpu_backends target)
  if(XFERBENCH_ABSENT_cuda AND XFERBENCH_ABSENT_hip)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS src/backends/gpu/*.c)
  target_sources(${target} PRIVATE ${sources})
  xferbench_add_cuda(${target})
  xferbench_add_hip(${target})
endfunction()

set(XFERBENCH_ABSENT_host "")

function(xferbench_summary)
  list(JOIN XFERBENCH_MODES " " modes)
  set(architectures "")
  if(NOT XFERBENCH_ABSENT_cuda)
    list(JOIN CMAKE_CUDA_ARCHITECTURES " " list)
    set(architectures "\n          for ${list}")
  else()
    set(cuda_found "left out: ${XFERBENCH_ABSENT_cuda}")
  endif()
  if(XFERBENCH_ABSENT_hip)
    set(hip_found "left out: ${XFERBENCH_ABSENT_hip}")
  else()
    set(hip_found "built in: headers in ${XFERBENCH_HIP_INCLUDE}; the runtime is opened at run time")
  endif()
  message(STATUS "xferbench ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}\n"
          "   modes  ${modes}\n"
          "   cuda   ${cuda_found}${architectures}\n"
          "   hip    ${hip_found}\n"
          "   host   built in\n"
          "   tests  ${XFERBENCH_TESTS}")
endfunction()
