# Every public header is in the umbrella of its layer: compares, or with -DWRITE=ON writes them.
#   cmake [-DWRITE=ON] -P tests/headers/umbrellas.cmake

get_filename_component(include "${CMAKE_CURRENT_LIST_DIR}/../../include" REALPATH)
set(umbrellas stemma/core.hpp stemma/wire.hpp stemma/stemma.hpp stemma/onnx.hpp)
file(GLOB_RECURSE headers RELATIVE ${include} ${include}/stemma/*.hpp)
list(FILTER headers EXCLUDE REGEX "^stemma/detail/")
list(REMOVE_ITEM headers ${umbrellas})

# The layers as in CMakeLists.txt; each umbrella includes the one below, but that of the facade, which a program may
# take from a library; then open.hpp is included by who wants it.
set(onnx ${headers})
list(FILTER onnx INCLUDE REGEX "^stemma/onnx/proto/")
set(wire ${headers})
list(FILTER wire INCLUDE REGEX "^stemma/(io|numerics|onnx|plan)/")
list(REMOVE_ITEM wire ${onnx})
set(stemma ${headers})
list(FILTER stemma INCLUDE REGEX "^stemma/[a-z_]+[.]hpp$")
list(REMOVE_ITEM stemma stemma/config.hpp stemma/error.hpp stemma/open.hpp stemma/tagger.hpp stemma/version.hpp)
set(core ${headers})
list(REMOVE_ITEM core ${wire} ${stemma} stemma/open.hpp ${onnx})
list(APPEND wire stemma/core.hpp)
list(APPEND onnx stemma/stemma.hpp stemma/wire.hpp)

foreach(layer core wire stemma onnx)
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
