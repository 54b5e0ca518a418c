# SPDX-License-Identifier: Apache-2.0
# Which backends are built in. XFERBENCH_ABSENT_<name> is empty for those, else the reason in words.

# ---- CUDA: nvcc on PATH or under /usr/local/cuda ----
set(XFERBENCH_ABSENT_cuda "")
set(cuda_found "left out")
if(XFERBENCH_CUDA STREQUAL "OFF")
  set(XFERBENCH_ABSENT_cuda "it was configured with XFERBENCH_CUDA=OFF")
else()
  find_program(XFERBENCH_NVCC nvcc HINTS ENV PATH PATHS /usr/local/cuda/bin)
  if(XFERBENCH_NVCC)
    set(CMAKE_CUDA_COMPILER ${XFERBENCH_NVCC})
    execute_process(COMMAND ${XFERBENCH_NVCC} --list-gpu-code OUTPUT_VARIABLE codes
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    if(XFERBENCH_CUDA_ARCHITECTURES)
      set(cuda_architectures ${XFERBENCH_CUDA_ARCHITECTURES})
    else()
      # Machine code for all from sm_75 up, and PTX of the newest for what comes later.
      string(REGEX MATCHALL "sm_[0-9]+" codes "${codes}")
      set(cuda_architectures "")
      set(newest 0)
      foreach(code IN LISTS codes)
        string(REPLACE "sm_" "" number ${code})
        if(number GREATER_EQUAL 75)
          list(APPEND cuda_architectures ${number}-real)
          if(number GREATER newest)
            set(newest ${number})
          endif()
        endif()
      endforeach()
      list(APPEND cuda_architectures ${newest}-virtual)
    endif()
    set(CMAKE_CUDA_ARCHITECTURES ${cuda_architectures})
    enable_language(CUDA)
    # The kernels use nothing of the C++ runtime; without this the binary would need libstdc++.
    set(CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES "")
    find_package(CUDAToolkit REQUIRED)
    set(cuda_found "built in: nvcc ${CMAKE_CUDA_COMPILER_VERSION} (${XFERBENCH_NVCC})")
  elseif(XFERBENCH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "XFERBENCH_CUDA=ON, but nvcc is neither on PATH nor under /usr/local/cuda: "
                        "install the CUDA Toolkit or put its bin folder on PATH")
  else()
    set(XFERBENCH_ABSENT_cuda "no nvcc was found when it was built")
  endif()
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

# ---- HIP: headers from libamdhip64-dev or /opt/rocm ----
# The backend itself comes later; until then its place in the list says so.
set(hip_headers "its headers were not looked for")
if(NOT XFERBENCH_HIP STREQUAL "OFF")
  find_path(XFERBENCH_HIP_INCLUDE hip/hip_runtime_api.h PATHS /opt/rocm/include)
  if(XFERBENCH_HIP_INCLUDE)
    set(hip_headers "its headers are in ${XFERBENCH_HIP_INCLUDE}")
  else()
    set(hip_headers "its headers were not found")
  endif()
endif()
if(XFERBENCH_HIP STREQUAL "ON")
  message(FATAL_ERROR "XFERBENCH_HIP=ON, but xferbench ${PROJECT_VERSION} has no HIP backend yet")
endif()
set(XFERBENCH_ABSENT_hip "xferbench ${PROJECT_VERSION} has no HIP backend yet")

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
  message(STATUS "xferbench ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}\n"
          "   modes  ${modes}\n"
          "   cuda   ${cuda_found}${architectures}\n"
          "   hip    left out: ${XFERBENCH_ABSENT_hip}; ${hip_headers}\n"
          "   host   built in\n"
          "   tests  ${XFERBENCH_TESTS}")
endfunction()
