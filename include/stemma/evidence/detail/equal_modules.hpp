// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_EQUAL_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_EQUAL_MODULES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/is_elementwise.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/module_exits.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/detail/functional_units.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: by module, a number that is equal for modules with the same parameter names below.
/// Complexity: O(modules + bytes of names).
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] std::vector<std::uint64_t>
find_parameter_patterns(const Ops& ops, const Modules& modules, const parameter_owners& owners) {
    const tree_index& tree = modules.index();
    std::vector<std::uint64_t> pattern(tree.size(), 0);
    for (id p = 0; p < ops.parameter_count(); ++p) {
        const std::string_view name = ops.parameter_name(p);
        for (auto owner : owners.of(p)) {
            pattern[owner] += hash_bytes(name.substr(name.rfind('.') + 1), 1);
        }
    }
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        const std::string_view name = modules.name(m);
        pattern[tree.parent(m)] += hash_mix(hash_bytes(name, 2), pattern[m]);
    }
    return pattern;
}

/// Finds what modules of one kind do last, after everything that reads their parameters: whatever
/// follows each of them, regardless of the caller.
template <operator_view Ops, module_view Modules>
class equal_modules {
public:
    /// Requires: all arguments outlive it.
    equal_modules(const Ops& ops, const Modules& modules, const module_code<Modules>& code,
                  const std::vector<std::uint64_t>& pattern, const functional_units<Ops>& units,
                  const module_exits<Ops>& exits)
        : ops_(ops)
        , tree_(modules.index())
        , code_(code)
        , units_(units)
        , exits_(exits)
        , pattern_(pattern)
        , vertex_(ops.graph()) {}

    /// Calls `f(m, operators)` for each such module. Complexity: O(modules * log modules).
    template <class Function>
    void for_each_end(Function f) const {
        std::vector<std::pair<std::uint64_t, id>> kinds;
        for (id m = 1; m < tree_.size(); ++m) {
            const bool holds = !tree_.is_leaf(m);
            if (holds && !code_.is_list(m) && code_.owns_below(m)) {
                kinds.emplace_back(pattern_[m], m);
            }
        }
        std::sort(kinds.begin(), kinds.end());
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
    /// its result is split and the parts are joined again: the module does so, as it exists to add
    /// something to its child. Complexity: O(modules).
    template <class Function>
    void for_each_gate(Function f) const {
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
            if (gates(exit, unit)) {
                f(m, unit);
            }
        }
    }

private:
    [[nodiscard]] bool splits(id v) const {
        const std::string_view type = ops_.op_type(vertex_[v]);
        return type == "Slice" || type == "Split";
    }

    /// Whether what follows `v` splits its result and joins the parts elementwise.
    [[nodiscard]] bool gates(id v, const std::vector<id>& unit) const {
        bool split = !unit.empty() && !splits(unit.back());
        units_.for_each_reader(v, [&](id w) { split = split && splits(w); });
        return split && std::all_of(unit.begin(), unit.end(), [&](id w) {
                   return splits(w) || is_elementwise(ops_.op_type(vertex_[w]));
               });
    }

    /// Returns: what follows all modules of one kind, if it is the same and not something that a
    /// single caller does with each of them.
    [[nodiscard]] std::vector<std::vector<id>>
    common_ends(const std::vector<std::pair<std::uint64_t, id>>& kinds, std::size_t first,
                std::size_t end) const {
        constexpr std::size_t min_modules = 3;
        std::vector<std::vector<id>> units;
        bool several_callers = false;
        for (auto i = first; i < end && end - first >= min_modules; ++i) {
            const auto m = kinds[i].second;
            const auto exit = exits_.only(m);
            auto unit = exit == no_id ? std::vector<id>() : units_.behind(exit);
            const bool fits = !unit.empty() && are_elementwise(unit, types()) &&
                              (units.empty() || are_alike(unit, units.front()));
            if (!fits) {
                return {};
            }
            units.push_back(std::move(unit));
            several_callers =
                several_callers || pattern_of_caller(m) != pattern_of_caller(kinds[first].second);
        }
        return several_callers ? units : std::vector<std::vector<id>>();
    }

    [[nodiscard]] std::uint64_t pattern_of_caller(id m) const { return pattern_[tree_.parent(m)]; }

    [[nodiscard]] bool are_alike(const std::vector<id>& a, const std::vector<id>& b) const {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](id v, id w) {
            return std::string_view(ops_.op_type(vertex_[v])) ==
                   std::string_view(ops_.op_type(vertex_[w]));
        });
    }

    /// Returns: what says the type of an operator.
    [[nodiscard]] auto types() const {
        return [this](id v) { return ops_.op_type(vertex_[v]); };
    }

    const Ops& ops_;
    const tree_index& tree_;
    const module_code<Modules>& code_;
    const functional_units<Ops>& units_;
    const module_exits<Ops>& exits_;
    const std::vector<std::uint64_t>& pattern_; // see `find_parameter_patterns`
    vertices_by_index<graph_of<Ops>> vertex_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_EQUAL_MODULES_HPP
