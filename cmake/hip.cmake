# SPDX-License-Identifier: Apache-2.0
# HIP: headers from libamdhip64-dev or /opt/rocm. The runtime itself is opened at run time.
set(XFERBENCH_ABSENT_hip "")
if(XFERBENCH_HIP STREQUAL "OFF")
  set(XFERBENCH_ABSENT_hip "it was configured with XFERBENCH_HIP=OFF")
else()
  if(XFERBENCH_HIP_INCLUDE AND NOT EXISTS "${XFERBENCH_HIP_INCLUDE}/hip/hiprtc.h")
    message(STATUS "The HIP headers in ${XFERBENCH_HIP_INCLUDE} are gone: looking for others")
    unset(XFERBENCH_HIP_INCLUDE CACHE)
  endif()
  find_path(XFERBENCH_HIP_INCLUDE hip/hiprtc.h PATHS $ENV{ROCM_PATH}/include /opt/rocm/include)
  if(XFERBENCH_HIP_INCLUDE)
    # Tried apart first: headers of an unknown release must not end an AUTO build. They are tried
    # every time, because they may have changed.
    unset(XFERBENCH_HIP_HEADERS_WORK CACHE)
    include(CheckCSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${XFERBENCH_HIP_INCLUDE})
    set(CMAKE_REQUIRED_DEFINITIONS -D__HIP_PLATFORM_AMD__=1)
    check_c_source_compiles("#include <hip/hip_runtime_api.h>
      #include <hip/hiprtc.h>
      int main(void) { return (int)sizeof(hipUUID) + (int)hipDeviceAttributeIsLargeBar +
        (int)hipDeviceAttributeMemoryPoolsSupported == 0; }"
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
               include/xferbench/piece.h include/xferbench/format.h src/codecs/widen.h
               src/codecs/for_decode.h src/backends/gpu/lanes.h src/codecs/lz4_decode.h src/backends/gpu/kernels.h
               src/backends/gpu/kernels.cuh)
    file(READ ${PROJECT_SOURCE_DIR}/${file} part)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(REGEX REPLACE "(^|\n)[ \t]*#[ \t]*(include|pragma[ \t]+once)[^\n]*" "\\1" part "${part}")
    string(APPEND text "${part}")
  endforeach()
  xferbench_embed(${output} src/backends/gpu/kernels.cuh compiler.h xb_hip_kernel_text "${text}")
endfunction()

function(xferbench_add_hip target)
  set(text ${PROJECT_BINARY_DIR}/hip_kernel_text.c)
  xferbench_embed_kernels(${text})
  set_source_files_properties(${text} PROPERTIES INCLUDE_DIRECTORIES
                              "${PROJECT_SOURCE_DIR}/src/backends/hip;${PROJECT_SOURCE_DIR}/include")
  target_sources(${target} PRIVATE ${text})
  target_link_libraries(${target} PUBLIC ${CMAKE_DL_LIBS})
  # AMD's headers are not ours to warn about.
  target_include_directories(${target} SYSTEM PRIVATE ${XFERBENCH_HIP_INCLUDE})
endfunction()
