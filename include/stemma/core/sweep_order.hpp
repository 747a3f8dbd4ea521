// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_SWEEP_ORDER_HPP
#define STEMMA_CORE_SWEEP_ORDER_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/topological_order.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The orders in which results can flow along the edges of a graph, and against them.
///
/// A vertex on or after a cycle has no place in the forward order; one on or before a cycle has
/// none in the backward order. So the result of a sweep depends on the graph alone.
template <operator_graph_like Graph>
class sweep_order {
public:
    /// Complexity: O(V + E); stores no order for a topologically indexed graph whose vertices can
    /// be traversed backwards.
    explicit sweep_order(const Graph& graph)
        : graph_(&graph), indexed_(is_topologically_indexed(graph)) {
        if (!indexed_ || !counts_back) {
            forward_ = topological_order(graph);
            if (forward_.size() < num_vertices(graph)) {
                backward_ = detail::reverse_topological_order(graph);
                std::reverse(backward_.begin(), backward_.end());
            }
        }
    }

    /// Whether some vertices are missing from one of the orders.
    [[nodiscard]] bool has_cycle() const noexcept {
        return !indexed_ && forward_.size() < num_vertices(*graph_);
    }

    /// Calls `f(v)` for every vertex after all its producers. Complexity: O(V).
    template <class Function>
    void forward(Function f) const {
        if (indexed_) {
            for (auto [it, last] = vertices(*graph_); it != last; ++it) {
                f(vertex_t<Graph>(*it));
            }
            return;
        }
        for (const auto& v : forward_) {
            f(v);
        }
    }

    /// Calls `f(v)` for every vertex after all its readers. Complexity: O(V).
    template <class Function>
    void backward(Function f) const {
        if constexpr (counts_back) {
            if (indexed_) {
                // By number: GCC compiles iterators over 32-bit vertices poorly.
                const auto [first, last] = vertices(*graph_);
                for (auto i = last - first; i-- > 0;) {
                    f(vertex_t<Graph>(first[i]));
                }
                return;
            }
        }
        const auto& listed = has_cycle() ? backward_ : forward_;
        for (auto i = listed.size(); i-- > 0;) {
            f(listed[i]);
        }
    }

private:
    // A topologically indexed graph is swept backwards over its vertices if they allow it.
    static constexpr bool counts_back =
        requires(const decltype(vertices(std::declval<const Graph&>()).first) it) {
        vertex_t<Graph>(it[it - it]);
    };

    const Graph* graph_;
    bool indexed_;
    std::vector<vertex_t<Graph>> forward_;
    std::vector<vertex_t<Graph>> backward_; // reversed; empty where `forward_` serves
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_SWEEP_ORDER_HPP
