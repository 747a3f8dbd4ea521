# Every public header is in the umbrella of its layer: compares them, or writes them with -DWRITE=ON.
#   cmake [-DWRITE=ON] -P tests/headers/umbrellas.cmake

get_filename_component(include "${CMAKE_CURRENT_LIST_DIR}/../../include" REALPATH)
set(umbrellas stemma/core.hpp stemma/verbs.hpp stemma/stemma.hpp stemma/onnx.hpp)
file(GLOB_RECURSE headers RELATIVE ${include} ${include}/stemma/*.hpp)
list(REMOVE_ITEM headers ${umbrellas})
include(${CMAKE_CURRENT_LIST_DIR}/included.cmake)

# Public headers by their needs: core needs Boost and range-v3, verbs also JSON, onnx also protobuf. Each umbrella
# includes the one below, except that of the facade, which a program may take from a library; such programs include
# open.hpp themselves.
set(stemma ${headers})
list(FILTER stemma INCLUDE REGEX "^stemma/[a-z_]+[.]hpp$")
list(REMOVE_ITEM headers ${stemma})
list(FILTER headers EXCLUDE REGEX "/detail/")
list(REMOVE_ITEM stemma stemma/config.hpp stemma/error.hpp stemma/open.hpp stemma/version.hpp)
set(core stemma/config.hpp stemma/error.hpp stemma/version.hpp)
set(verbs stemma/core.hpp)
set(onnx stemma/stemma.hpp stemma/verbs.hpp)
foreach(header IN LISTS headers)
    find_layer(${include} ${header} layer)
    list(APPEND ${layer} ${header})
endforeach()

foreach(layer core verbs stemma onnx)
    list(SORT ${layer})
    string(TOUPPER "STEMMA_${layer}_HPP" guard)
    list(JOIN ${layer} ">\n#include <" lines)
    set(text "// SPDX-License-Identifier: Apache-2.0\n#ifndef ${guard}\n#define ${guard}\n\n")
    string(APPEND text "#include <${lines}>\n\n#endif // ${guard}\n")
    set(umbrella ${include}/stemma/${layer}.hpp)
    if(WRITE)
        file(WRITE ${umbrella} "${text}")
        continue()
    endif()
    file(READ ${umbrella} found)
    if(NOT found STREQUAL text)
        message(SEND_ERROR "stemma/${layer}.hpp: does not include exactly the headers of its layer; "
                           "run cmake -DWRITE=ON -P tests/headers/umbrellas.cmake")
    endif()
endforeach()
