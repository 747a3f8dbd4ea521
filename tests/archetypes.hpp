// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_ARCHETYPES_HPP
#define STEMMA_TESTS_ARCHETYPES_HPP

#include "operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/module_tree.hpp>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>

#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

/// Types with exactly what a concept requires: code that compiles with them compiles with every
/// model of the concept.
namespace test {

class graph_archetype;

/// A vertex descriptor: made by its graph; otherwise default-constructed, copied and compared.
class vertex_archetype {
public:
    vertex_archetype() = default;

    friend bool operator==(const vertex_archetype& a, const vertex_archetype& b) {
        return a.number_ == b.number_;
    }

private:
    friend class graph_archetype;
    explicit vertex_archetype(std::size_t number) : number_(number) {}

    std::size_t number_ = 0;
};

/// An edge descriptor, likewise.
class edge_archetype {
public:
    edge_archetype() = default;

    friend bool operator==(const edge_archetype& a, const edge_archetype& b) {
        return a.number_ == b.number_;
    }

private:
    friend class graph_archetype;
    explicit edge_archetype(std::size_t number) : number_(number) {}

    std::size_t number_ = 0;
};

/// Only forward, multi-pass, and returns copies.
template <class Value>
class iterator_archetype {
public:
    using value_type = Value;
    using reference = Value;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Value operator*() const { return *at_; }
    iterator_archetype& operator++() {
        ++at_;
        return *this;
    }
    iterator_archetype operator++(int) {
        auto before = *this;
        ++at_;
        return before;
    }
    friend bool operator==(const iterator_archetype& a, const iterator_archetype& b) {
        return a.at_ == b.at_;
    }
    friend bool operator!=(const iterator_archetype& a, const iterator_archetype& b) {
        return a.at_ != b.at_;
    }

private:
    friend class graph_archetype;
    explicit iterator_archetype(const Value* at) : at_(at) {}

    const Value* at_;
};

/// The position of a vertex in [0, n).
class index_archetype {
public:
    operator std::size_t() const { return value_; } // NOLINT(google-explicit-constructor)

private:
    friend class graph_archetype;
    explicit index_archetype(std::size_t value) : value_(value) {}

    std::size_t value_;
};

/// `operator_graph_like`. Immovable.
class graph_archetype {
public:
    using vertex_range =
        std::pair<iterator_archetype<vertex_archetype>, iterator_archetype<vertex_archetype>>;
    using edge_range =
        std::pair<iterator_archetype<edge_archetype>, iterator_archetype<edge_archetype>>;

    /// The same vertices and edges as a known good graph.
    explicit graph_archetype(const operator_scene::graph_type& graph)
        : in_(num_vertices(graph)), out_(num_vertices(graph)) {
        for (std::size_t v = 0; v < num_vertices(graph); ++v) {
            vertices_.push_back(vertex_archetype(v));
            for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
                in_[v].push_back(edge_archetype(number_of(*it, graph)));
            }
        }
        for (std::size_t v = 0; v < num_vertices(graph); ++v) {
            for (auto [it, last] = out_edges(v, graph); it != last; ++it) {
                out_[v].push_back(edge_archetype(number_of(*it, graph)));
            }
        }
    }
    graph_archetype(const graph_archetype&) = delete;
    graph_archetype& operator=(const graph_archetype&) = delete;

    /// For the views below, which know more about an operator than its graph does.
    [[nodiscard]] static std::size_t number(const vertex_archetype& v) { return v.number_; }
    [[nodiscard]] const operator_scene::graph_type::edge_descriptor&
    original(const edge_archetype& e) const {
        return edges_[e.number_];
    }

    friend vertex_range vertices(const graph_archetype& g) { return range(g.vertices_); }
    friend std::size_t num_vertices(const graph_archetype& g) { return g.vertices_.size(); }
    friend edge_range in_edges(const vertex_archetype& v, const graph_archetype& g) {
        return range(g.in_[number(v)]);
    }
    friend edge_range out_edges(const vertex_archetype& v, const graph_archetype& g) {
        return range(g.out_[number(v)]);
    }
    friend vertex_archetype source(const edge_archetype& e, const graph_archetype& g) {
        return vertex(g.original(e).m_source);
    }
    friend vertex_archetype target(const edge_archetype& e, const graph_archetype& g) {
        return vertex(g.original(e).m_target);
    }
    friend index_archetype get(boost::vertex_index_t, const graph_archetype&,
                               const vertex_archetype& v) {
        return index(number(v));
    }

private:
    static vertex_archetype vertex(std::size_t number) { return vertex_archetype(number); }
    static index_archetype index(std::size_t place) { return index_archetype(place); }

    template <class Value>
    static std::pair<iterator_archetype<Value>, iterator_archetype<Value>>
    range(const std::vector<Value>& values) {
        return {iterator_archetype<Value>(values.data()),
                iterator_archetype<Value>(values.data() + values.size())};
    }

    // An edge is identified by the position of its property; both ends see the same.
    std::size_t number_of(const operator_scene::graph_type::edge_descriptor& e,
                          const operator_scene::graph_type&) {
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            if (edges_[i].get_property() == e.get_property()) {
                return i;
            }
        }
        edges_.push_back(e);
        return edges_.size() - 1;
    }

    std::vector<vertex_archetype> vertices_;
    std::vector<operator_scene::graph_type::edge_descriptor> edges_;
    std::vector<std::vector<edge_archetype>> in_;
    std::vector<std::vector<edge_archetype>> out_;
};

