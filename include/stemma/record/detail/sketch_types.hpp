// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_SKETCH_TYPES_HPP
#define STEMMA_RECORD_DETAIL_SKETCH_TYPES_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Compares operator types of a changed graph with those in the sketch of its earlier state.
class sketch_types {
public:
    /// Requires: both outlive it. Complexity: O(length of all types).
    sketch_types(const onnx_model& now, const graph_sketch& then) : now_(now), then_(then) {
        const std::unordered_set<std::string> earlier(then.types().begin(), then.types().end());
        for (id op = 0; op < now.operator_count(); ++op) {
            auto type = graph_sketch::spell_type(now.operator_domain(op), now.operator_type(op));
            is_new_.push_back(!earlier.contains(type));
            types_.insert(std::move(type));
        }
    }

    /// Whether no node had the type of this one.
    [[nodiscard]] bool is_new(id node) const { return is_new_[now_.operator_id(node)]; }

    /// Whether a node has the type that one of the sketch had.
    [[nodiscard]] bool are_same(id node, id before) const {
        const auto type = then_.type(before);
        const auto domain = now_.domain(node);
        if (domain.empty()) {
            return type == now_.op_type(node);
        }
        return type.size() == domain.size() + 2 + now_.op_type(node).size() &&
               type.starts_with(domain) && type.ends_with(now_.op_type(node));
    }

    /// Whether the type of a node of the sketch, without its domain, is part of that of one now, as
    /// Conv is of FusedConv.
    [[nodiscard]] bool is_part(id before, id node) const {
        return now_.op_type(node).find(plain_type(then_.type(before))) != std::string_view::npos;
    }

    /// Whether nothing is left of the type of a node of the sketch.
    [[nodiscard]] bool is_gone(id before) const {
        return !types_.contains(std::string(then_.type(before)));
    }

    /// The same for a node that called a function, or had a type of another domain.
    [[nodiscard]] bool is_gone_call(id before) const {
        return then_.type(before).find("::") != std::string_view::npos && is_gone(before);
    }

    /// Whether most nodes have the type of the node of the sketch that `before(node)` returns, if
    /// not `no_id`. Types that are new, or gone, do not count. Complexity: O(nodes).
    template <class Before>
    [[nodiscard]] bool are_kept(Before before) const {
        std::size_t total = 0;
        std::size_t same = 0;
        for (id node = 0; node < now_.node_count(); ++node) {
            if (const id then = before(node); then != no_id && !is_new(node) && !is_gone(then)) {
                ++total;
                same += are_same(node, then) ? 1U : 0U;
            }
        }
        return 2 * same >= total;
    }

private:
    const onnx_model& now_;
    const graph_sketch& then_;
    std::vector<bool> is_new_;              // by operator
    std::unordered_set<std::string> types_; // now
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_SKETCH_TYPES_HPP
