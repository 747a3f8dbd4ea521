// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_OPERATOR_GRAPH_HPP
#define STEMMA_MODEL_OPERATOR_GRAPH_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/operator_edge.hpp>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>

#include <concepts>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Operators and the tensors between them: compressed in both directions, 32-bit, immutable.
///
/// Models Boost's VertexListGraph, EdgeListGraph, BidirectionalGraph, AdjacencyGraph and
/// PropertyGraph with `boost::vertex_index`, `boost::edge_index`, `value_index`, `in_port`,
/// `out_port`. Parallel edges are kept. In-edges are in the order given, out-edges in the order of
/// their readers. Each function of these concepts takes O(1).
class operator_graph {
public:
    /// From a producer to a reader.
    struct edge {
        id source = no_id; ///< the producer
        id target = no_id; ///< the reader
        id index = no_id;  ///< in [0, num_edges), rising with the reader

        friend bool operator==(const edge&, const edge&) = default;
    };

    /// No vertices.
    operator_graph() : operator_graph(0, {}) {}

    /// Requires: every source and target is below `count`.
    /// Complexity: O(V + E) by counting; two passes over `edges`.
    operator_graph(std::size_t count, std::span<const operator_edge> edges)
        : operator_graph(count, [&](auto take) {
            for (const auto& e : edges) {
                take(e);
            }
        }) {}

    /// `for_each(take)` calls `take(edge)` with an `operator_edge` for every edge; it is called
    /// twice.
    /// Requires: as above, and both calls yield the same edges.
    /// Complexity: O(V + E) by counting, besides the two calls.
    template <std::invocable<void (*)(const operator_edge&)> ForEach>
    operator_graph(std::size_t count, ForEach for_each)
        : in_first_(count + 2), out_first_(count + 2) {
        for_each([&](const operator_edge& e) {
            ++in_first_[std::size_t{e.target} + 2];
            ++out_first_[std::size_t{e.source} + 2];
            leads_upwards_ = leads_upwards_ && e.source < e.target;
        });
        std::partial_sum(in_first_.begin(), in_first_.end(), in_first_.begin());
        std::partial_sum(out_first_.begin(), out_first_.end(), out_first_.begin());
        const auto size = in_first_.back();
        source_.resize(size);
        value_.resize(size);
        in_port_.resize(size);
        out_port_.resize(size);
        out_target_.resize(size);
        out_index_.resize(size);
        for_each([&](const operator_edge& e) {
            const auto at = in_first_[std::size_t{e.target} + 1]++;
            source_[at] = e.source;
            value_[at] = e.value;
            in_port_[at] = e.in_port;
            out_port_[at] = e.out_port;
        });
        for (id v = 0; v < count; ++v) {
            for (auto at = in_first_[v]; at < in_first_[v + 1]; ++at) {
                const auto out = out_first_[std::size_t{source_[at]} + 1]++;
                out_target_[out] = v;
                out_index_[out] = at;
            }
        }
        in_first_.pop_back();
        out_first_.pop_back();
    }

    /// Returns: the same as `num_vertices`.
    [[nodiscard]] id vertex_count() const noexcept { return static_cast<id>(in_first_.size() - 1); }

    /// Returns: the same as `num_edges`.
    [[nodiscard]] id edge_count() const noexcept { return static_cast<id>(source_.size()); }

    /// The producers of `v`, repeated for parallel edges; composes with range-v3's views.
    [[nodiscard]] std::span<const id> producers(id v) const noexcept {
        return {source_.data() + in_first_[v], source_.data() + in_first_[v + 1]};
    }

    /// The readers of `v`, in order, repeated for parallel edges.
    [[nodiscard]] std::span<const id> readers(id v) const noexcept {
        return {out_target_.data() + out_first_[v], out_target_.data() + out_first_[v + 1]};
    }

    /// By edge index; valid as long as the graph.
    [[nodiscard]] const std::vector<id>& property(value_index_t) const noexcept { return value_; }

    /// By edge index; `no_id` if it is not an input slot.
    [[nodiscard]] const std::vector<id>& property(detail::in_port_t) const noexcept {
        return in_port_;
    }

