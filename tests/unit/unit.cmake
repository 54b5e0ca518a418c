# SPDX-License-Identifier: Apache-2.0
# A program for each room: unit/<room>/test_<topic>.c is the test unit.<topic>, which runs those of this file alone.
# Nothing is to be listed for a new one, but where it starts threads (threads_topics), or replaces functions by the
# linker, brings modes of its own or needs a library: such a file is a program of its own, further down.

# What fixtures of several rooms, checks of texts and schemas, and the list of a program's tests share.
file(GLOB shared CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/unit/*.c)
list(REMOVE_ITEM shared ${CMAKE_CURRENT_SOURCE_DIR}/unit/main.c)
add_library(xferbench_checks STATIC ${shared})
target_link_libraries(xferbench_checks PUBLIC xferbench_core xferbench::CMOCKA xferbench::CJSON)
target_include_directories(xferbench_checks PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/unit)
target_compile_definitions(xferbench_checks PUBLIC DOCS="${PROJECT_SOURCE_DIR}/docs/" SOURCE="${PROJECT_SOURCE_DIR}"
                           RESULTS="${PROJECT_SOURCE_DIR}/bench/results")

# The lists of backends and modes that all of them have, compiled once, but for those that bring modes of their own.
set(XFERBENCH_ABSENT_fake "")
add_library(unit_registry OBJECT)
target_link_libraries(unit_registry PRIVATE xferbench_core)
xferbench_add_registry(unit_registry MODES ${XFERBENCH_MODES} BACKENDS fake)
xferbench_add_left_out(unit_registry) # nothing, whatever this build lacks: cli.left_out tests what a program says then
add_library(unit_main OBJECT unit/main.c)
target_link_libraries(unit_main PRIVATE xferbench_checks)

# test.sh compiles them with sanitizers. Its build without needs only those whose arithmetic depends on how it was compiled.
option(XFERBENCH_UNIT_TESTS "Build all unit tests with everything else" ON)
# They start threads: the ThreadSanitizer build runs them. What the threads of the others do, these do too.
set(threads_topics
    crew fleet_read line link_conditions measure modes modes_encoded modes_pipeline modes_ring modes_trips
    numa opening parallel pattern pcie_watch piece_layout reader recorder references sample_data workspace)

# xferbench_add_unit_program(NAME FILES f... [WRAP function...] [MODES mode...] [OWN_MAIN] [BARE]): the test unit.<topic>
# for each file test_<topic>.c. BARE: it brings lists of backends of its own.
function(xferbench_add_unit_program name)
  cmake_parse_arguments(own "OWN_MAIN;BARE" "" "FILES;WRAP;MODES" ${ARGN})
  set(program test_${name})
  add_executable(${program} ${own_FILES})
  target_link_libraries(${program} PRIVATE xferbench_checks xferbench_doubles xferbench_core)
  set_target_properties(${program} PROPERTIES LINKER_LANGUAGE C)
  if(NOT own_OWN_MAIN)
    target_sources(${program} PRIVATE $<TARGET_OBJECTS:unit_main>)
  endif()
  if(own_MODES)
    xferbench_add_registry(${program} MODES ${XFERBENCH_MODES} ${own_MODES} BACKENDS fake)
  elseif(NOT own_BARE)
    target_sources(${program} PRIVATE $<TARGET_OBJECTS:unit_registry>)
  endif()
  foreach(function ${own_WRAP})
    target_link_options(${program} PRIVATE -Wl,--wrap=${function})
  endforeach()
  set(kind unit)
  if(name STREQUAL of_arithmetic)
    set(kind arithmetic)
  elseif(NOT XFERBENCH_UNIT_TESTS)
    set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  foreach(file ${own_FILES})
    if(NOT file MATCHES "/test_([a-z0-9_]*)\\.c$")
      continue()
    endif()
    set(topic ${CMAKE_MATCH_1})
    set(threads "")
    if(topic IN_LIST threads_topics)
      set(threads threads)
      add_dependencies(thread_tests ${program})
    endif()
    if(own_OWN_MAIN)
      add_test(NAME unit.${topic} COMMAND ${program})
    else()
      add_test(NAME unit.${topic} COMMAND ${program} ${topic})
    endif()
    set_tests_properties(unit.${topic} PROPERTIES LABELS "${kind};${threads}" TIMEOUT ${guard_s}
                         ENVIRONMENT "${sanitizer_environment}")
  endforeach()
endfunction()

# ---- programs of their own ----
set(apart "")
# xferbench_add_unit_apart(ROOM/TOPIC ...): a program of this file alone.
macro(xferbench_add_unit_apart path)
  get_filename_component(topic ${path} NAME)
  get_filename_component(room ${path} DIRECTORY)
  list(APPEND apart unit/${room}/test_${topic}.c)
  xferbench_add_unit_program(${topic} FILES unit/${room}/test_${topic}.c ${ARGN})
endmacro()

# What a system may lack is taken from it; what fails under a reader is made to fail: of these rooms by faults.c.
set(faults open openat read pread preadv pwrite fstat close fclose unlinkat linkat renameat2 fchown fallocate fdatasync
           fsync syncfs statvfs mincore malloc realloc fork waitpid getppid poll clock_gettime xb_interrupt_signal xb_say)
set(rooms_with_faults base storage)
set(faults_of_fleet fts_read)
if(XFERBENCH_HAS_URING)
  set(faults_of_storage io_uring_queue_init io_uring_register_buffers io_uring_submit_and_wait)
endif()
# What lies below is replaced, to be counted or steered.
xferbench_add_unit_apart(backends/pattern WRAP xb_words_fastest)
xferbench_add_unit_apart(measure/line WRAP xb_recorder_stage xb_recorder_thread xb_recorder_workers)
xferbench_add_unit_apart(modes/modes_encoded WRAP xb_crew_begin xb_crew_run xb_encode xb_weights_fill)
xferbench_add_unit_apart(modes/modes_pin WRAP xb_pages_map_small xb_pages_unmap xb_host_memory_check xb_crew_run
                         xb_process_memory_read xb_process_memory_restart xb_process_memory_huge)
xferbench_add_unit_apart(modes/modes_pipeline WRAP preadv pread)
xferbench_add_unit_apart(modes/modes_ring WRAP xb_crew_begin xb_crew_run xb_crew_allow xb_crew_wait)
xferbench_add_unit_apart(modes/proof WRAP memcmp bcmp)
xferbench_add_unit_apart(modes/sample_data WRAP xb_parallel_for read)
xferbench_add_unit_apart(link/link_conditions WRAP xb_cpu_times_read xb_memory_probe_open xb_memory_probe_time
                         xb_memory_probe_close clock_gettime)
xferbench_add_unit_apart(link/link_session WRAP xb_run_execute xb_pcie_hop_read xb_conditions_close xb_memory_probe_open)
# Modes and backends of their own.
xferbench_add_unit_apart(reading/reading MODES visitor)
xferbench_add_unit_apart(backends/backend_choice BARE)

# NVML, which is opened at run time: read also where CUDA is not built in, from a library that stands in. Alone in its
# folder, for LD_LIBRARY_PATH; without the sanitizers, for a program may open it late. libcufile the same: it reads to
# memory of the CPU.
foreach(pair nvml=nvidia-ml=1 cufile=cufile=0)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 file)
  list(GET pair 2 version)
  add_library(fake_${name} SHARED doubles/fake_${name}.c)
  target_compile_options(fake_${name} PRIVATE -Wall -Wextra -Wconversion -Wshadow
                         $<$<BOOL:${XFERBENCH_WERROR}>:-Werror>)
  target_include_directories(fake_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(fake_${name} PROPERTIES OUTPUT_NAME ${file} SOVERSION ${version}
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_${name})
  xferbench_add_unit_apart(backends/${name})
  target_sources(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/backends/cuda/${name}.c)
  target_link_libraries(test_${name} PRIVATE ${CMAKE_DL_LIBS})
  target_compile_definitions(test_${name} PRIVATE FAKE_LIBRARY="$<TARGET_FILE:fake_${name}>"
                             FAKE_FOLDER="$<TARGET_FILE_DIR:fake_${name}>")
  add_dependencies(test_${name} fake_${name})
endforeach()
# The runtime that is installed, which tells and compiles much without a GPU: see CMakeLists.txt.
list(APPEND apart unit/backends/test_hip_library.c)

# Of code that a build without these libraries does not have.
if(XFERBENCH_HAS_HWLOC)
  xferbench_add_unit_apart(machine/numa)
  xferbench_add_unit_apart(machine/topology_nodes)
else()
  list(APPEND apart unit/machine/test_numa.c unit/machine/test_topology_nodes.c unit/machine/test_topology.c)
endif()
if(NOT XFERBENCH_HAS_LZ4)
  list(APPEND apart unit/arithmetic/test_lz4.c)
endif()

# ---- the rooms ----
file(GLOB rooms RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/unit ${CMAKE_CURRENT_SOURCE_DIR}/unit/*/)
foreach(room ${rooms})
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/unit/${room}/*.c)
  list(REMOVE_ITEM files ${apart})
  set(wrap ${faults_of_${room}})
  if(room IN_LIST rooms_with_faults)
    list(APPEND wrap ${faults})
  endif()
  if(files)
    xferbench_add_unit_program(of_${room} FILES ${files} WRAP ${wrap})
  endif()
endforeach()
if(XFERBENCH_HAS_URING)
  target_compile_definitions(test_of_storage PRIVATE XFERBENCH_HAS_URING=1)
endif()
if(XFERBENCH_HAS_ZLIB)
  target_compile_definitions(test_of_advise PRIVATE HAS_ZLIB)
endif()
set_source_files_properties(unit/arithmetic/test_lz4.c PROPERTIES COMPILE_OPTIONS -O1) # tries thousands of blocks
