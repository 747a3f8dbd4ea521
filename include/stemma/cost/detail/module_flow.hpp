// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_DETAIL_MODULE_FLOW_HPP
#define STEMMA_COST_DETAIL_MODULE_FLOW_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Inputs and outputs of modules. Each value is noted where it counts and, negated, where it stops
/// counting, so that sums over subtrees give the totals.
class module_flow {
public:
    /// `bytes` is by value; 0 for values that do not count, such as those in functions.
    /// Complexity: O(reads * log reads).
    module_flow(const wire_model& model, const tree_index& tree,
                const std::function<id(id, id)>& module_of, std::span<const std::int64_t> bytes)
        : tree_(tree), bytes_(bytes) {
        std::vector<std::pair<id, id>> reads; // value, module; `no_id` for the outputs of the model
        for (id node = 0; node < model.node_count(); ++node) {
            if (is_in_function(model, model.graph_of(node))) {
                continue;
            }
            const auto m = module_of(node, no_id);
            for (auto value : model.inputs(node)) {
                if (value != no_id && bytes[value] != 0) {
                    reads.emplace_back(value, m);
                }
            }
        }
        for (id g = 0; g < model.graph_count(); ++g) {
            const auto owner = model.graph(g).owner;
            if (g != 0 && (owner == no_id || is_in_function(model, g))) {
                continue;
            }
            for (auto value : model.graph(g).outputs) {
                if (value != no_id && bytes[value] != 0) {
                    reads.emplace_back(value, g == 0 ? no_id : module_of(owner, no_id));
                }
            }
        }
        detail::range::sort(reads);
        reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
        for (std::size_t i = 0, end = 0; i < reads.size(); i = end) {
            while (end < reads.size() && reads[end].first == reads[i].first) {
                ++end;
            }
            const auto value = reads[i].first;
            const auto producer = model.producer(value);
            note(value, producer == no_id ? no_id : module_of(producer, no_id),
                 std::span(reads).subspan(i, end - i));
        }
    }

    /// Calls `f(module, bytes, comes_in, sign)` for all notes. Complexity: O(notes).
    template <class Function>
    void add(Function f) const {
        for (const auto& n : notes_) {
            f(n.module, bytes_[n.value], n.comes_in, n.sign);
        }
    }

private:
    struct entry {
        id module = 0;
        id value = 0;
        bool comes_in = false;
        int sign = 1;
    };

    [[nodiscard]] static bool is_in_function(const wire_model& model, id g) {
        while (model.graph(g).kind == graph_kind::body) {
            g = model.graph_of(model.graph(g).owner);
        }
        return model.graph(g).kind == graph_kind::function;
    }

    /// `maker` is the producing module, `no_id` for an input of the model; reads ascend.
    void note(id value, id maker, std::span<const std::pair<id, id>> reads) {
        const bool leaves = reads.back().second == no_id; // the highest number
        auto meet = maker;                                // of the maker and all readers
        auto nearest = no_id; // the deepest module that contains the maker and a reader
        auto before = no_id;
        for (const auto& [_, m] : reads) {
            if (m == no_id) {
                continue;
            }
            notes_.push_back({m, value, true, 1});
            if (before != no_id) {
                notes_.push_back({tree_.lca(before, m), value, true, -1});
            }
            before = m;
            if (maker != no_id) {
                const auto common = tree_.lca(maker, m);
                meet = tree_.lca(meet, m);
                nearest = nearest == no_id || tree_.depth(common) > tree_.depth(nearest) ? common
                                                                                         : nearest;
            }
        }
        if (nearest != no_id) {
            notes_.push_back({nearest, value, true, -1});
        }
        if (maker != no_id && (leaves || meet != maker)) {
            notes_.push_back({maker, value, false, 1});
            if (!leaves) {
                notes_.push_back({meet, value, false, -1});
            }
        }
    }

    const tree_index& tree_;
    std::span<const std::int64_t> bytes_;
    std::vector<entry> notes_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COST_DETAIL_MODULE_FLOW_HPP
