// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_FUNCTIONAL_UNITS_HPP
#define STEMMA_MODEL_DETAIL_FUNCTIONAL_UNITS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/detail/wired_operators.hpp>
#include <stemma/model/operator_view.hpp>

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
    /// `free` operators depend on data, but their modules are unknown. Requires: both outlive it.
    functional_units(const wired_operators<Ops>& wires, const std::vector<bool>& free)
        : wires_(wires), free_(free) {}

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

    /// Returns: the operator behind `v` that ends the model: it reads nothing else, nothing else
    /// reads `v`, and nothing its result; `no_id` if there is none. Complexity: O(their edges).
    [[nodiscard]] id last_behind(id v) const {
        id only = no_id;
        wires_.for_each_reader(v, [&](id w) { only = w; });
        const bool ends =
            only != no_id && free_[only] && wires_.count_readers(v) == 1 &&
            wires_.count_readers(only) == 0 &&
            range::all_of(wires_.producers(only), [&](id u) { return u == v || wires_.steady[u]; });
        return ends ? only : no_id;
    }

private:
    template <class Counts>
    [[nodiscard]] std::vector<id> whole_behind(id v, Counts counts) const {
        constexpr std::size_t max_unit = 16;
        const auto for_each_counting = [&](id u, auto f) {
            wires_.for_each_reader(u, [&](id w) {
                if (u != v || counts(w)) {
                    f(w);
                }
            });
        };
        std::vector<id> unit;
        std::vector<id> open; // readers outside the unit
        const auto read_inside = [&](id w) {
            return range::all_of(wires_.producers(w), [&](id u) {
                return wires_.steady[u] || u == v || range::contains(unit, u);
            });
        };
        const auto open_readers = [&](id u) {
            for_each_counting(u, [&](id w) {
                if (!range::contains(unit, w) && !range::contains(open, w)) {
                    open.push_back(w);
                }
            });
        };
        open_readers(v);
        while (!open.empty() && unit.size() < max_unit) {
            const auto next =
                range::find_if(open, [&](id w) { return free_[w] && read_inside(w); });
            if (next == open.end()) {
                return {};
            }
            unit.push_back(*next);
            open.erase(next);
            std::vector<id> makers; // of values read outside the unit
            const auto note_maker = [&](id u) {
                bool read = false;
                for_each_counting(u, [&](id w) { read = read || !range::contains(unit, w); });
                if (read) {
                    makers.push_back(u);
                }
            };
            note_maker(v);
            for (const auto u : unit) {
                note_maker(u);
            }
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
        return range::contains(types, wires_.type(v));
    }

    const wired_operators<Ops>& wires_;
    const std::vector<bool>& free_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_FUNCTIONAL_UNITS_HPP
