// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PART_REPEATED_HPP
#define STEMMA_EVIDENCE_DETAIL_PART_REPEATED_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/neighbours.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds operators in parted scopes that only operators of another module read, behind none that
/// reads parameters of the scope's own: these begin what the other module does. `reads_own` marks
/// operators that read such parameters, or the results of those that do in the same scope; `parted`
/// has the modules of those that belong to others, by vertex index.
/// Complexity: O(operators + edges).
template <operator_view Ops>
void part_beginnings(const Ops& ops, const scope_table& table, const std::vector<bool>& reads_own,
                     std::unordered_map<id, scope_module>& parted) {
    const auto& graph = ops.graph();
    const sweep_order<graph_of<Ops>> order(graph);
    order.backward([&](const operator_t<Ops>& vertex) {
        const auto v = static_cast<id>(index_of(graph, vertex));
        const auto readers = readers_of(graph, vertex);
        if (table.scope_of[v] == no_id || reads_own[v] || parted.contains(v)) {
            return;
        }
        id other = no_id;
        const bool all = !readers.empty() && range::all_of(readers, [&](id w) {
            const auto reader = parted.find(w);
            const bool is_parted = table.scope_of[w] == table.scope_of[v] && reader != parted.end();
            other = is_parted && other == no_id ? reader->second.module : other;
            return is_parted && reader->second.module == other;
        });
        if (all) {
            parted[v] = {other, no_id, no_id, detail::confidence::scope};
        }
    });
}

/// Returns: the scope that scope `s` repeats if its number is that of a call: `act` for `act_1`;
/// `no_id` if there is none.
[[nodiscard]] inline id repeated_scope(const scope_table& table, id s) {
    return table.scopes[s].style == scope_style::called ? unnumbered_scope(table, s) : no_id;
}

/// Whether scope `s`, `act_1_1`, is a further call of the module that scope `first` is named after,
/// `act_1`: this also holds a call of the module of `act`, as the operators in all three show.
[[nodiscard]] inline bool repeats_shared(const scope_table& table, id first, id s) {
    const auto other = repeated_scope(table, first);
    return other != no_id && table.scopes[other].kinds != 0 && table.scopes[s].kinds != 0 &&
           table.scopes[first].kinds == table.scopes[other].kinds + table.scopes[s].kinds;
}

/// Finds operators of two modules in one scope: a further call of `act` prints as the first one of
/// `act_1`, a module of its own. The operators like those in scope `act` belong to its module, with
/// what only they read. Neither calls others or reads parameters.
template <parameter_readers Ops>
class repeated_parter {
public:
    /// `of_scope` has the modules of scopes. Requires: all arguments outlive it.
    /// Complexity: O(scopes).
    repeated_parter(const Ops& ops, const scope_table& table,
                    const std::vector<scope_module>& of_scope)
        : ops_(ops), table_(table), of_scope_(of_scope), has_inside_(find_enclosing(table)) {}

    /// Adds such operators, by vertex index, to those with modules of their own. `calls(module)`
    /// returns how often it ran, `no_id` if unknown. Complexity: O(scopes), and O(operators +
    /// edges) if there is such a scope.
    template <class Calls>
    void run(Calls calls, std::unordered_map<id, scope_module>& of_operator) {
        std::vector<std::pair<id, id>> shared; // the scope that is repeated, and the one shared
        for (id s = scope_style_count; s < table_.scopes.size(); ++s) {
            if (is_shared(s, calls)) {
                shared.emplace_back(repeated_scope(table_, s), s);
                operators_[shared.back().first];
                operators_[s];
            }
        }
        if (shared.empty()) {
            return;
        }
        for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
            const auto scope = operators_.find(table_.scope_of[index_of(ops_.graph(), *it)]);
            if (scope != operators_.end() && ops_.op_type(*it) != std::string_view("Constant")) {
                scope->second.push_back(*it);
            }
        }
        std::unordered_map<id, scope_module> parted;
        for (const auto& [first, s] : shared) {
            const auto module = of_scope_[first].module;
            part(first, s,
                 {module, no_id, no_id,
                  calls(module) == no_id ? confidence::scope_numbered : confidence::scope_call},
                 parted);
        }
        part_beginnings(ops_, table_, std::vector<bool>(num_vertices(ops_.graph())), parted);
        of_operator.insert(parted.begin(), parted.end());
    }

private:
    /// Whether a scope holds operators of two modules. That shows in further calls of its own, or
    /// else in a module with fewer scopes than calls.
    template <class Calls>
    [[nodiscard]] bool is_shared(id s, const Calls& calls) {
        const auto first = repeated_scope(table_, s);
        if (first == no_id || has_inside_[s] || has_inside_[first]) {
            return false;
        }
        const auto module = of_scope_[first].module;
        if (module == no_id || of_scope_[s].module == no_id || module == of_scope_[s].module) {
            return false;
        }
        const auto& scope = table_.scopes[s];
        const auto again = table_.find(scope.parent, std::string(scope.instance()) + "_1");
        const auto count = calls(module);
        const bool misses =
            count != no_id && scope.counted()->second < count && scopes_of(module) < count;
        return again == no_id ? misses
                              : (misses || count == no_id) && repeats_shared(table_, s, again);
    }

    /// Returns: the number of scopes with operators that stand for a module.
    /// Complexity: O(scopes) for the first.
    [[nodiscard]] id scopes_of(id module) {
        for (id s = 0; !counted_ && s < table_.scopes.size(); ++s) {
            scopes_of_[of_scope_[s].module] += table_.scopes[s].operators > 0 ? 1U : 0U;
        }
        counted_ = true;
        return scopes_of_[module];
    }

    /// Gives the operators in scope `s` that are like those in scope `first` to `module`, if there
    /// are just as many, and others are left.
    void part(id first, id s, const scope_module& module,
              std::unordered_map<id, scope_module>& parted) const {
        std::vector<std::string_view> types;
        std::vector<std::string_view> present;
        std::vector<operator_t<Ops>> alike;
        bool reads = false;
        const auto reads_parameter = [&](const operator_t<Ops>& v) {
            ops_.for_each_parameter(v, [&](id) { reads = true; });
        };
        for (const auto& v : operators_.at(first)) {
            types.push_back(ops_.op_type(v));
            reads_parameter(v);
        }
        std::sort(types.begin(), types.end());
        for (const auto& v : operators_.at(s)) {
            if (std::binary_search(types.begin(), types.end(), std::string_view(ops_.op_type(v)))) {
                present.push_back(ops_.op_type(v));
                alike.push_back(v);
                reads_parameter(v);
            }
        }
        std::sort(present.begin(), present.end());
        if (!reads && present == types && alike.size() < operators_.at(s).size()) {
            for (const auto& v : alike) {
                parted.emplace(static_cast<id>(index_of(ops_.graph(), v)), module);
            }
        }
    }

    const Ops& ops_;
    const scope_table& table_;
    const std::vector<scope_module>& of_scope_;
    std::vector<bool> has_inside_; // by scope: others
    bool counted_ = false;
    std::unordered_map<id, id> scopes_of_;                           // by module, once counted
    std::unordered_map<id, std::vector<operator_t<Ops>>> operators_; // by scope, if needed
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PART_REPEATED_HPP
