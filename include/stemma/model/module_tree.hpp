// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_MODULE_TREE_HPP
#define STEMMA_MODEL_MODULE_TREE_HPP

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/id_ranges.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A parameter or buffer as declared by its module.
struct tensor_info {
    std::string_view name;               ///< its name in its module: `weight`
    std::string_view dtype;              ///< as PyTorch prints it, `float32`; empty where unknown
    std::span<const std::int64_t> shape; ///< an unknown extent is negative
    bool trainable = false;              ///< false for a buffer and for a frozen parameter

    /// Returns: the product of the shape; 1 for a scalar, 0 when an extent is unknown (negative).
    /// Complexity: O(rank).
    [[nodiscard]] std::uint64_t elements() const noexcept {
        std::uint64_t product = 1;
        for (auto extent : shape) {
            product *= extent < 0 ? 0 : static_cast<std::uint64_t>(extent);
        }
        return product;
    }
};

/// A tree of modules: containment, classes and parameters.
///
/// Models Boost's VertexListGraph, EdgeListGraph, BidirectionalGraph and AdjacencyGraph; edges lead
/// from a module to its children. A vertex is the module's preorder rank: the root is 0, a subtree
/// is a range. Immutable; built by a module_tree_builder. Each function of these concepts takes
/// O(1), except `out_degree` and `degree`: O(children).
class module_tree {
public:
    /// From a parent to a child.
    struct edge {
        id source = no_id; ///< the parent
        id target = no_id; ///< the child

        friend bool operator==(const edge&, const edge&) = default;
    };

    /// Another path by which a module is reachable.
    struct alias {
        std::string path;  ///< joined by dots, from below the root
        id module = no_id; ///< the module it leads to
    };

    /// A tree of a single unnamed module.
    module_tree() : index_({no_id}), name_{names_.intern("")} { fill_optional_columns(); }

    /// Returns: the number of modules, at least 1 for the root.
    [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }

    /// Answers ancestry queries by rank; valid as long as the tree.
    [[nodiscard]] const tree_index& index() const noexcept { return index_; }

    /// All modules, the root first; the ranges here compose with range-v3's views.
    [[nodiscard]] detail::consecutive_ids modules() const noexcept {
        return {detail::id_iterator(0), detail::id_iterator(static_cast<id>(size()))};
    }
    /// The children of a module, in order.
    [[nodiscard]] detail::linked_ids children(id m) const noexcept { return index_.children(m); }
    /// The ancestors of a module, from its parent to the root.
    [[nodiscard]] detail::linked_ids ancestors(id m) const noexcept { return index_.ancestors(m); }
    /// The descendants of a module, in order.
    [[nodiscard]] detail::consecutive_ids descendants(id m) const noexcept {
        return index_.descendants(m);
    }

    /// The name of the module in its parent. For the root: the name of the whole model.
    [[nodiscard]] std::string_view name(id m) const noexcept { return names_[name_[m]]; }

    /// Returns: empty where unknown.
    [[nodiscard]] std::string_view class_name(id m) const noexcept { return names_[class_[m]]; }

    /// Returns: the class with its package, `torch.nn.modules.linear.Linear`; empty where unknown.
    [[nodiscard]] std::string_view qualified_class(id m) const noexcept {
        return names_[qualified_[m]];
    }

    /// Returns: how often the module ran; `no_id` if unknown.
    [[nodiscard]] id calls(id m) const noexcept { return calls_[m]; }

    /// Returns: child names from below the root, joined by dots: `encoder.layer.0`.
    /// Complexity: O(length of the result).
    [[nodiscard]] std::string path(id m) const {
        std::string text;
        append_path(m, text);
        return text;
    }

    /// Appends `path(m)` without creating a temporary string. Complexity: O(length).
    void append_path(id m, std::string& text) const {
        const auto first = text.size();
        text.resize(first + path_length_[m]);
        for (auto end = text.size(); m != 0; m = index_.parent(m)) {
            const auto segment = name(m);
            end -= segment.size();
            segment.copy(text.data() + end, segment.size());
            if (end > first) {
                text[--end] = '.';
            }
        }
    }

    /// Returns: the path; if longer than `report_path_length`, an ellipsis and as many of the last
    /// names as fit. A list of the full paths of a very deep tree would grow with the square of its
    /// depth.
    /// Complexity: O(length of the result).
    [[nodiscard]] std::string report_path(id m) const {
        if (path_length_[m] <= report_path_length) {
            return path(m);
        }
        std::vector<std::string_view> names;
        for (auto space = report_path_length; m != 0 && name(m).size() < space;
             m = index_.parent(m)) {
            names.push_back(name(m));
            space -= names.back().size() + 1;
        }
        std::string text = "\xe2\x80\xa6";
        for (; !names.empty(); names.pop_back()) {
            text.append(".").append(names.back());
        }
        return text;
    }

    /// The length in bytes of the longest path that reports print in full.
    static constexpr std::size_t report_path_length = 1024;

