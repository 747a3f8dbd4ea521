# Runs the command after "--" and compares its output with a file.
#   cmake -DEXPECTED=<file> -P compare_output.cmake -- <program> <argument>...

set(command)
set(behind FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    if(behind)
        list(APPEND command "${CMAKE_ARGV${i}}")
    elseif(CMAKE_ARGV${i} STREQUAL "--")
        set(behind TRUE)
    endif()
endforeach()

execute_process(COMMAND ${command} OUTPUT_VARIABLE printed RESULT_VARIABLE result)
file(READ ${EXPECTED} expected)
if(NOT result EQUAL 0 OR NOT printed STREQUAL expected)
    message(FATAL_ERROR "exit code ${result}, printed:\n${printed}\nexpected (${EXPECTED}):\n${expected}")
endif()
