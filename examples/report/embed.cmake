# Writes a header that holds the pages of a folder with their styles and scripts inlined:
# cmake -DFOLDER= -DHEADER= -P embed.cmake

# read_part(<name> <variable>): a file without the text of its licence line.
function(read_part name variable)
    file(READ ${FOLDER}/${name} text)
    string(REGEX REPLACE "^[^\n]*SPDX-License-Identifier[^\n]*" "" text "${text}")
    set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# read_page(<name> <variable>): the C++ literals of a page: what stands before, between and behind its title and data.
function(read_page name variable)
    file(READ ${FOLDER}/${name} page)
    string(REPLACE "<!-- SPDX-License-Identifier: Apache-2.0 -->\n" "" page "${page}")
    while(page MATCHES "<link rel=\"stylesheet\" href=\"([^\"]+)\">")
        set(link "${CMAKE_MATCH_0}")
        read_part(${CMAKE_MATCH_1} text)
        string(REPLACE "${link}" "<style>${text}</style>" page "${page}")
    endwhile()
    # Adjacent scripts are joined.
    string(REPLACE "\"></script>\n<script src=\"" "|" page "${page}")
    while(page MATCHES "<script src=\"([^\"]+)\"></script>")
        set(element "${CMAKE_MATCH_0}")
        string(REPLACE "|" ";" names "${CMAKE_MATCH_1}")
        set(script "")
        foreach(name IN LISTS names)
            read_part(${name} text)
            string(APPEND script "${text}")
        endforeach()
        string(REPLACE "${element}" "<script>${script}</script>" page "${page}")
    endwhile()

    set(between ")page\",\n    R\"page(")
    string(REPLACE "{{title}}" "${between}" page "${page}")
    string(REPLACE "{{data}}" "${between}" page "${page}")
    set(${variable} "R\"page(${page})page\"" PARENT_SCOPE)
endfunction()

read_page(page.html report)
read_page(panes.html panes)
file(WRITE ${HEADER} "// Made of ${FOLDER} by embed.cmake.
#ifndef STEMMA_REPORT_PAGE_HPP
#define STEMMA_REPORT_PAGE_HPP

#include <array>
#include <string_view>

namespace stemma_report::detail {

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \"-Woverlength-strings\"
#endif
/// The report: what stands before its title, between title and data, and behind the data.
inline constexpr std::array<std::string_view, 3> page{
    ${report}};
/// The page that shows several reports, likewise.
inline constexpr std::array<std::string_view, 3> panes{
    ${panes}};
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

} // namespace stemma_report::detail

#endif // STEMMA_REPORT_PAGE_HPP
")
