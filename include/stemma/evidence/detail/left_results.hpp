// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_LEFT_RESULTS_HPP
#define STEMMA_EVIDENCE_DETAIL_LEFT_RESULTS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/parameter_blocks.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Tells which operators combine what a module has returned, rather than what it still computes
/// with: an encoder's state and outputs meet in the decoder that reads them.
template <operator_view Ops>
class left_results {
public:
    /// By vertex index: `owner` is the module of an operator if known, `behind` are those nearest
    /// behind it, `steady` operators are independent of data. Requires: all arguments outlive it.
    left_results(const Ops& ops, const vertices_by_index<graph_of<Ops>>& vertex,
                 const tree_index& tree, const std::vector<bool>& steady,
                 const std::vector<id>& owner, const std::vector<nearest_owners>& behind)
        : graph_(ops.graph())
        , vertex_(vertex)
        , tree_(tree)
        , steady_(steady)
        , owner_(owner)
        , behind_(behind) {}

    /// Whether everything that operator `v` reads, or what that was rearranged from, is also read
    /// outside of `module`, and by nothing else inside. Complexity: O(degree of the operators).
    [[nodiscard]] bool holds(std::size_t v, id module) const {
        const auto [in, last] = in_edges(vertex_[v], graph_);
        return std::all_of(in, last, [&](const auto& edge) {
            const auto u = index_of(graph_, source(edge, graph_));
            return steady_[u] || is_left(u, v, module);
        });
    }

private:
    static constexpr std::size_t max_steps = 16;

    [[nodiscard]] bool is_left(std::size_t u, std::size_t reader, id module) const {
        for (std::size_t step = 0; step < max_steps && owner_[u] == no_id; ++step) {
            const auto [out, last] = out_edges(vertex_[u], graph_);
            const auto before = only_source(graph_, vertex_[u], steady_);
            if (std::next(out) != last || before == no_id) {
                break;
            }
            reader = u;
            u = before;
        }
        bool outside = false;
        for (auto [out, last] = out_edges(vertex_[u], graph_); out != last; ++out) {
            const auto w = index_of(graph_, target(*out, graph_));
            if (w == reader || steady_[w]) {
                continue;
            }
            if (owner_[w] != no_id) {
                if (tree_.is_ancestor(module, owner_[w])) {
                    return false;
                }
                outside = true;
                continue;
            }
            for (const auto& nearest : behind_[w]) {
                if (nearest.module != no_id && tree_.is_ancestor(module, nearest.module)) {
                    return false;
                }
                outside = outside || nearest.module != no_id;
            }
        }
        return outside;
    }

    const graph_of<Ops>& graph_;
    const vertices_by_index<graph_of<Ops>>& vertex_;
    const tree_index& tree_;
    const std::vector<bool>& steady_;
    const std::vector<id>& owner_;
    const std::vector<nearest_owners>& behind_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_LEFT_RESULTS_HPP
