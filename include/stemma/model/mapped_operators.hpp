// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_MAPPED_OPERATORS_HPP
#define STEMMA_MODEL_MAPPED_OPERATORS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// A map that gives no operator any parameter names.
struct no_parameters {
    template <class Vertex>
    friend std::vector<std::string_view> get(const no_parameters&, const Vertex&) {
        return {};
    }
};

} // namespace detail

/// Any Boost graph as an operator view: property maps supply each vertex's name, type and
/// parameters.
///
/// `Name` and `OpType` yield something convertible to `std::string_view` that outlives the view;
/// `Parameters` yields a range of such.
template <class Graph, class Name, class OpType, class Parameters = detail::no_parameters>
class mapped_operators {
    static_assert(explain_operator_graph<Graph>());
    static_assert(text_map<Name, vertex_t<Graph>> && text_map<OpType, vertex_t<Graph>>,
                  "mapped_operators: pass property maps from vertices to text that outlives them");

public:
    /// The user's graph, for `operator_view`.
    using graph_type = Graph;

    /// Complexity: one look-up per parameter read.
    mapped_operators(const Graph& graph, Name name, OpType op_type, Parameters parameters = {})
        : graph_(&graph)
        , name_(std::move(name))
        , op_type_(std::move(op_type))
        , reads_(num_vertices(graph)) {
        if constexpr (operator_graph_like<Graph>) {
            for (auto [it, last] = vertices(graph); it != last; ++it) {
                for (const auto& parameter : get(parameters, *it)) {
                    reads_[detail::index_of(graph, *it)].push_back(pool_.intern(parameter));
                }
            }
        }
    }

    /// The graph passed in, not a copy.
    [[nodiscard]] const Graph& graph() const noexcept { return *graph_; }

    /// Returns: what the map of names yields.
    [[nodiscard]] std::string_view name(vertex_t<Graph> v) const { return get(name_, v); }

    /// Returns: what the map of types yields.
    [[nodiscard]] std::string_view op_type(vertex_t<Graph> v) const { return get(op_type_, v); }

    /// Returns: the number of distinct parameter names read.
    [[nodiscard]] std::size_t parameter_count() const noexcept { return pool_.size(); }

    /// Returns: the name of parameter `p`, numbered in order of first use; valid as long as the
    /// view.
    [[nodiscard]] std::string_view parameter_name(id p) const noexcept { return pool_[p]; }

    /// Calls `f(p)` for every parameter that `v` reads; one read twice is reported twice.
    /// Complexity: O(parameters read).
    template <class Function>
    void for_each_parameter(vertex_t<Graph> v, Function f) const {
        for (auto p : reads_[detail::index_of(*graph_, v)]) {
            f(p);
        }
    }

private:
    const Graph* graph_;
    Name name_;
    OpType op_type_;
    detail::string_pool pool_;
    std::vector<std::vector<id>> reads_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_MAPPED_OPERATORS_HPP
