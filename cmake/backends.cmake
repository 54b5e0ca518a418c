# SPDX-License-Identifier: Apache-2.0
# Which backends are built in. XFERBENCH_ABSENT_<name> is empty for those, else the reason in words.

# xferbench_first_error(<output of a compiler> <variable>): its first complaint, on one line, without
# what would end a string of C.
function(xferbench_first_error output result)
  string(REGEX REPLACE "[\"\\;]" "'" output "${output}")
  string(REGEX MATCH "[^\n]*(error|ERROR|rror:|not found|nsupported)[^\n]*" line "${output}")
  if(NOT line)
    string(REGEX MATCH "[^\n]+" line "${output}")
  endif()
  string(STRIP "${line}" line)
  set(${result} "${line}" PARENT_SCOPE)
endfunction()

# cmake/<name>.cmake looks for a runtime, where a backend needs one.
foreach(backend IN LISTS XFERBENCH_BACKENDS)
  set(XFERBENCH_ABSENT_${backend} "")
  include(cmake/${backend}.cmake OPTIONAL)
endforeach()

# The backend's folder, with what the GPU backends share, and what xferbench_add_<name>(<target>) of that file adds.
function(xferbench_add_backends target)
  if(NOT (XFERBENCH_ABSENT_cuda AND XFERBENCH_ABSENT_hip))
    file(GLOB sources CONFIGURE_DEPENDS src/backends/gpu/*.c)
    target_sources(${target} PRIVATE ${sources})
  endif()
  foreach(backend IN LISTS XFERBENCH_BACKENDS)
    if(NOT XFERBENCH_ABSENT_${backend})
      file(GLOB sources CONFIGURE_DEPENDS src/backends/${backend}/*.c)
      target_sources(${target} PRIVATE ${sources})
      if(COMMAND xferbench_add_${backend})
        cmake_language(CALL xferbench_add_${backend} ${target})
      endif()
    endif()
  endforeach()
endfunction()

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
  set(left_out "")
  foreach(library IN LISTS XFERBENCH_LEFT_OUT)
    string(APPEND left_out "   left out: ${library}: ${XFERBENCH_WITHOUT_${library}}\n")
  endforeach()
  get_property(shared GLOBAL PROPERTY XFERBENCH_SHARED)
  list(TRANSFORM shared REPLACE ">=.*" "")
  list(JOIN shared " " libraries)
  if(XFERBENCH_STATIC_LIBRARIES)
    get_property(archives GLOBAL PROPERTY XFERBENCH_ARCHIVES)
    list(JOIN archives " " archives)
    string(APPEND libraries ", of which no archive was found\n          part of the programs: ${archives}")
  endif()
  message(STATUS "xferbench ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}\n"
          "   modes  ${modes}\n"
          "   cuda   ${cuda_found}${architectures}\n"
          "   hip    ${hip_found}\n"
          "   host   built in\n"
          "   shared ${libraries}\n"
          "${left_out}"
          "   tests  ${XFERBENCH_TESTS}")
endfunction()
