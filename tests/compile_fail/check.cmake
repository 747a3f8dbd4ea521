# Compiles SOURCE with COMPILER, looking for headers in INCLUDES, and compares what comes of it with
# what the comment at the head of the source says. All sources include HEADERS first, which is
# precompiled when there is no SOURCE.
cmake_policy(VERSION 3.24)

set(options -std=c++20)
foreach(folder IN LISTS INCLUDES)
    if(folder AND NOT folder STREQUAL "/usr/include")
        list(APPEND options -I${folder})
    endif()
endforeach()
if(NOT DEFINED SOURCE)
    execute_process(COMMAND ${COMPILER} ${options} -x c++-header ${HEADERS} -o ${HEADERS}.gch
                    COMMAND_ERROR_IS_FATAL ANY)
    return()
endif()

file(READ ${SOURCE} text)
if(NOT text MATCHES "^// SPDX[^\n]*\n(// (compiles|expect: [^\n]*)\n((//[^\n]*\n)*))")
    message(FATAL_ERROR "the second line says neither '// expect: ...' nor '// compiles'")
endif()
string(STRIP "${CMAKE_MATCH_1}" expected)
string(REPLACE "\n//" "" expected "${expected}")

set(ENV{LC_ALL} C)
execute_process(COMMAND ${COMPILER} ${options} -fsyntax-only -include ${HEADERS} ${SOURCE} RESULT_VARIABLE result
                OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(expected STREQUAL "// compiles")
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "it does not compile:\n${output}")
    endif()
    return()
endif()
string(REPLACE "// expect: " "" expected "${expected}")
if(result EQUAL 0)
    message(FATAL_ERROR "it compiles, and should be refused with: ${expected}")
endif()
string(FIND "${output}" "${expected}" found)
if(found EQUAL -1)
    message(FATAL_ERROR "the compiler does not say: ${expected}\nbut:\n${output}")
endif()
