// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_ALIKE_CALLS_HPP
#define STEMMA_EVIDENCE_DETAIL_ALIKE_CALLS_HPP

#include <stemma/core/detail/vertex_ranges.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/detail/class_path_namer.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Modules of a tree that is being built, for `alike_calls`.
struct growing_modules {
    module_tree_builder& builder;

    [[nodiscard]] id parent(id m) const { return builder.parent(m); }
    [[nodiscard]] std::string_view name(id m) const { return builder.name(m); }
    [[nodiscard]] id below(id m, std::string_view path) { return builder.at_path(path, m); }
};

/// Modules of a tree that has all of them, likewise.
template <module_view Modules>
struct known_modules {
    const Modules& modules;
    const module_lookup<Modules>& lookup;

    [[nodiscard]] id parent(id m) const { return modules.index().parent(m); }
    [[nodiscard]] std::string_view name(id m) const { return modules.name(m); }
    [[nodiscard]] id below(id m, std::string_view path) const {
        return find_module(lookup, path, m);
    }
};

/// Tells modules that print alike apart where their scopes read no parameters.
///
/// `/block.0`, `/block.0_1` may be `a.block.0` and `b.block.0`, called in any order, and what both
/// call is in scopes below `/block.0`, with numbers of its own. A scope exchanges values with what
/// runs in the same call: it belongs to the module whose parameters are read there.
///
/// `Tree` has `parent(m)`, `name(m)`, and `below(m, path)`, which may add the module, or returns
/// `no_id` if it does not exist.
template <named_operators Ops, class Tree>
class alike_calls {
public:
    /// `known` says for each scope whether parameters show its module. Requires: all arguments
    /// outlive this. Complexity: O(scopes) expected.
    alike_calls(const Ops& ops, const scope_table& table, Tree& tree,
                std::vector<scope_module>& of_scope, std::vector<bool> known)
        : ops_(ops)
        , table_(table)
        , tree_(tree)
        , of_scope_(of_scope)
        , known_(std::move(known))
        , base_(table.scopes.size()) {
        for (id s = 0; s < table.scopes.size(); ++s) {
            const auto first = s < scope_style_count ? no_id : unnumbered_scope(table, s);
            base_[s] = first == no_id ? s : first;
            any_numbered_ = any_numbered_ || first != no_id;
        }
    }

    /// Changes the modules of such scopes. Complexity: O(scopes * depth), and O(operators + edges)
    /// if there are any.
    void run() {
        if (!any_numbered_ || !find_instances()) {
            return;
        }
        drop_callers();
        collect_exchanges();
        count_calls();
        order_inner_first();
        while (settle_all(false) || settle_all(true)) {
        }
    }

private:
    using votes = std::map<id, std::size_t>; // by module

    /// Returns: the module or the nearest one around it that prints as scope `s`; else `no_id`.
    [[nodiscard]] id printing_as(id m, id s) const {
        const auto segment = table_.scopes[s].instance();
        const auto counted = split_count(segment);
        for (; m != 0 && m != no_id; m = tree_.parent(m)) {
            if (prints_as(m, segment) || (counted && prints_as(m, counted->first))) {
                return m;
            }
        }
        return no_id;
    }

    [[nodiscard]] bool prints_as(id m, std::string_view segment) const {
        for (; m != 0; m = tree_.parent(m)) {
            const std::string_view name = tree_.name(m);
            if (!segment.ends_with(name)) {
                return false;
            }
            segment.remove_suffix(name.size());
            if (!is_number(name) || tree_.parent(m) == 0) {
                break;
            }
            if (!segment.ends_with('.')) {
                return false;
            }
            segment.remove_suffix(1);
        }
        return segment.empty();
    }

    /// Returns: what scope `outer`, which is `s` or around it, stands for if `s` stands for `m`;
    /// `no_id` if that does not print so.
    [[nodiscard]] id climb(id m, id s, id outer) const {
        for (;; s = table_.scopes[s].parent) {
            m = printing_as(m, s);
            if (m == no_id || s == outer) {
                return m;
            }
            m = tree_.parent(m);
        }
    }

