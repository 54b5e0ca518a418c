# SPDX-License-Identifier: Apache-2.0
# Writes a C file with a text as an array, which ends with a zero: `header` declares its name.
function(xferbench_embed output origin header name text)
  file(WRITE ${output}.txt "${text}")
  file(READ ${output}.txt bytes HEX)
  string(REGEX REPLACE "(................................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
    "/* Made by cmake/embed.cmake from @origin@. */\n#include \"@header@\"\n\nconst char @name@[] = {\n@bytes@0};\n")
endfunction()

# The programs that `advise --code` prints.
function(xferbench_add_programs target)
  foreach(program "cu xb_program_gpu" "py xb_program_pytorch")
    separate_arguments(program)
    list(GET program 0 suffix)
    list(GET program 1 name)
    set(origin src/advise/code/job.${suffix})
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${origin})
    file(READ ${PROJECT_SOURCE_DIR}/${origin} text)
    xferbench_embed(${PROJECT_BINARY_DIR}/${name}.c ${origin} advise/report.h ${name} "${text}")
    target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/${name}.c)
  endforeach()
endfunction()
