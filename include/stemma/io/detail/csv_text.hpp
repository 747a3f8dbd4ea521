// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_CSV_TEXT_HPP
#define STEMMA_IO_DETAIL_CSV_TEXT_HPP

#include <stemma/config.hpp>

#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: a CSV field, quoted if necessary.
[[nodiscard]] inline std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (char c : text) {
        quoted.append(c == '"' ? "\"\"" : std::string(1, c));
    }
    return quoted.append("\"");
}

/// Returns: a CSV row of fields, texts and numbers.
template <class... Fields>
[[nodiscard]] std::string csv_row(const Fields&... fields) {
    std::string row;
    const auto add = [&](const auto& field) {
        if constexpr (requires { std::to_string(field); }) {
            row.append(std::to_string(field));
        } else {
            row.append(csv_field(field));
        }
        row.push_back(',');
    };
    (add(fields), ...);
    row.back() = '\n';
    return row;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_CSV_TEXT_HPP