    [[nodiscard]] bool is_inside(id s, id outer) const {
        while (s != no_id && s != outer) {
            s = table_.scopes[s].parent;
        }
        return s != no_id;
    }

    /// Finds the modules that each scope stands for, by the parameters below it.
    /// Returns: whether any stands for several.
    bool find_instances() {
        bool any = false;
        instances_.resize(table_.scopes.size());
        for (id t = scope_style_count; t < table_.scopes.size(); ++t) {
            if (!known_[t] || table_.scopes[t].style != scope_style::called) {
                continue;
            }
            auto m = printing_as(of_scope_[t].module, t);
            for (auto s = table_.scopes[t].parent; m != no_id && s >= scope_style_count;
                 s = table_.scopes[s].parent) {
                m = printing_as(tree_.parent(m), s);
                auto& all = instances_[s];
                if (m != no_id && std::find(all.begin(), all.end(), m) == all.end()) {
                    all.push_back(m);
                    any = any || all.size() > 1;
                }
            }
        }
        return any;
    }

    [[nodiscard]] bool is_shared(id s) const { return instances_[s].size() > 1; }

    /// Returns: the nearest scope around `s` that stands for several modules; `no_id` for none.
    [[nodiscard]] id shared_around(id s) const {
        do {
            s = table_.scopes[s].parent;
        } while (s != no_id && s >= scope_style_count && !is_shared(s));
        return s != no_id && s >= scope_style_count ? s : no_id;
    }

    [[nodiscard]] bool is_open(id s) const {
        return s != no_id && s >= scope_style_count && !known_[s] &&
               table_.scopes[s].style == scope_style::called && of_scope_[s].module != no_id &&
               (is_shared(base_[s]) || shared_around(s) != no_id);
    }

    /// What was called in such a scope was called by the module that owns it, not by another one
    /// that prints like that.
    void drop_callers() {
        for (id s = scope_style_count; s < table_.scopes.size(); ++s) {
            const auto& around = instances_[table_.scopes[s].parent];
            auto& caller = of_scope_[s].caller;
            if (known_[s] && around.size() > 1 &&
                std::find(around.begin(), around.end(), caller) != around.end()) {
                caller = no_id;
            }
        }
    }

