# Hides the ONNX library.
macro(find_library variable)
    if(${variable} MATCHES "^STEMMA_ONNX" OR "${variable}" MATCHES "^STEMMA_ONNX")
        set(${variable} ${variable}-NOTFOUND)
    else()
        _find_library(${variable} ${ARGN})
    endif()
endmacro()
