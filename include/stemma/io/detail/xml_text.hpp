// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_XML_TEXT_HPP
#define STEMMA_IO_DETAIL_XML_TEXT_HPP

#include <stemma/io/json_text.hpp>

#include <array>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Appends `text` escaped for element content or quoted values in XML or HTML. Invalid UTF-8 and
/// characters that XML forbids become U+FFFD: Boost.PropertyTree passes them on, and no XML reader
/// accepts them. Complexity: O(length).
inline void append_xml_text(std::string_view text, std::string& out) {
    constexpr std::string_view unknown = "\xef\xbf\xbd";
    constexpr std::string_view escaped = "&<>\"'\t\n\r";
    constexpr std::array<std::string_view, escaped.size()> escapes{
        "&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#9;", "&#10;", "&#13;"};
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text[0]);
        const auto length = detail::utf8_length(text);
        if (length == 0) {
            out.append(unknown);
            text.remove_prefix(1);
            continue;
        }
        if (const auto escape = escaped.find(text[0]); escape != escaped.npos) {
            out.append(escapes[escape]);
        } else {
            const auto character = text.substr(0, length);
            const bool is_one =
                c >= 0x20 && character != "\xef\xbf\xbe" && character != "\xef\xbf\xbf";
            out.append(is_one ? character : unknown);
        }
        text.remove_prefix(length);
    }
}

/// Returns: the same as a new string.
[[nodiscard]] inline std::string xml_text(std::string_view text) {
    std::string out;
    append_xml_text(text, out);
    return out;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_XML_TEXT_HPP
