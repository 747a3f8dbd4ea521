// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <stemma/core/json_text.hpp>

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace cli {

bool has_colours() {
    static const bool colours = [] {
        const char* term = std::getenv("TERM");
        return isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr &&
               term != nullptr && std::string_view(term) != "dumb";
    }();
    return colours;
}

std::string shaded(std::string_view text, shade how) {
    if (!has_colours() || how == shade::plain || text.empty()) {
        return std::string(text);
    }
    const std::string_view code = how == shade::strong   ? "1"
                                  : how == shade::dim    ? "2"
                                  : how == shade::name   ? "36"
                                  : how == shade::number ? "33"
                                  : how == shade::good   ? "32"
                                                         : "31";
    return std::string("\033[").append(code).append("m").append(text).append("\033[0m");
}

std::string grouped(std::uint64_t number) {
    const auto digits = std::to_string(number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) {
            text.push_back(',');
        }
        text.push_back(digits[i]);
    }
    return text;
}

std::string counted(std::uint64_t number, std::string_view what) {
    return grouped(number).append(" ").append(what).append(number == 1 ? "" : "s");
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
}

std::string fitted(std::string_view text, std::size_t width) {
    const auto wide = width_of(text);
    if (wide <= width) {
        return std::string(text).append(width - wide, ' ');
    }
    // The end of a path says more than its beginning.
    auto keep = text.substr(0, width / 3);
    while (!keep.empty() && (static_cast<unsigned char>(keep.back()) & 0x80U) != 0) {
        keep.remove_suffix(1);
    }
    auto rest = text;
    for (auto left = wide + width_of(keep) + 1; left > width && !rest.empty(); --left) {
        do {
            rest.remove_prefix(1);
        } while (!rest.empty() && (static_cast<unsigned char>(rest.front()) & 0xc0U) == 0x80U);
    }
    return std::string(keep).append("\xe2\x80\xa6").append(rest);
}

std::string right_aligned(std::string_view text, std::size_t width) {
    const auto wide = width_of(text);
    return std::string(wide < width ? width - wide : 0, ' ').append(text);
}

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const auto length = stemma::detail::utf8_length(text);
        const auto first = static_cast<unsigned char>(text.front());
        const bool obeyed =
            (first < 0x20U && first != '\n' && first != '\t') || first == 0x7fU ||
            (first == 0xc2U && length == 2 && static_cast<unsigned char>(text[1]) < 0xa0U);
        shown.append(length == 0 || obeyed ? std::string_view("\xef\xbf\xbd")
                                           : text.substr(0, length));
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return shown;
}

} // namespace cli
