# share_headers(<target>...): these take the headers of the facade and its verbs from one precompiled header, and the
# code of all functions and templates in it from one object (clang's -fmodules-codegen), which reduces the time for
# each batch of tests to a fifth.
#
# Requires: the same flags for all targets, and no definitions that affect the headers.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(standard 20)
if(CMAKE_CXX_STANDARD)
    set(standard ${CMAKE_CXX_STANDARD})
endif()
separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
set(folder ${CMAKE_CURRENT_BINARY_DIR}/shared_headers)
file(CONFIGURE OUTPUT ${folder}/empty.cpp CONTENT "")
add_library(stemma_shared_headers OBJECT ${folder}/empty.cpp)
target_link_libraries(stemma_shared_headers PRIVATE stemma stemma_dev)
target_compile_options(stemma_shared_headers PRIVATE -fPIC) # which programs may be, and modules must
target_precompile_headers(stemma_shared_headers PRIVATE <stemma/open.hpp> <stemma/verbs.hpp>)
target_compile_options(stemma_shared_headers PRIVATE "SHELL:-Xclang -fmodules-codegen")

set(precompiled ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/stemma_shared_headers.dir/cmake_pch.hxx.pch)
add_custom_command(OUTPUT ${folder}/code.o
                   COMMAND ${CMAKE_CXX_COMPILER} ${flags} ${CMAKE_CXX${standard}_EXTENSION_COMPILE_OPTION}
                           -fPIC -Wno-unused-command-line-argument -ffunction-sections -c ${precompiled} -o ${folder}/code.o
                   DEPENDS ${precompiled} stemma_shared_headers VERBATIM)
add_library(stemma_shared_code STATIC ${folder}/code.o)
set_target_properties(stemma_shared_code PROPERTIES LINKER_LANGUAGE CXX)
# They include functions that libstdc++ never calls and does not export completely.
target_link_options(stemma_shared_code INTERFACE -Wl,--gc-sections)

function(share_headers)
    foreach(target IN LISTS ARGN)
        target_compile_options(${target} PRIVATE -fPIC)
        target_precompile_headers(${target} REUSE_FROM stemma_shared_headers)
        target_link_libraries(${target} PRIVATE stemma_shared_code)
    endforeach()
endfunction()
