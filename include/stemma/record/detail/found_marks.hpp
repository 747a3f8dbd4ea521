// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_FOUND_MARKS_HPP
#define STEMMA_RECORD_DETAIL_FOUND_MARKS_HPP

#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace stemma::inline STEMMA_ABI::detail {

/// A mark on a node: the number, at the time of tagging, of one of the nodes it was made from.
struct node_mark_found {
    id node = no_id;   ///< the node with the mark
    id number = no_id; ///< in the sketch
};

/// Returns: the marks on a node. Requires: `marks` is ordered by node.
/// Complexity: O(log marks).
[[nodiscard]] inline std::span<const node_mark_found>
marks_on(std::span<const node_mark_found> marks, id node) {
    const auto [first, last] = std::equal_range(
        marks.begin(), marks.end(), node_mark_found{node, no_id},
        [](const node_mark_found& a, const node_mark_found& b) { return a.node < b.node; });
    return marks.subspan(static_cast<std::size_t>(first - marks.begin()),
                         static_cast<std::size_t>(last - first));
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_FOUND_MARKS_HPP