/// Text, by conversion.
class text_archetype {
public:
    explicit text_archetype(std::string_view text) : text_(text) {}
    operator std::string_view() const { return text_; } // NOLINT(google-explicit-constructor)

private:
    std::string_view text_;
};

/// `module_view`.
class modules_archetype {
public:
    explicit modules_archetype(const stemma::module_tree& tree) : tree_(&tree) {}
    modules_archetype(const modules_archetype&) = delete;
    modules_archetype& operator=(const modules_archetype&) = delete;

    [[nodiscard]] const stemma::tree_index& index() const { return tree_->index(); }
    [[nodiscard]] text_archetype name(stemma::id m) const { return text_archetype(tree_->name(m)); }
    [[nodiscard]] text_archetype class_name(stemma::id m) const {
        return text_archetype(tree_->class_name(m));
    }
    [[nodiscard]] text_archetype qualified_class(stemma::id m) const {
        return text_archetype(tree_->qualified_class(m));
    }

private:
    const stemma::module_tree* tree_;
};

/// `operator_view`.
class operators_archetype {
public:
    using graph_type = graph_archetype;

    explicit operators_archetype(const operator_scene& scene)
        : scene_(&scene), graph_(scene.graph()) {}
    operators_archetype(const operators_archetype&) = delete;
    operators_archetype& operator=(const operators_archetype&) = delete;

    [[nodiscard]] const graph_archetype& graph() const { return graph_; }

protected:
    [[nodiscard]] const operator_scene& scene() const { return *scene_; }
    [[nodiscard]] static std::size_t number(const vertex_archetype& v) {
        return graph_archetype::number(v);
    }

private:
    const operator_scene* scene_;
    graph_archetype graph_;
};

/// `named_operators`.
class named_archetype : public operators_archetype {
public:
    using operators_archetype::operators_archetype;

    [[nodiscard]] text_archetype name(const vertex_archetype& v) const {
        return text_archetype(scene().name(number(v)));
    }
    [[nodiscard]] text_archetype op_type(const vertex_archetype& v) const {
        return text_archetype(scene().op_type(number(v)));
    }
};

/// `named_operators` and `parameter_readers`.
class reading_archetype : public named_archetype {
public:
    using named_archetype::named_archetype;

    [[nodiscard]] std::size_t parameter_count() const { return scene().parameter_count(); }
    [[nodiscard]] text_archetype parameter_name(stemma::id p) const {
        return text_archetype(scene().parameter_name(p));
    }
    template <class Function>
    void for_each_parameter(const vertex_archetype& v, const Function& f) const {
        scene().for_each_parameter(number(v), f);
    }
};

/// Everything a view may know.
class knowing_archetype : public reading_archetype {
public:
    using reading_archetype::reading_archetype;

    [[nodiscard]] stemma::id owner(const vertex_archetype& v) const {
        return scene().owner(number(v));
    }
    [[nodiscard]] stemma::id body(const vertex_archetype& v) const {
        return owner(v) == stemma::no_id ? stemma::no_id : 0;
    }
    [[nodiscard]] bool reads_data(const vertex_archetype& v) const {
        return scene().reads_data(number(v));
    }
    [[nodiscard]] bool hides_data(const vertex_archetype& v) const {
        return scene().hides_data(number(v));
    }
    [[nodiscard]] bool reads_condition(const edge_archetype& e) const {
        return scene().reads_condition(graph().original(e));
    }
    template <class Function>
    void for_each_metadata(const vertex_archetype&, const Function&) const {}
    [[nodiscard]] stemma::id function_count() const { return 0; }
    [[nodiscard]] text_archetype function_domain(stemma::id) const { return text_archetype(""); }
    [[nodiscard]] text_archetype function_name(stemma::id) const { return text_archetype(""); }
    [[nodiscard]] stemma::id callee(const vertex_archetype&) const { return stemma::no_id; }
    [[nodiscard]] stemma::id enclosing_function(const vertex_archetype&) const {
        return stemma::no_id;
    }
    template <class Function>
    void for_each_argument(const vertex_archetype&, const Function&) const {}
};

} // namespace test

template <>
struct boost::graph_traits<test::graph_archetype> {
    using vertex_descriptor = test::vertex_archetype;
    using edge_descriptor = test::edge_archetype;
    using directed_category = boost::bidirectional_tag;
    using edge_parallel_category = boost::allow_parallel_edge_tag;
    struct traversal_category : virtual boost::vertex_list_graph_tag,
                                virtual boost::bidirectional_graph_tag {};
    using vertex_iterator = test::iterator_archetype<test::vertex_archetype>;
    using out_edge_iterator = test::iterator_archetype<test::edge_archetype>;
    using in_edge_iterator = test::iterator_archetype<test::edge_archetype>;
    using vertices_size_type = std::size_t;
    using edges_size_type = std::size_t;
    using degree_size_type = std::size_t;
};

#endif // STEMMA_TESTS_ARCHETYPES_HPP
