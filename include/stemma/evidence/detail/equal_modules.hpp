// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_EQUAL_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_EQUAL_MODULES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/module_exits.hpp>
#include <stemma/evidence/detail/operator_kinds.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/detail/functional_units.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds what modules of one kind do last, after everything that reads their parameters: whatever
/// follows each of them, regardless of the caller.
template <operator_view Ops, module_view Modules>
class equal_modules {
public:
    /// Requires: all arguments outlive it.
    equal_modules(const region_facts<Ops, Modules>& facts, const functional_units<Ops>& units,
                  const module_exits<Ops, Modules>& exits)
        : facts_(facts), tree_(facts.tree), code_(facts.code), units_(units), exits_(exits) {}

    /// Calls `f(m, operators)` for each such module. Complexity: O(modules * log modules).
    template <class Function>
    void for_each_end(Function f) const {
        std::vector<std::pair<std::uint64_t, id>> kinds;
        for (id m = 1; m < tree_.size(); ++m) {
            if (!tree_.is_leaf(m) && !code_.is_list(m) && code_.owns_below(m)) {
                kinds.emplace_back(code_.pattern(m), m);
            }
        }
        range::sort(kinds);
        for (std::size_t first = 0, end = 0; first < kinds.size(); first = end) {
            for (end = first; end < kinds.size() && kinds[end].first == kinds[first].first; ++end) {
            }
            const auto units = common_ends(kinds, first, end);
            for (std::size_t i = 0; i < units.size(); ++i) {
                f(kinds[first + i].second, units[i]);
            }
        }
    }

    /// Calls `f(m, operators)` for what follows a module that holds, after everything that reads
    /// parameters, a child without any: an activation. Whichever of the two performs it, it is in
    /// the first. Complexity: O(modules).
    template <class Function>
    void for_each_activated(Function f) const {
        std::vector<id> last(tree_.size(), no_id); // a module's last descendant
        for (id m = 1; m < tree_.size(); ++m) {
            last[tree_.parent(m)] = m;
        }
        for (id m = 1; m < tree_.size(); ++m) {
            const auto inner = last[m];
            const bool activated = inner != no_id && tree_.is_leaf(inner) &&
                                   !code_.declares_below(inner) && !code_.owns_below(inner) &&
                                   !code_.is_list(m) && code_.owns_below(m);
            if (!activated || exits_.only(m) == no_id) {
                continue;
            }
            const auto unit = units_.behind(exits_.only(m));
            if (!unit.empty() && may_activate(unit, types())) {
                f(m, unit);
            }
        }
    }

    /// Calls `f(m, operators)` for what follows a module of which only one child has parameters, if
    /// that is an activation, or splits the result and joins the parts again: the module does so,
    /// as it exists to add something to its child. Complexity: O(modules).
    template <class Function>
    void for_each_wrapper(Function f) const {
        std::vector<id> owning(tree_.size(), 0); // how many in and below a module have parameters
        for (auto m = static_cast<id>(tree_.size()); m-- > 1;) {
            owning[m] += tree_.is_leaf(m) && code_.owns_below(m) ? 1U : 0U;
            owning[tree_.parent(m)] += owning[m];
        }
        for (id m = 1; m < tree_.size(); ++m) {
            const auto exit = exits_.only(m);
            if (owning[m] != 1 || tree_.is_leaf(m) || code_.is_list(m) || exit == no_id) {
                continue;
            }
            auto unit = units_.behind(exit);
            if (unit.size() == 1 && splits(unit.front())) {
                const auto joined = units_.behind(unit.front());
                unit.insert(unit.end(), joined.begin(), joined.end());
            }
            // Any of several such modules, one in the other, may activate the result.
            const auto above = tree_.parent(m);
            const bool outermost = above == 0 || owning[above] != 1 || code_.is_list(above);
            const bool activates = outermost && !unit.empty() && may_activate(unit, types());
            if (activates || gates(exit, unit)) {
                f(m, unit);
            }
        }
    }

private:
    [[nodiscard]] bool splits(id v) const { return facts_.is(v, "Slice") || facts_.is(v, "Split"); }

    /// Whether what follows `v` splits its result and joins the parts elementwise.
    [[nodiscard]] bool gates(id v, const std::vector<id>& unit) const {
        bool split = !unit.empty() && !splits(unit.back());
        facts_.for_each_reader(v, [&](id w) { split = split && splits(w); });
        return split && range::all_of(unit, [&](id w) {
                   return splits(w) || is_elementwise(facts_.type(w));
               });
    }

    /// Returns: what follows all modules of one kind, if it is the same and not something that a
    /// single caller does with each of them.
    [[nodiscard]] std::vector<std::vector<id>>
    common_ends(const std::vector<std::pair<std::uint64_t, id>>& kinds, std::size_t first,
                std::size_t end) const {
        constexpr std::size_t min_modules = 3;
        const auto caller = [&](std::size_t i) {
            return code_.pattern(tree_.parent(kinds[i].second));
        };
        const auto same_type = [&](id v, id w) { return facts_.type(v) == facts_.type(w); };
        std::vector<std::vector<id>> units;
        bool several_callers = false;
        for (auto i = first; i < end && end - first >= min_modules; ++i) {
            const auto exit = exits_.only(kinds[i].second);
            auto unit = exit == no_id ? std::vector<id>() : units_.behind(exit);
            if (unit.empty() || !are_elementwise(unit, types()) ||
                (!units.empty() && !range::equal(unit, units.front(), same_type))) {
                return {};
            }
            units.push_back(std::move(unit));
            several_callers = several_callers || caller(i) != caller(first);
        }
        return several_callers ? units : std::vector<std::vector<id>>();
    }

    /// Returns: what says the type of an operator.
    [[nodiscard]] auto types() const {
        return [this](id v) { return facts_.type(v); };
    }

    const region_facts<Ops, Modules>& facts_;
    const tree_index& tree_;
    const module_code<Modules>& code_;
    const functional_units<Ops>& units_;
    const module_exits<Ops, Modules>& exits_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_EQUAL_MODULES_HPP