    /// Counts the values that open scopes exchange with others. Constants may be shared by equals.
    void collect_exchanges() {
        const auto& graph = ops_.graph();
        const auto scope_at = [&](const operator_t<Ops>& v) {
            return std::string_view(ops_.op_type(v)) == "Constant"
                       ? no_id
                       : table_.scope_of[index_of(graph, v)];
        };
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            const auto s = scope_at(*it);
            if (s == no_id) {
                continue;
            }
            for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
                const auto t = scope_at(source(*in, graph));
                if (t == no_id || t == s) {
                    continue;
                }
                for (const auto& [open, other] : {std::pair(s, t), std::pair(t, s)}) {
                    if (is_open(open)) {
                        ++exchanges_[open][other];
                    }
                }
            }
        }
    }

    /// Bounds the number of scopes of each module where equally many are expected.
    void count_calls() {
        std::map<id, std::size_t> count; // by base
        for (const auto& [s, others] : exchanges_) {
            ++count[base_[s]];
        }
        for (const auto& [base, number] : count) {
            const auto outer = is_shared(base) ? base : shared_around(base);
            const auto modules = instances_[outer].size();
            most_[base] = (number + modules - 1) / modules;
        }
    }

    void order_inner_first() {
        std::vector<std::pair<std::size_t, id>> by_depth;
        for (const auto& [s, others] : exchanges_) {
            std::size_t depth = 0;
            for (auto around = s; around != no_id; around = table_.scopes[around].parent) {
                ++depth;
            }
            by_depth.emplace_back(depth, s);
        }
        std::stable_sort(by_depth.begin(), by_depth.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        for (const auto& [depth, s] : by_depth) {
            inner_first_.push_back(s);
        }
    }

    /// Returns: modules for which scope `outer` may stand in the call of `s`, with the number of
    /// values exchanged with what they call or, if `s` is inside, compute.
    [[nodiscard]] votes vote(id s, id outer) {
        votes result;
        for (const auto& [t, number] : exchanges_[s]) {
            const bool is_call = base_[t] == outer && base_[s] != outer;
            if (!known_[t] || (!is_call && (t == outer || !is_inside(t, outer)))) {
                continue;
            }
            const auto m = climb(of_scope_[t].module, t, is_call ? t : outer);
            const auto& all = instances_[outer];
            if (std::find(all.begin(), all.end(), m) != all.end() &&
                used_[{base_[s], m}] < most_[base_[s]]) {
                result[m] += number;
            }
        }
        return result;
    }

    /// Settles scopes with only one candidate, or `by_number` those with a best one; inner ones
    /// first, as what runs last in a call also exchanges values with the next call.
    /// Returns: whether there were any.
    bool settle_all(bool by_number) {
        bool any = false;
        for (const auto s : inner_first_) {
            any = (!known_[s] && settle(s, by_number)) || any;
        }
        return any;
    }

    /// Whether a scope exchanges values with open ones that it calls.
    [[nodiscard]] bool waits(id s) const {
        const auto& others = exchanges_.at(s);
        return std::any_of(others.begin(), others.end(), [&](const auto& entry) {
            const auto t = entry.first;
            return !known_[t] && base_[t] != base_[s] && is_inside(t, base_[s]);
        });
    }

    bool settle(id s, bool by_number) {
        auto outer = is_shared(base_[s]) ? base_[s] : shared_around(s);
        auto all = vote(s, outer);
        if (all.empty() && outer == base_[s]) {
            outer = shared_around(s);
            all = outer == no_id ? votes() : vote(s, outer);
        }
        id best = no_id;
        bool tied = false;
        for (const auto& [m, number] : all) {
            tied = best != no_id && number == all[best];
            best = best == no_id || number > all[best] ? m : best;
        }
        if (best == no_id || tied || (!by_number && (all.size() > 1 || waits(s)))) {
            return false;
        }
        auto& place = of_scope_[s];
        const auto module = outer == base_[s] ? best : moved(place.module, s, outer, best);
        if (module == no_id) {
            return false;
        }
        place = module == place.module
                    ? scope_module{module, no_id, no_id,
                                   std::max(place.confidence, confidence::scope_nth)}
                    : scope_module{module, no_id, no_id, confidence::scope_nth};
        known_[s] = true;
        ++used_[{base_[s], best}];
        return true;
    }

    /// Returns: what `s` stands for if `outer` stands for `around` instead; `no_id` if unknown.
    [[nodiscard]] id moved(id module, id s, id outer, id around) {
        const auto before = climb(module, s, outer);
        if (before == no_id || before == around) {
            return before == no_id ? no_id : module;
        }
        std::string path;
        for (auto m = module; m != before; m = tree_.parent(m)) {
            path.insert(0, path.empty() ? "" : ".").insert(0, tree_.name(m));
        }
        return tree_.below(around, path);
    }

    const Ops& ops_;
    const scope_table& table_;
    Tree& tree_;
    std::vector<scope_module>& of_scope_;
    std::vector<bool> known_; // by scope
    std::vector<id> base_;    // by scope: the one beside it without a number
    bool any_numbered_ = false;
    std::vector<std::vector<id>> instances_;            // by scope: modules
    std::map<id, std::map<id, std::size_t>> exchanges_; // by open scope and other scope
    std::vector<id> inner_first_;                       // open scopes
    std::map<id, std::size_t> most_;                    // by base: scopes of one module
    std::map<std::pair<id, id>, std::size_t> used_;     // by base and module: settled scopes
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_ALIKE_CALLS_HPP
