// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_READ_POSITION_HPP
#define STEMMA_REPORT_DETAIL_READ_POSITION_HPP

#include <stemma/core/id.hpp>

#include <charconv>
#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// A node of a graph, as users write it: `#7`, `5/body#2`.
struct written_position {
    std::string_view graph; ///< its path; "" for the main one
    id index = no_id;       ///< among the nodes of that graph; `no_id` for a larger number
};

/// Returns: the position that a text spells, if it is one. Complexity: O(length).
[[nodiscard]] inline std::optional<written_position> read_position(std::string_view text) {
    const auto hash = text.rfind('#');
    if (hash == text.npos || hash + 1 == text.size()) {
        return std::nullopt;
    }
    written_position read{text.substr(0, hash)};
    const auto* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + hash + 1, end, read.index);
    return parsed.ptr != end ? std::nullopt : std::optional(read);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_REPORT_DETAIL_READ_POSITION_HPP
