// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_MAPPED_MODULES_HPP
#define STEMMA_MODEL_MAPPED_MODULES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// Any rooted Boost graph as a module view: property maps supply names and classes.
///
/// The maps are keyed by vertex and yield something convertible to `std::string_view` that outlives
/// the view.
template <incidence_graph Tree, text_map<vertex_t<Tree>> Name, text_map<vertex_t<Tree>> Class,
          text_map<vertex_t<Tree>> Qualified>
class mapped_modules {
public:
    /// Requires: every vertex is reached from `root` on exactly one path.
    /// Complexity: O(n).
    mapped_modules(const Tree& tree, vertex_t<Tree> root, Name name, Class class_name,
                   Qualified qualified_class)
        : tree_(detail::index_tree(tree, root))
        , name_(std::move(name))
        , class_(std::move(class_name))
        , qualified_(std::move(qualified_class)) {}

    /// Answers ancestry queries by rank; valid as long as the view.
    [[nodiscard]] const tree_index& index() const noexcept { return tree_.index; }

    /// Returns: what the first map yields for the module of rank `m`.
    [[nodiscard]] std::string_view name(id m) const { return get(name_, vertex(m)); }

    /// Returns: what the second map yields for the module of rank `m`.
    [[nodiscard]] std::string_view class_name(id m) const { return get(class_, vertex(m)); }

    /// Returns: what the third map yields for the module of rank `m`.
    [[nodiscard]] std::string_view qualified_class(id m) const {
        return get(qualified_, vertex(m));
    }

    /// Returns: the vertex of the user's graph with rank `m`.
    [[nodiscard]] vertex_t<Tree> vertex(id m) const { return tree_.vertex[m]; }

    /// Returns: the rank of a vertex of the user's graph.
    [[nodiscard]] id rank(const Tree& tree, vertex_t<Tree> v) const {
        return tree_.rank[detail::index_of(tree, v)];
    }

private:
    detail::indexed_tree<Tree> tree_;
    Name name_;
    Class class_;
    Qualified qualified_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_MAPPED_MODULES_HPP