    /// Returns: the length of `path(m)` in bytes, without building it.
    [[nodiscard]] std::size_t path_length(id m) const noexcept { return path_length_[m]; }

    /// Returns: the child of `parent` with that name, or `no_id`.
    /// Complexity: O(length) on average.
    [[nodiscard]] id child(id parent, std::string_view name) const {
        const auto end = index_.end(parent);
        auto m = parent + 1;
        for (id i = 0; i < near_children && m < end; ++i, m = index_.end(m)) {
            if (this->name(m) == name) {
                return m;
            }
        }
        return m >= end ? no_id : children_.find(child_hash(parent, name), [&](id other) {
            return index_.parent(other) == parent && this->name(other) == name;
        });
    }

    /// The number of parameters that the module itself owns; tensors are numbered as declared,
    /// parameters before buffers.
    [[nodiscard]] std::size_t parameter_count(id m) const noexcept {
        return own_first_[buffers_of(m)] - own_first_[parameters_of(m)];
    }

    /// Returns: the number of buffers that the module itself owns.
    [[nodiscard]] std::size_t buffer_count(id m) const noexcept {
        return own_first_[parameters_of(m + 1)] - own_first_[buffers_of(m)];
    }

    /// Requires: `i` is below `parameter_count(m)`.
    [[nodiscard]] tensor_info parameter(id m, std::size_t i) const {
        return tensor_at(own_first_[parameters_of(m)] + i);
    }

    /// Requires: `i` is below `buffer_count(m)`.
    [[nodiscard]] tensor_info buffer(id m, std::size_t i) const {
        return tensor_at(own_first_[buffers_of(m)] + i);
    }

    /// Alternative paths of modules that are held more than once.
    [[nodiscard]] std::span<const alias> aliases() const noexcept { return aliases_; }

    /// Returns: the numbers of those of one module among them.
    [[nodiscard]] std::span<const id> aliases_of(id m) const noexcept { return aliases_of_[m]; }

    /// Returns: the module with that alternative path, or `no_id`.
    /// Complexity: O(length) on average.
    [[nodiscard]] id aliased(std::string_view path) const {
        const auto place = by_alias_.find(detail::hash_bytes(path),
                                          [&](id entry) { return aliases_[entry].path == path; });
        return place == no_id ? no_id : aliases_[place].module;
    }

    /// Groups of parameter paths that share one tensor.
    [[nodiscard]] std::span<const std::vector<std::string>> shared_parameters() const noexcept {
        return shared_;
    }

private:
    // Walks from sibling to sibling.
    template <class Derived, class Value>
    class child_walk
        : public boost::iterator_facade<Derived, Value, boost::forward_traversal_tag, Value> {
    public:
        child_walk() = default;
        child_walk(const module_tree* tree, id at) : tree_(tree), at_(at) {}

    protected:
        const module_tree* tree_ = nullptr;
        id at_ = 0;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] bool equal(const child_walk& other) const { return at_ == other.at_; }
        void increment() { at_ = tree_->index_.end(at_); }
    };

public:
    /// For Boost.Graph.
    class out_edge_iterator : public child_walk<out_edge_iterator, edge> {
    public:
        using child_walk<out_edge_iterator, edge>::child_walk;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] edge dereference() const { return {tree_->index_.parent(at_), at_}; }
    };

    /// For Boost.Graph.
    class adjacency_iterator : public child_walk<adjacency_iterator, id> {
    public:
        using child_walk<adjacency_iterator, id>::child_walk;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] id dereference() const { return at_; }
    };

    /// For Boost.Graph: the edges by rank of the child.
    class edge_iterator
        : public boost::iterator_facade<edge_iterator, edge, boost::forward_traversal_tag, edge> {
    public:
        edge_iterator() = default;

        /// At the edge to `module`.
        edge_iterator(const module_tree* tree, id module) : tree_(tree), module_(module) {}

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] edge dereference() const { return {tree_->index_.parent(module_), module_}; }
        [[nodiscard]] bool equal(const edge_iterator& other) const {
            return module_ == other.module_;
        }
        void increment() { ++module_; }

        const module_tree* tree_ = nullptr;
        id module_ = 0;
    };

    friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(id m, const module_tree& t) {
        return {{&t, m + 1}, {&t, t.index_.end(m)}};
    }
    friend std::pair<adjacency_iterator, adjacency_iterator>
    adjacent_vertices(id m, const module_tree& t) {
        return {{&t, m + 1}, {&t, t.index_.end(m)}};
    }
    friend std::pair<edge_iterator, edge_iterator> in_edges(id m, const module_tree& t) {
        return {{&t, m == 0 ? 1 : m}, {&t, m + 1}};
    }
    friend std::pair<edge_iterator, edge_iterator> edges(const module_tree& t) {
        return {{&t, 1}, {&t, num_vertices(t)}};
    }
    friend id out_degree(id m, const module_tree& t) {
        const auto children = t.children(m);
        return static_cast<id>(std::distance(children.begin(), children.end()));
    }
    friend id in_degree(id m, const module_tree&) { return m == 0 ? 0 : 1; }
    friend id degree(id m, const module_tree& t) { return in_degree(m, t) + out_degree(m, t); }
    friend std::pair<boost::counting_iterator<id>, boost::counting_iterator<id>>
    vertices(const module_tree& t) {
        return {boost::counting_iterator<id>(0),
                boost::counting_iterator<id>(static_cast<id>(t.size()))};
    }
    friend id num_vertices(const module_tree& t) { return static_cast<id>(t.size()); }
    friend id num_edges(const module_tree& t) { return static_cast<id>(t.size() - 1); }
    friend id source(const edge& e, const module_tree&) { return e.source; }
    friend id target(const edge& e, const module_tree&) { return e.target; }

