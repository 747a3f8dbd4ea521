// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_TREE_INDEX_HPP
#define STEMMA_CORE_TREE_INDEX_HPP

#include <stemma/config.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/id_ranges.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Answers questions about a rooted tree in constant time, for vertices named by preorder rank.
///
/// The root has rank 0, and the subtree of r is the ranks [r, end(r)). Lowest common ancestors
/// follow Schieber and Vishkin, "On finding lowest common ancestors" (1988): linear space, no
/// recursion.
class tree_index {
public:
    tree_index() = default;

    /// Requires: `parents[r] < r` for every rank but 0; a vertex's descendants follow it directly.
    /// Complexity: O(n).
    explicit tree_index(std::vector<id> parents) : parent_(std::move(parents)) {
        STEMMA_ASSERT(!parent_.empty(), "a rooted tree has at least a root");
        number_subtrees();
        number_paths();
    }

    /// Returns: the number of vertices; 0 only for a default-constructed index.
    [[nodiscard]] std::size_t size() const noexcept { return parent_.size(); }

    /// Returns: `no_id` for the root.
    [[nodiscard]] id parent(id r) const noexcept { return parent_[r]; }

    /// Returns: one past the last rank of the subtree of `r`.
    [[nodiscard]] id end(id r) const noexcept { return end_[r]; }

    /// The children of `r`, in order; valid as long as the index, like the other ranges.
    [[nodiscard]] detail::linked_ids children(id r) const noexcept {
        return {{end_.data(), r + 1}, {end_.data(), end_[r]}};
    }

    /// The ancestors of `r`, from its parent to the root.
    [[nodiscard]] detail::linked_ids ancestors(id r) const noexcept {
        return {{parent_.data(), parent_[r]}, {parent_.data(), no_id}};
    }

    /// The proper descendants of `r`, in order.
    [[nodiscard]] detail::consecutive_ids descendants(id r) const noexcept {
        return {detail::id_iterator(r + 1), detail::id_iterator(end_[r])};
    }

    /// Returns: whether `r` has no children.
    [[nodiscard]] bool is_leaf(id r) const noexcept { return end_[r] == r + 1; }

    /// Returns: the number of edges between the root and `r`.
    [[nodiscard]] id depth(id r) const noexcept { return depth_[r]; }

    /// Returns: whether `a` is `b` or one of its ancestors.
    [[nodiscard]] bool is_ancestor(id a, id b) const noexcept { return a <= b && b < end_[a]; }

    /// Returns: whether one of the two is an ancestor of the other, or they are equal.
    [[nodiscard]] bool are_related(id a, id b) const noexcept {
        return is_ancestor(a, b) || is_ancestor(b, a);
    }

    /// Returns: the deepest vertex that is an ancestor of, or equal to, both.
    [[nodiscard]] id lca(id a, id b) const noexcept {
        const auto low = std::min(a, b);
        const auto high = std::max(a, b);
        return high < end_[low] ? low : lca_of_unrelated(low, high);
    }

    /// Returns: the child of `above` on the way to `below`.
    /// Requires: `above` is a proper ancestor of `below`.
    /// Complexity: O(depth(below) - depth(above)).
    [[nodiscard]] id child_towards(id above, id below) const noexcept {
        STEMMA_ASSERT(above != below && is_ancestor(above, below), "not a proper ancestor");
        while (parent_[below] != above) {
            below = parent_[below];
        }
        return below;
    }

    /// Returns: the parent of each rank, `no_id` for the root; valid as long as the index.
    [[nodiscard]] std::span<const id> parents() const noexcept { return parent_; }

private:
    void number_subtrees() {
        const auto n = parent_.size();
        parent_[0] = no_id;
        end_.resize(n);
        depth_.resize(n);
        for (id r = 0; r < n; ++r) {
            end_[r] = r + 1;
            depth_[r] = r == 0 ? 0 : depth_[parent_[r]] + 1;
        }
        for (auto r = static_cast<id>(n) - 1; r > 0; --r) {
            end_[parent_[r]] = std::max(end_[parent_[r]], end_[r]);
        }
    }

    // inlabel: the vertices that share one form a path downwards from some vertex (its head).
    // ascendant: one bit for each such path between a vertex and the root.
    void number_paths() {
        const auto n = parent_.size();
        inlabel_.resize(n);
        ascendant_.resize(n);
        head_.assign(n + 1, no_id);
        for (id r = 0; r < n; ++r) {
            const id first = r + 1;
            const id last = end_[r];
            const auto zeros = std::bit_width((first - 1) ^ last) - 1;
            inlabel_[r] = last >> zeros << zeros;
            const auto inherited = r == 0 ? 0 : ascendant_[parent_[r]];
            ascendant_[r] = inherited | (inlabel_[r] & (~inlabel_[r] + 1));
            if (head_[inlabel_[r]] == no_id) {
                head_[inlabel_[r]] = r;
            }
        }
    }

    [[nodiscard]] id lca_of_unrelated(id a, id b) const noexcept {
        const auto split = std::bit_floor(inlabel_[a] ^ inlabel_[b]);
        const auto common = ascendant_[a] & ascendant_[b] & -split;
        const auto below = (common & -common) - 1;
        return std::min(climb(a, below), climb(b, below));
    }

    /// Returns: the lowest ancestor of `r` on a path other than those in `below`.
    [[nodiscard]] id climb(id r, id below) const noexcept {
        const auto top = std::bit_floor(ascendant_[r] & below);
        return top == 0 ? r : parent_[head_[(inlabel_[r] & -top) | top]];
    }

    std::vector<id> parent_;
    std::vector<id> end_;
    std::vector<id> depth_;
    std::vector<id> inlabel_;
    std::vector<id> ascendant_;
    std::vector<id> head_;
};

namespace detail {

/// A tree_index with the mapping between a graph's vertices and ranks.
template <incidence_graph Tree>
struct indexed_tree {
    tree_index index;                   ///< of the ranks
    std::vector<vertex_t<Tree>> vertex; ///< by rank
    std::vector<id> rank;               ///< by vertex index
};

/// Numbers a rooted tree in preorder; children keep the order of `out_edges`.
///
/// Requires: every vertex is reached from `root` on exactly one path.
/// Complexity: O(n), without recursion.
template <incidence_graph Tree>
    requires vertex_indexed_graph<Tree>
[[nodiscard]] indexed_tree<Tree> index_tree(const Tree& tree, vertex_t<Tree> root) {
    indexed_tree<Tree> result;
    result.rank.assign(num_vertices(tree), no_id);
    std::vector<id> parents;
    std::vector<std::pair<vertex_t<Tree>, id>> open{{root, no_id}};
    while (!open.empty()) {
        const auto [v, parent] = open.back();
        open.pop_back();
        const auto rank = static_cast<id>(parents.size());
        parents.push_back(parent);
        result.vertex.push_back(v);
        result.rank[index_of(tree, v)] = rank;
        const auto first_child = static_cast<std::ptrdiff_t>(open.size());
        for (auto [it, last] = out_edges(v, tree); it != last; ++it) {
            open.emplace_back(target(*it, tree), rank);
        }
        std::reverse(open.begin() + first_child, open.end());
    }
    STEMMA_ASSERT(parents.size() == num_vertices(tree), "the graph is not a tree below `root`");
    result.index = tree_index(std::move(parents));
    return result;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_TREE_INDEX_HPP
