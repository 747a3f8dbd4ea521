// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_ARE_NAMES_KEPT_HPP
#define STEMMA_RECORD_DETAIL_ARE_NAMES_KEPT_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>

#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether a node is of the type of a node of the sketch. Complexity: O(length of the type).
[[nodiscard]] inline bool has_same_type(const onnx_model& now, id node, const graph_sketch& then,
                                        id before) {
    const auto type = then.type(before);
    const auto domain = now.domain(node);
    if (domain.empty()) {
        return type == now.op_type(node);
    }
    return type.size() == domain.size() + 2 + now.op_type(node).size() &&
           type.starts_with(domain) && type.ends_with(now.op_type(node));
}

/// Whether values are called what they were: tools that renumber all of them reuse names for
/// others, of other types. Operators of types that are new, or gone, say nothing about that.
/// `maker_of(node)` is the node of the sketch that made a value of the node's, or `no_id`.
/// Complexity: O(nodes + operators).
template <class MakerOf>
[[nodiscard]] bool are_names_kept(const onnx_model& now, const graph_sketch& then,
                                  MakerOf maker_of) {
    std::vector<bool> is_known;
    std::unordered_set<std::string> types;
    for (id op = 0; op < now.operator_count(); ++op) {
        auto type = graph_sketch::spell_type(now.operator_domain(op), now.operator_type(op));
        is_known.push_back(then.has_type(type));
        types.insert(std::move(type));
    }
    std::size_t total = 0;
    std::size_t same = 0;
    for (id node = 0; node < now.node_count(); ++node) {
        const auto before = maker_of(node);
        if (before != no_id && is_known[now.operator_id(node)] &&
            types.contains(std::string(then.type(before)))) {
            ++total;
            same += has_same_type(now, node, then, before) ? 1U : 0U;
        }
    }
    return 2 * same >= total;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_ARE_NAMES_KEPT_HPP