    /// By edge index.
    [[nodiscard]] const std::vector<id>& property(detail::out_port_t) const noexcept {
        return out_port_;
    }

private:
    // A position in one of the compressed arrays; `Derived` interprets its contents.
    template <class Derived, class Value>
    class array_iterator
        : public boost::iterator_facade<Derived, Value, boost::random_access_traversal_tag, Value> {
    public:
        array_iterator() = default;
        array_iterator(const operator_graph* graph, id v, id at) : graph_(graph), v_(v), at_(at) {}

    protected:
        const operator_graph* graph_ = nullptr;
        id v_ = no_id;
        id at_ = 0;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] bool equal(const array_iterator& other) const { return at_ == other.at_; }
        void increment() { ++at_; }
        void decrement() { --at_; }
        void advance(std::ptrdiff_t n) { at_ = static_cast<id>(at_ + n); }
        [[nodiscard]] std::ptrdiff_t distance_to(const array_iterator& other) const {
            return static_cast<std::ptrdiff_t>(other.at_) - static_cast<std::ptrdiff_t>(at_);
        }
    };

public:
    /// For Boost.Graph.
    class in_edge_iterator : public array_iterator<in_edge_iterator, edge> {
    public:
        using array_iterator<in_edge_iterator, edge>::array_iterator;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] edge dereference() const { return {graph_->source_[at_], v_, at_}; }
    };

    /// For Boost.Graph.
    class out_edge_iterator : public array_iterator<out_edge_iterator, edge> {
    public:
        using array_iterator<out_edge_iterator, edge>::array_iterator;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] edge dereference() const {
            return {v_, graph_->out_target_[at_], graph_->out_index_[at_]};
        }
    };

    /// For Boost.Graph.
    class adjacency_iterator : public array_iterator<adjacency_iterator, id> {
    public:
        using array_iterator<adjacency_iterator, id>::array_iterator;

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] id dereference() const { return graph_->out_target_[at_]; }
    };

    /// All edges, grouped by reader, readers in order.
    class edge_iterator
        : public boost::iterator_facade<edge_iterator, edge, boost::forward_traversal_tag, edge> {
    public:
        edge_iterator() = default;

        /// At the edge with index `at`. Complexity: O(V), and O(1) at the end.
        edge_iterator(const operator_graph* graph, id at) : graph_(graph), at_(at) { settle(); }

    private:
        friend class boost::iterator_core_access;
        [[nodiscard]] edge dereference() const { return {graph_->source_[at_], v_, at_}; }
        [[nodiscard]] bool equal(const edge_iterator& other) const { return at_ == other.at_; }
        void increment() {
            ++at_;
            settle();
        }
        void settle() {
            while (at_ < graph_->edge_count() && graph_->in_first_[v_ + 1] <= at_) {
                ++v_;
            }
        }

        const operator_graph* graph_ = nullptr;
        id v_ = 0;
        id at_ = 0;
    };

    friend std::pair<in_edge_iterator, in_edge_iterator> in_edges(id v, const operator_graph& g) {
        return {{&g, v, g.in_first_[v]}, {&g, v, g.in_first_[v + 1]}};
    }

    friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(id v,
                                                                     const operator_graph& g) {
        return {{&g, v, g.out_first_[v]}, {&g, v, g.out_first_[v + 1]}};
    }

    friend std::pair<edge_iterator, edge_iterator> edges(const operator_graph& g) {
        return {{&g, 0}, {&g, g.edge_count()}};
    }

    friend std::pair<adjacency_iterator, adjacency_iterator>
    adjacent_vertices(id v, const operator_graph& g) {
        return {{&g, v, g.out_first_[v]}, {&g, v, g.out_first_[v + 1]}};
    }

    /// Whether every edge leads from a lower vertex to a higher one: recorded on construction so
    /// that sweeps need not check.
    friend bool is_topologically_indexed(const operator_graph& g) { return g.leads_upwards_; }

    friend id in_degree(id v, const operator_graph& g) {
        return g.in_first_[v + 1] - g.in_first_[v];
    }
    friend id out_degree(id v, const operator_graph& g) {
        return g.out_first_[v + 1] - g.out_first_[v];
    }
    friend id degree(id v, const operator_graph& g) { return in_degree(v, g) + out_degree(v, g); }

    friend std::pair<boost::counting_iterator<id>, boost::counting_iterator<id>>
    vertices(const operator_graph& g) {
        return {boost::counting_iterator<id>(0), boost::counting_iterator<id>(g.vertex_count())};
    }
    friend id num_vertices(const operator_graph& g) { return g.vertex_count(); }
    friend id num_edges(const operator_graph& g) { return g.edge_count(); }
    friend id source(const edge& e, const operator_graph&) { return e.source; }
    friend id target(const edge& e, const operator_graph&) { return e.target; }

