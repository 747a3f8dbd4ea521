// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_FUNCTIONAL_UNITS_HPP
#define STEMMA_MODEL_DETAIL_FUNCTIONAL_UNITS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Splits a computation on one value into steps, as modules without parameters contain them: each
/// computes one value from one value.
template <operator_view Ops>
class functional_units {
public:
    /// By vertex index: `steady` operators are independent of data; `free` ones depend on it, but
    /// their modules are unknown. Requires: all arguments outlive it.
    functional_units(const Ops& ops, const std::vector<bool>& steady, const std::vector<bool>& free)
        : ops_(ops), graph_(ops.graph()), vertex_(graph_), steady_(steady), free_(free) {}

    /// Returns: the operators of the step that begins at the readers of `v`, the one producing its
    /// result last; none if the readers do anything else. Constants that scale or shift the result
    /// are part of it, and conversions of its layout.
    /// Complexity: O(readers of an operator), for a bounded number of operators.
    [[nodiscard]] std::vector<id> behind(id v) const {
        return behind(v, [](id) { return true; });
    }

    /// As above, ignoring readers `w` of `v` unless `counts(w)`.
    template <std::predicate<id> Counts>
    [[nodiscard]] std::vector<id> behind(id v, Counts counts) const {
        auto unit = whole_behind(v, counts);
        while (!unit.empty()) {
            const auto next = whole_behind(unit.back(), [](id) { return true; });
            if (next.size() != 1 || !belongs_to_step(next.front())) {
                break;
            }
            unit.push_back(next.front());
        }
        return unit;
    }

    /// Calls `f(w)` for the readers of `v`, except those independent of data.
    template <class Function>
    void for_each_reader(id v, Function f) const {
        for (auto [out, last] = out_edges(vertex_[v], graph_); out != last; ++out) {
            if (const auto w = index_of(graph_, target(*out, graph_)); !steady_[w]) {
                f(static_cast<id>(w));
            }
        }
    }

    /// Returns: the operator behind `v` that ends the model: it reads nothing else, nothing else
    /// reads `v`, and nothing its result; `no_id` if there is none. Complexity: O(their edges).
    [[nodiscard]] id last_behind(id v) const {
        id only = no_id;
        std::size_t others = 0;
        for_each_reader(v, [&](id w) { only == no_id ? void(only = w) : void(++others); });
        if (only == no_id || !free_[only]) {
            return no_id;
        }
        for_each_reader(only, [&](id) { ++others; });
        for (auto [in, last] = in_edges(vertex_[only], graph_); in != last; ++in) {
            const auto u = index_of(graph_, source(*in, graph_));
            others += !steady_[u] && u != v ? 1U : 0U;
        }
        return others == 0 ? only : no_id;
    }

private:
    template <class Counts>
    [[nodiscard]] std::vector<id> whole_behind(id v, Counts counts) const {
        constexpr std::size_t max_unit = 16;
        const auto for_each_counting = [&](id u, auto f) {
            for_each_reader(u, [&](id w) {
                if (u != v || counts(w)) {
                    f(w);
                }
            });
        };
        std::vector<id> unit;
        std::vector<id> open; // readers outside the unit
        const auto read_inside = [&](id w) {
            bool inside = true;
            for (auto [in, last] = in_edges(vertex_[w], graph_); in != last && inside; ++in) {
                const auto u = static_cast<id>(index_of(graph_, source(*in, graph_)));
                inside =
                    steady_[u] || u == v || std::find(unit.begin(), unit.end(), u) != unit.end();
            }
            return inside;
        };
        const auto open_readers = [&](id u) {
            for_each_counting(u, [&](id w) {
                if (std::find(unit.begin(), unit.end(), w) == unit.end() &&
                    std::find(open.begin(), open.end(), w) == open.end()) {
                    open.push_back(w);
                }
            });
        };
        open_readers(v);
        while (!open.empty() && unit.size() < max_unit) {
            const auto next = std::find_if(open.begin(), open.end(),
                                           [&](id w) { return free_[w] && read_inside(w); });
            if (next == open.end()) {
                return {};
            }
            unit.push_back(*next);
            open.erase(next);
            std::vector<id> makers; // of values read outside the unit
            const auto note_maker = [&](id u) {
                bool read = false;
                for_each_counting(u, [&](id w) {
                    read = read || std::find(unit.begin(), unit.end(), w) == unit.end();
                });
                if (read) {
                    makers.push_back(u);
                }
            };
            note_maker(v);
            std::for_each(unit.begin(), unit.end(), note_maker);
            open_readers(unit.back());
            if (makers.size() == 1 && makers.front() == unit.back()) {
                return unit;
            }
        }
        return {};
    }

    /// Whether an operator that reads just one value combines it with a constant, or converts its
    /// layout for a runtime.
    [[nodiscard]] bool belongs_to_step(id v) const {
        constexpr std::array<std::string_view, 6> types{"Add", "Div",          "Mul",
                                                        "Sub", "ReorderInput", "ReorderOutput"};
        return std::find(types.begin(), types.end(), std::string_view(ops_.op_type(vertex_[v]))) !=
               types.end();
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    vertices_by_index<graph_of<Ops>> vertex_;
    const std::vector<bool>& steady_;
    const std::vector<bool>& free_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_FUNCTIONAL_UNITS_HPP
