// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_TEXT_LIST_HPP
#define STEMMA_CORE_TEXT_LIST_HPP

#include <stemma/config.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Returns: the elements of a comma-separated list, without empty ones. Complexity: O(length).
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto comma = text.find(',');
        if (comma != 0) {
            parts.emplace_back(text.substr(0, comma));
        }
        text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
    }
    return parts;
}

namespace detail {

/// Returns: the elements, separated by commas. Complexity: O(length).
[[nodiscard]] inline std::string join_list(const std::vector<std::string>& parts,
                                           std::string_view between = ",") {
    std::string text;
    for (const auto& part : parts) {
        text.append(text.empty() ? "" : between).append(part);
    }
    return text;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_TEXT_LIST_HPP