private:
    // By vertex, plus one; plus two during construction: counts are kept two slots ahead of their
    // vertex, then become the position of its next edge, and finally its end.
    std::vector<id> in_first_;
    std::vector<id> out_first_;
    std::vector<id> source_;
    std::vector<id> value_;
    std::vector<id> in_port_;
    std::vector<id> out_port_;
    std::vector<id> out_target_; // separate, as most walks over readers need no index
    std::vector<id> out_index_;
    bool leads_upwards_ = true;
};

namespace detail {

/// Reads an edge property of an operator_graph by edge index.
class edge_id_map {
public:
    using key_type = operator_graph::edge;
    using value_type = id;
    using reference = id;
    using category = boost::readable_property_map_tag;

    edge_id_map() = default;

    /// Requires: `ids` outlives the map and is not changed.
    explicit edge_id_map(const std::vector<id>& ids) : ids_(ids.data()) {}

    friend id get(const edge_id_map& map, const key_type& e) { return map.ids_[e.index]; }

private:
    const id* ids_ = nullptr;
};

/// A property of edges that is an id: a value, or a port.
template <class Tag>
concept edge_id_tag = requires(const operator_graph& graph, Tag tag) {
    graph.property(tag);
};

/// Reads an edge's index in [0, num_edges).
class edge_index_map {
public:
    using key_type = operator_graph::edge;
    using value_type = id;
    using reference = id;
    using category = boost::readable_property_map_tag;

    friend id get(const edge_index_map&, const key_type& e) { return e.index; }
};

} // namespace detail

inline boost::identity_property_map get(boost::vertex_index_t, const operator_graph&) {
    return {};
}
inline id get(boost::vertex_index_t, const operator_graph&, id v) {
    return v;
}
inline detail::edge_index_map get(boost::edge_index_t, const operator_graph&) {
    return {};
}
inline id get(boost::edge_index_t, const operator_graph&, const operator_graph::edge& e) {
    return e.index;
}
template <detail::edge_id_tag Tag>
detail::edge_id_map get(Tag tag, const operator_graph& g) {
    return detail::edge_id_map(g.property(tag));
}
template <detail::edge_id_tag Tag>
id get(Tag tag, const operator_graph& g, const operator_graph::edge& e) {
    return g.property(tag)[e.index];
}

} // namespace stemma::inline STEMMA_ABI

namespace boost {

template <>
struct graph_traits<stemma::operator_graph> {
    using vertex_descriptor = stemma::id;
    using edge_descriptor = stemma::operator_graph::edge;
    using directed_category = bidirectional_tag;
    using edge_parallel_category = allow_parallel_edge_tag;
    struct traversal_category : virtual vertex_list_graph_tag,
                                virtual edge_list_graph_tag,
                                virtual bidirectional_graph_tag,
                                virtual adjacency_graph_tag {};
    using vertex_iterator = counting_iterator<stemma::id>;
    using out_edge_iterator = stemma::operator_graph::out_edge_iterator;
    using in_edge_iterator = stemma::operator_graph::in_edge_iterator;
    using edge_iterator = stemma::operator_graph::edge_iterator;
    using adjacency_iterator = stemma::operator_graph::adjacency_iterator;
    using vertices_size_type = stemma::id;
    using edges_size_type = stemma::id;
    using degree_size_type = stemma::id;
    static stemma::id null_vertex() { return stemma::no_id; }
};

template <>
struct property_map<stemma::operator_graph, vertex_index_t> {
    using type = identity_property_map;
    using const_type = identity_property_map;
};

template <>
struct property_map<stemma::operator_graph, edge_index_t> {
    using type = stemma::detail::edge_index_map;
    using const_type = stemma::detail::edge_index_map;
};

template <stemma::detail::edge_id_tag Tag>
struct property_map<stemma::operator_graph, Tag> {
    using type = stemma::detail::edge_id_map;
    using const_type = stemma::detail::edge_id_map;
};

} // namespace boost

#endif // STEMMA_MODEL_OPERATOR_GRAPH_HPP
