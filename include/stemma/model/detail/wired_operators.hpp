// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_WIRED_OPERATORS_HPP
#define STEMMA_MODEL_DETAIL_WIRED_OPERATORS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/neighbours.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The operators of a view by vertex index, and the wires between them.
template <operator_view Ops>
class wired_operators {
public:
    const Ops& ops;
    sweep_order<graph_of<Ops>> order;
    std::vector<id> position; ///< in that order; `no_id` for an operator on or after a cycle
    std::vector<bool> steady; ///< it is independent of data

    /// Requires: `view` outlives it. Complexity: O(V + E).
    wired_operators(const Ops& view, std::vector<bool> independent)
        : ops(view)
        , order(view.graph())
        , position(num_vertices(view.graph()), no_id)
        , steady(std::move(independent))
        , vertex_(view.graph()) {
        id step = 0;
        order.forward([&](operator_t<Ops> v) { position[index_of(ops.graph(), v)] = step++; });
    }

    /// As above, where all operators depend on data.
    explicit wired_operators(const Ops& view)
        : wired_operators(view, std::vector<bool>(num_vertices(view.graph()))) {}

    [[nodiscard]] std::size_t size() const noexcept { return position.size(); }
    [[nodiscard]] operator_t<Ops> vertex(std::size_t v) const { return vertex_[v]; }
    [[nodiscard]] std::string_view type(std::size_t v) const { return ops.op_type(vertex_[v]); }
    [[nodiscard]] bool is(std::size_t v, std::string_view wanted) const {
        return type(v) == wanted;
    }

    /// The operators that make what `v` reads, and those that read its results: a range with one
    /// for each wire.
    [[nodiscard]] auto producers(std::size_t v) const {
        return producers_of(ops.graph(), vertex_[v]);
    }
    [[nodiscard]] auto readers(std::size_t v) const { return readers_of(ops.graph(), vertex_[v]); }

    /// Whether several wires lead away from `v`.
    [[nodiscard]] bool forks(std::size_t v) const {
        const auto all = readers(v);
        return !all.empty() && !all.is_single();
    }

    /// Calls `f(w)` for the readers of `v`, except those independent of data.
    template <class Function>
    void for_each_reader(std::size_t v, Function f) const {
        for (const auto w : readers(v)) {
            if (!steady[w]) {
                f(w);
            }
        }
    }

    /// Returns: how many wires lead from `v` to operators that depend on data, counting to two.
    [[nodiscard]] unsigned count_readers(std::size_t v) const {
        unsigned count = 0;
        for (const auto w : readers(v)) {
            count += steady[w] ? 0U : 1U;
            if (count == 2) {
                break;
            }
        }
        return count;
    }

    /// Returns: the only operator that depends on data whose result `v` reads, or `no_id`.
    [[nodiscard]] id only_producer(std::size_t v) const {
        id only = no_id;
        for (const auto u : producers(v)) {
            if (!steady[u]) {
                if (only != no_id) {
                    return no_id;
                }
                only = u;
            }
        }
        return only;
    }

private:
    vertices_by_index<graph_of<Ops>> vertex_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_WIRED_OPERATORS_HPP
