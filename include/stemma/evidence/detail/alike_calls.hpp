// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_ALIKE_CALLS_HPP
#define STEMMA_EVIDENCE_DETAIL_ALIKE_CALLS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/vertex_ranges.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/prints_as.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
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
struct known_modules : printed_tree<Modules> {
    const module_lookup<Modules>& lookup;

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
        , settled_(std::move(known))
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
        while (settle_all(only_one) || settle_all(best_one)) {
        }
    }

private:
    using votes = std::map<id, std::size_t>; // by module

    /// Which scopes settle: those with only one candidate, or those with a best one.
    enum how_to_settle : std::uint8_t { only_one, best_one };

    static constexpr std::uint8_t max_tries = 32; // for each scope, in either way

    /// Returns: the module or the nearest one around it that prints as scope `s`; else `no_id`.
    [[nodiscard]] id printing_as(id m, id s) const {
        while (m != 0 && m != no_id && !may_print(tree_, m, table_.scopes[s].instance())) {
            m = tree_.parent(m);
        }
        return m == 0 ? no_id : m;
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

    /// Finds the scopes that stand for several modules, by the parameters below them.
    /// Returns: whether there are any.
    bool find_instances() {
        std::vector<id> first(table_.scopes.size(), no_id); // module of each, met first
        bool any = false;
        instances_.resize(table_.scopes.size());
        for (id t = scope_style_count; t < table_.scopes.size(); ++t) {
            if (!settled_[t] || table_.scopes[t].style != scope_style::called) {
                continue;
            }
            auto m = printing_as(of_scope_[t].module, t);
            for (auto s = table_.scopes[t].parent; m != no_id && s >= scope_style_count;
                 s = table_.scopes[s].parent) {
                m = printing_as(tree_.parent(m), s);
                if (m == no_id || m == first[s]) {
                    break; // from here on as before
                }
                if (first[s] == no_id) {
                    first[s] = m;
                } else {
                    any = true;
                    instances_[s].push_back(m);
                }
            }
        }
        for (id s = 0; any && s < instances_.size(); ++s) {
            if (!instances_[s].empty()) {
                instances_[s].push_back(first[s]);
                instances_[s] = range::each_once(std::move(instances_[s]));
            }
        }
        return any;
    }

    [[nodiscard]] bool is_shared(id s) const { return instances_[s].size() > 1; }

    /// Whether a module is one of those that a scope stands for.
    [[nodiscard]] bool may_be(id s, id m) const {
        return std::binary_search(instances_[s].begin(), instances_[s].end(), m);
    }

    /// Returns: the nearest scope around `s` that stands for several modules; `no_id` for none.
    [[nodiscard]] id shared_around(id s) const {
        do {
            s = table_.scopes[s].parent;
        } while (s != no_id && s >= scope_style_count && !is_shared(s));
        return s != no_id && s >= scope_style_count ? s : no_id;
    }

    [[nodiscard]] bool is_open(id s) const {
        return s != no_id && s >= scope_style_count && !settled_[s] &&
               table_.scopes[s].style == scope_style::called && of_scope_[s].module != no_id &&
               (is_shared(base_[s]) || shared_around(s) != no_id);
    }

    /// What was called in such a scope was called by the module that owns it, not by another one
    /// that prints like that.
    void drop_callers() {
        for (id s = scope_style_count; s < table_.scopes.size(); ++s) {
            const auto around = table_.scopes[s].parent;
            auto& caller = of_scope_[s].caller;
            if (settled_[s] && is_shared(around) && may_be(around, caller)) {
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
            const auto place = static_cast<id>(inner_first_.size());
            place_of_.emplace(s, place);
            open_[only_one].insert(place);
            open_[best_one].insert(place);
            inner_first_.push_back(s);
        }
        tries_[only_one].resize(inner_first_.size(), 0);
        tries_[best_one].resize(inner_first_.size(), 0);
    }

    /// Notes that what was found out about a scope may have changed.
    void reopen(id s) {
        const auto entry = place_of_.find(s);
        if (entry == place_of_.end() || settled_[s]) {
            return;
        }
        for (const auto how : {only_one, best_one}) {
            if (tries_[how][entry->second] < max_tries) {
                open_[how].insert(entry->second);
            }
        }
    }

    /// Returns: modules for which scope `outer` may stand in the call of `s`, with the number of
    /// values exchanged with what they call or, if `s` is inside, compute.
    [[nodiscard]] votes vote(id s, id outer) {
        votes result;
        for (const auto& [t, number] : exchanges_[s]) {
            const bool is_call = base_[t] == outer && base_[s] != outer;
            if (!settled_[t] || (!is_call && (t == outer || !is_inside(t, outer)))) {
                continue;
            }
            const auto m = climb(of_scope_[t].module, t, is_call ? t : outer);
            if (may_be(outer, m) && used_[{base_[s], m}] < most_[base_[s]]) {
                result[m] += number;
            }
        }
        return result;
    }

    /// Settles scopes about which something new is known; inner ones first, as what runs last in a
    /// call also exchanges values with the next call. Returns: whether there were any.
    bool settle_all(how_to_settle how) {
        bool any = false;
        auto& open = open_[how];
        for (auto at = open.begin(); at != open.end();) {
            const auto place = *at;
            open.erase(at);
            ++tries_[how][place];
            const auto s = inner_first_[place];
            any = (!settled_[s] && settle(s, how)) || any;
            at = open.upper_bound(place);
        }
        return any;
    }

    /// Whether a scope exchanges values with open ones that it calls.
    [[nodiscard]] bool waits(id s) const {
        const auto& others = exchanges_.at(s);
        return std::any_of(others.begin(), others.end(), [&](const auto& entry) {
            const auto t = entry.first;
            return !settled_[t] && base_[t] != base_[s] && is_inside(t, base_[s]);
        });
    }

    bool settle(id s, how_to_settle how) {
        auto outer = is_shared(base_[s]) ? base_[s] : shared_around(s);
        auto all = vote(s, outer);
        if (all.empty() && outer == base_[s]) {
            outer = shared_around(s);
            all = outer == no_id ? votes() : vote(s, outer);
        }
        id best = no_id;
        bool tied = false;
        for (const auto& [m, number] : all) {
            asking_[{base_[s], m}].push_back(s);
            tied = best != no_id && number == all[best];
            best = best == no_id || number > all[best] ? m : best;
        }
        if (best == no_id || tied || (how == only_one && (all.size() > 1 || waits(s)))) {
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
        settled_[s] = true;
        for (const auto& [t, number] : exchanges_[s]) {
            reopen(t);
        }
        const std::pair candidate(base_[s], best);
        if (++used_[candidate] == most_[base_[s]]) {
            for (const auto t : std::exchange(asking_[candidate], {})) {
                reopen(t);
            }
        }
        return true;
    }

    /// Returns: what `s` stands for if `outer` stands for `around` instead; `no_id` if unknown.
    [[nodiscard]] id moved(id module, id s, id outer, id around) {
        const auto before = climb(module, s, outer);
        if (before == no_id || before == around) {
            return before == no_id ? no_id : module;
        }
        return tree_.below(around, path_between(tree_, before, module));
    }

    const Ops& ops_;
    const scope_table& table_;
    Tree& tree_;
    std::vector<scope_module>& of_scope_;
    std::vector<bool> settled_; // by scope
    std::vector<id> base_;      // by scope: the one beside it without a number
    bool any_numbered_ = false;
    std::vector<std::vector<id>> instances_;              // by scope: its modules, if several
    std::map<id, std::map<id, std::size_t>> exchanges_;   // by open scope and other scope
    std::vector<id> inner_first_;                         // open scopes
    std::unordered_map<id, id> place_of_;                 // there
    std::array<std::set<id>, 2> open_;                    // places to look at, by how to settle
    std::array<std::vector<std::uint8_t>, 2> tries_;      // by place, likewise
    std::map<std::pair<id, id>, std::vector<id>> asking_; // scopes that may be of a module, by base
    std::map<id, std::size_t> most_;                      // by base: scopes of one module
    std::map<std::pair<id, id>, std::size_t> used_;       // by base and module: settled scopes
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_ALIKE_CALLS_HPP
