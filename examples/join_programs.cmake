# join_programs(<file> <folder> <source>...): writes a program that combines these sources of <folder>; its first
# argument selects one. What they use of the library is compiled once instead of once for each.
function(join_programs file folder)
    set(included "")
    set(bodies "")
    set(calls "")
    foreach(source IN LISTS ARGN)
        cmake_path(GET source STEM name)
        file(READ ${folder}/${source} text)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${source})
        string(REGEX MATCHALL "#include [^\n]*\n" includes "${text}")
        list(APPEND included ${includes})
        string(REGEX REPLACE "#include [^\n]*\n" "" text "${text}")
        string(REPLACE "int main()" "int run(int, char**)" text "${text}")
        string(REPLACE "int main(" "int run(" text "${text}")
        # Only `main` may end without a return.
        string(REGEX REPLACE "}\n$" "    return 0;\n}\n" text "${text}")
        string(APPEND bodies "namespace joined_${name} {\n${text}}\n")
        string(APPEND calls
               "    if (name == \"${name}\") {\n        return joined_${name}::run(argc - 1, argv + 1);\n    }\n")
    endforeach()
    list(REMOVE_DUPLICATES included)
    list(JOIN included "" included)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "#include <string_view>
@included@@bodies@
int main(int argc, char** argv) {
    const std::string_view name = argc > 1 ? argv[1] : \"\";
@calls@    return 2;
}
")
endfunction()
