// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_DOT_TEXT_HPP
#define STEMMA_REPORT_DETAIL_DOT_TEXT_HPP

#include <stemma/core/detail/shortened.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/xml_text.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: `1×seq×32` of `[1,seq,32]`; a single extent keeps its brackets.
[[nodiscard]] inline std::string shape_label(std::string_view shape) {
    if (shape.find(',') == shape.npos) {
        return shape == "[]" ? "scalar" : std::string(shape);
    }
    std::string label;
    for (char c : shape) {
        if (c == ',') {
            label.append("\xc3\x97");
        } else if (c != '[' && c != ']') {
            label.push_back(c);
        }
    }
    return label;
}

/// Returns: escaped text for both kinds of DOT strings, in which Graphviz resolves entities. Above
/// a kibibyte it is cut, with a mark: Graphviz accepts no string above 16.
[[nodiscard]] inline std::string dot_text(std::string_view text) {
    const auto shown = cut_text(text, 1024);
    std::string out;
    for (auto part = std::string_view(shown);; part.remove_prefix(part.find('\\') + 1)) {
        append_xml_text(part.substr(0, part.find('\\')), out);
        if (part.find('\\') == part.npos) {
            return out;
        }
        out.append("&#92;");
    }
}

/// Returns: a text for a label, which must not be empty or contain control characters.
[[nodiscard]] inline std::string label_text(std::string_view text) {
    std::string shown(text.empty() ? " " : text);
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; },
        ' ');
    return dot_text(shown);
}

/// Returns: a comma-separated list wrapped to a number of lines and characters, cut with a mark.
/// Complexity: O(length).
[[nodiscard]] inline std::vector<std::string> wrapped_list(std::string_view list, std::size_t width,
                                                           std::size_t most) {
    std::vector<std::string> lines;
    while (!list.empty()) {
        if (lines.size() + 1 == most || list.size() <= width) {
            lines.push_back(shortened(list, width));
            break;
        }
        auto end = list.substr(0, width + 1).rfind(", ");
        end = end == list.npos ? list.find(", ") : end;
        if (end == list.npos) {
            lines.push_back(shortened(list, width));
            break;
        }
        lines.push_back(shortened(list.substr(0, end + 1), width));
        list.remove_prefix(end + 2);
    }
    return lines;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_REPORT_DETAIL_DOT_TEXT_HPP
