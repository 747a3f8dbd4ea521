// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_EXCHANGED_MARKS_HPP
#define STEMMA_RECORD_DETAIL_EXCHANGED_MARKS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>
#include <stemma/record/detail/sketch_lookup.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

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

/// A graph, a sketch of its earlier state, and what is known of both.
struct sketch_state {
    const onnx_model& now;
    const graph_sketch& then;
    const sketch_types& types;
    const sketch_lookup& lookup;
    const grouped_ids& readers;     ///< by node now
    const std::vector<id>& holders; ///< by node then: the one that produces its values now
    const std::vector<id>& marked;  ///< by node then: the one that has its mark now
};

/// Whether the mark of a node, which claims that it was `before`, seems to be another one's: its
/// neighbours were not beside that, but beside another operator of the same type, which is
/// elsewhere now. `number_of(node)` is what a node was, `no_id` if unknown.
/// Complexity: O(neighbours * theirs), a bounded number of each.
template <class NumberOf>
[[nodiscard]] bool is_exchanged(const sketch_state& state, id v, id before, NumberOf number_of) {
    constexpr std::size_t most = 64;
    const auto some = [=](std::span<const id> all) {
        return all.first(std::min(all.size(), most));
    };
    const auto reads = [&](id reader, id maker) {
        return std::binary_search(state.readers[maker].begin(), state.readers[maker].end(), reader);
    };
    bool beside = false;
    bool displaced = false;
    const auto compare = [&](std::span<const id> others, auto is_beside) {
        for (const auto one : some(others)) {
            beside = beside || one == before;
            const auto node = one == graph_sketch::given    ? no_id
                              : state.holders[one] != no_id ? state.holders[one]
                                                            : state.marked[one];
            displaced = displaced || (node != no_id && node != v && state.types.are_same(v, one) &&
                                      !is_beside(node));
        }
    };
    for (const auto value : some(state.now.inputs(v))) {
        const auto maker = value == no_id ? no_id : state.now.producer(value);
        if (const auto number = maker == no_id ? no_id : number_of(maker); number != no_id) {
            compare(state.lookup.readers(number), [&](id node) { return reads(node, maker); });
        }
    }
    for (const auto reader : some(state.readers[v])) {
        if (const auto number = number_of(reader); number != no_id) {
            compare(state.then.read_from(number), [&](id node) { return reads(reader, node); });
        }
    }
    return displaced && !beside;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_EXCHANGED_MARKS_HPP