private:
    friend class module_tree_builder;

    struct tensor_record {
        id name = no_id;
        id dtype = no_id;
        std::uint32_t first_extent = 0;
        std::uint32_t rank = 0;
        bool trainable = false;
    };

    [[nodiscard]] std::uint64_t child_hash(id parent, std::string_view name) const noexcept {
        return detail::hash_bytes(name, detail::hash_mix(parent, 1));
    }

    // Places in `own_first_`.
    [[nodiscard]] static std::size_t parameters_of(std::size_t m) noexcept { return 2 * m; }
    [[nodiscard]] static std::size_t buffers_of(std::size_t m) noexcept { return 2 * m + 1; }

    [[nodiscard]] tensor_info tensor_at(std::size_t i) const {
        const auto& t = tensors_[i];
        return {names_[t.name], names_[t.dtype],
                std::span(extents_).subspan(t.first_extent, t.rank), t.trainable};
    }

    void fill_optional_columns() {
        const auto n = index_.size();
        const auto nothing = names_.intern("");
        class_.resize(n, nothing);
        qualified_.resize(n, nothing);
        calls_.resize(n, no_id);
        own_first_.resize(parameters_of(n) + 1, static_cast<id>(tensors_.size()));
        aliases_of_ = detail::grouped_ids(n, [&](auto take) {
            for (id i = 0; i < aliases_.size(); ++i) {
                take(aliases_[i].module, i);
            }
        });
        path_length_.resize(n);
        for (id m = 1; m < n; ++m) {
            const auto parent = index_.parent(m);
            path_length_[m] =
                path_length_[parent] + static_cast<id>(name(m).size()) + (parent == 0 ? 0 : 1);
        }
        for (const id parent : modules()) {
            id i = 0;
            for (const id m : children(parent)) {
                if (i++ >= near_children) {
                    children_.insert(child_hash(parent, name(m)), m, [](id) { return false; });
                }
            }
        }
    }

    // Up to this many children are searched linearly: they are adjacent in memory, while a table of
    // all children would be accessed randomly.
    static constexpr id near_children = 8;

    tree_index index_;
    detail::string_pool names_;
    std::vector<id> name_;
    std::vector<id> class_;
    std::vector<id> qualified_;
    std::vector<id> calls_;
    std::vector<id> path_length_;
    std::vector<id> own_first_; // tensors: of each module, parameters and buffers
    std::vector<tensor_record> tensors_;
    std::vector<std::int64_t> extents_;
    std::vector<alias> aliases_;
    detail::grouped_ids aliases_of_;
    detail::flat_index by_alias_; // of aliases, the first with each path
    std::vector<std::vector<std::string>> shared_;
    detail::flat_index children_; // those after the first few of each parent
};

inline boost::identity_property_map get(boost::vertex_index_t, const module_tree&) {
    return {};
}
inline id get(boost::vertex_index_t, const module_tree&, id m) {
    return m;
}

} // namespace stemma::inline STEMMA_ABI

namespace boost {

template <>
struct graph_traits<stemma::module_tree> {
    using vertex_descriptor = stemma::id;
    using edge_descriptor = stemma::module_tree::edge;
    using directed_category = bidirectional_tag;
    using edge_parallel_category = disallow_parallel_edge_tag;
    struct traversal_category : virtual vertex_list_graph_tag,
                                virtual edge_list_graph_tag,
                                virtual bidirectional_graph_tag,
                                virtual adjacency_graph_tag {};
    using vertex_iterator = counting_iterator<stemma::id>;
    using edge_iterator = stemma::module_tree::edge_iterator;
    using out_edge_iterator = stemma::module_tree::out_edge_iterator;
    using in_edge_iterator = stemma::module_tree::edge_iterator;
    using adjacency_iterator = stemma::module_tree::adjacency_iterator;
    using vertices_size_type = stemma::id;
    using edges_size_type = stemma::id;
    using degree_size_type = stemma::id;
    static stemma::id null_vertex() { return stemma::no_id; }
};

template <>
struct property_map<stemma::module_tree, vertex_index_t> {
    using type = identity_property_map;
    using const_type = identity_property_map;
};

} // namespace boost

#endif // STEMMA_MODEL_MODULE_TREE_HPP
