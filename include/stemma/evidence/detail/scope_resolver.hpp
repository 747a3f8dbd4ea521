// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_RESOLVER_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_RESOLVER_HPP

#include <stemma/core/detail/made_once.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scope_witness.hpp>
#include <stemma/evidence/detail/segment_modules.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/detail/class_path_namer.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Which module a scope stands for.
struct scope_module {
    id module = no_id; ///< `no_id` if unknown
    id call = no_id;   ///< which of the module's scopes, ordered by first operator
    id caller = no_id; ///< module of the enclosing scope, if not an ancestor
    float confidence = 0;
};

/// The modules of all scopes, and of individual operators that share a scope with another module's.
struct scope_modules {
    std::vector<scope_module> of_scope;               ///< by number of the scope in the scope_table
    std::unordered_map<id, scope_module> of_operator; ///< by vertex index; overrides the scope's

    /// Returns: the module of the operator at vertex index `v` in scope `scope`.
    [[nodiscard]] const scope_module& of(id v, id scope) const {
        const auto own = of_operator.empty() ? of_operator.end() : of_operator.find(v);
        return own == of_operator.end() ? of_scope[scope] : own->second;
    }
};

/// Binds scopes to the modules of a tree.
///
/// A segment of style `called` is what a module prints as, see `segment_modules`. A repeated scope
/// has the suffix `_1`, `_2`; so may a real name.
///
/// What a scope resolves to depends only on its neighbours, some of which the resolver keeps.
/// Copies share what is the same for all scopes, so every thread may have its own.
template <module_view Modules>
class scope_resolver {
public:
    /// `complete`: whether the tree has all modules, also those without parameters. `weighted()`
    /// returns by scope whether its own operators read a weight without a name, `weights()` all
    /// that they read, ascending; each is called once, if it matters.
    scope_resolver(const scope_table& table, const Modules& modules,
                   std::vector<common_module> witness, bool complete = true,
                   std::function<std::vector<bool>()> weighted = {},
                   std::function<std::vector<std::vector<id>>()> weights = {})
        : table_(table)
        , modules_(modules)
        , tree_(modules.index())
        , shared_(std::make_shared<shared_facts>(table, modules, complete, std::move(witness),
                                                 std::move(weighted), std::move(weights)))
        , segments_(shared_->segments) {}

    /// Resolves scope `s` whose enclosing scope stands for `around`.
    [[nodiscard]] scope_module resolve(id s, id around) {
        const auto segment = table_.scopes[s].instance();
        const auto deep = shared_->witness[s].get(tree_);
        if (segment.empty() && table_.scopes[s].style == scope_style::typed) {
            return found(around, around, deep, confidence::scope); // the root, as a module
        }
        if (table_.scopes[s].style == scope_style::relative) {
            const auto module = find_module(segments_.lookup(), segment, around);
            return found(module, around, deep, confidence::scope);
        }
        if (table_.scopes[s].style == scope_style::typed) {
            // Some recorders write full paths.
            const auto full = find_module(segments_.lookup(), segment);
            if (full != no_id && full != around && tree_.is_ancestor(around, full)) {
                return found(full, around, deep, confidence::scope_read);
            }
        }
        const auto inside = table_.scopes[s].parent;
        auto plain = segments_.below(inside, around, segment);
        note_alternatives(s, around, plain);
        if (deep == no_id && plain.size() > 1) {
            if (const auto fit = fit_by_weights(s, segment, candidates_in(inside, around, segment));
                fit != no_id) {
                return found(fit, around, deep, confidence::scope_nth);
            }
        }
        if (auto fit = best_fit(plain, deep); fit != no_id && agrees(fit, deep)) {
            return found(fit, around, deep, confidence::scope);
        }
        const auto alias = segments_.aliased(around, segment);
        if (alias != no_id && agrees(alias, deep)) {
            return found(alias, around, deep, confidence::scope);
        }
        if (plain.empty() && segments_.calls_known() && alternatives_.contains(inside)) {
            // Of several modules that print like the enclosing scope, one calls such a module.
            const auto calls = candidates_in(inside, around, segment);
            if (calls.size() == 1 && agrees(calls.front(), deep)) {
                return found(calls.front(), calls.front(), deep, confidence::scope_nth);
            }
        }
        scope_module repeated;
        if (const auto counted = split_count(segment)) {
            repeated = repeated_call(s, around, counted->first, counted->second, deep);
            if (repeated.module != no_id && agrees(repeated.module, deep)) {
                return repeated;
            }
            const auto again = segments_.aliased(around, counted->first);
            if (again != no_id && agrees(again, deep)) {
                return found(again, around, deep, confidence::scope_call);
            }
        }
        // It may have run here, though not where calls were counted; or one of several that ran
        // did.
        const auto uncounted = plain.empty() && segments_.calls_known()
                                   ? uncounted_in(inside, around, segment)
                                   : std::vector<id>();
        if (const auto elsewhere = from_elsewhere(segment, deep);
            elsewhere != no_id &&
            (deep != no_id || uncounted.empty() || !segments_.ran_in_place(elsewhere, inside))) {
            return found(elsewhere, around, deep, confidence::scope_elsewhere);
        }
        if (repeated.module != no_id && plain.empty()) {
            return repeated;
        }
        if (auto fit = best_fit(uncounted, deep); fit != no_id && agrees(fit, deep)) {
            return found(fit, around, deep,
                         segments_.may_have_run(segment) ? confidence::scope_unfit
                                                         : confidence::scope_elsewhere);
        }
        plain = plain.empty() ? uncounted : plain;
        return found(plain.empty() ? no_id : plain.front(), around, deep, confidence::scope_unfit);
    }

    /// Resolves scope `s` whose enclosing scope stands for no known module.
    [[nodiscard]] scope_module resolve_alone(id s) {
        const auto deep = shared_->witness[s].get(tree_);
        const auto module =
            deep == no_id ? no_id : from_elsewhere(table_.scopes[s].instance(), deep);
        return found(module, module, no_id, confidence::scope_elsewhere);
    }

    /// Returns: how often a module was called; `no_id` if unknown.
    [[nodiscard]] id calls(id m) const { return segments_.calls(m); }

    /// Whether the parameters read in two scopes, and below them, point to the same modules.
    [[nodiscard]] bool read_alike(id s, id t) const {
        const auto& [a, b] = std::pair(shared_->witness[s], shared_->witness[t]);
        return a.low == b.low && a.behind == b.behind;
    }

    /// Returns: for each scope whether the parameters read in it, and below it, are those of its
    /// module in `of_scope`, or of modules inside.
    [[nodiscard]] std::vector<bool> read_in(const std::vector<scope_module>& of_scope) const {
        std::vector<bool> result(of_scope.size(), false);
        for (id s = 0; s < of_scope.size(); ++s) {
            const auto deep = shared_->witness[s].get(tree_);
            const auto module = of_scope[s].module;
            result[s] = deep != no_id && module != no_id && tree_.is_ancestor(module, deep);
        }
        return result;
    }

    /// Returns: the modules by path.
    [[nodiscard]] const module_lookup<Modules>& lookup() const noexcept {
        return segments_.lookup();
    }

    /// Whether `module` could print as the segment of scope `s` below `around`.
    [[nodiscard]] bool could_print(id s, id around, id module) const {
        return tree_.is_ancestor(around, module) &&
               segments_.may_print(module, table_.scopes[s].instance());
    }

private:
    struct shared_facts {
        shared_facts(const scope_table& table, const Modules& modules, bool complete,
                     std::vector<common_module> seen,
                     std::function<std::vector<bool>()> find_weighted,
                     std::function<std::vector<std::vector<id>>()> find_read)
            : segments(table, modules, complete)
            , witness(std::move(seen))
            , weighted(std::move(find_weighted))
            , find_weights(std::move(find_read)) {}

        segment_modules<Modules> segments;
        std::vector<common_module> witness; // by scope
        weighted_scopes weighted;
        std::function<std::vector<std::vector<id>>()> find_weights;
        made_once<std::vector<std::vector<id>>> weights;
    };

    /// Whether the operators of two scopes read weights, but none in common.
    [[nodiscard]] bool read_different_weights(id s, id t) const {
        if (!shared_->find_weights) {
            return false;
        }
        const auto& weights = shared_->weights.get(shared_->find_weights);
        return !weights[s].empty() && !weights[t].empty() &&
               std::none_of(weights[s].begin(), weights[s].end(), [&](id weight) {
                   return std::binary_search(weights[t].begin(), weights[t].end(), weight);
               });
    }

    [[nodiscard]] bool agrees(id module, id deep) const {
        return deep == no_id || tree_.are_related(module, deep);
    }

    [[nodiscard]] scope_module found(id module, id around, id deep, float sureness) const {
        if (module == no_id) {
            return {};
        }
        if (deep != no_id && tree_.is_ancestor(module, deep)) {
            sureness = std::max(sureness, confidence::scope_read);
        }
        return {module, no_id, tree_.is_ancestor(around, module) ? no_id : around, sureness};
    }

    /// The modules that a call prints as `segment` in scope `s`. If several modules print like `s`,
    /// their calls are numbered consecutively.
    [[nodiscard]] std::vector<id> candidates_in(id s, id around, std::string_view segment) {
        const auto entry = alternatives_.find(s);
        if (entry == alternatives_.end() ||
            std::find(entry->second.begin(), entry->second.end(), around) == entry->second.end()) {
            return segments_.below(s, around, segment);
        }
        std::vector<id> fits;
        for (auto module : entry->second) {
            for (auto m : segments_.below(s, module, segment)) {
                if (fits.size() < segments_.max_candidates &&
                    std::find(fits.begin(), fits.end(), m) == fits.end()) {
                    fits.push_back(m);
                }
            }
        }
        return fits;
    }

    void note_alternatives(id s, id around, const std::vector<id>& plain) {
        const auto parent = table_.scopes[s].parent;
        if (alternatives_.contains(parent)) {
            auto all = candidates_in(parent, around, table_.scopes[s].instance());
            if (all.size() > 1) {
                alternatives_.emplace(s, std::move(all));
            }
        } else if (plain.size() > 1) {
            alternatives_.emplace(s, plain);
        }
    }

    /// The candidate that contains what the parameters point to, else the first.
    [[nodiscard]] id best_fit(const std::vector<id>& fits, id deep) const {
        if (deep != no_id) {
            for (auto m : fits) {
                if (tree_.is_ancestor(m, deep)) {
                    return m;
                }
            }
        }
        return fits.empty() ? no_id : fits.front();
    }

    /// Returns: as `find_by_weights`, for scope `s`.
    [[nodiscard]] id fit_by_weights(id s, std::string_view stem,
                                    const std::vector<id>& fits) const {
        return find_by_weights(
            table_, s, stem, fits, shared_->weighted,
            [&](id m) { return segments_.calls(m) == no_id ? 1 : segments_.calls(m); },
            [&](id m) { return owns_parameters(modules_, m); });
    }

    [[nodiscard]] scope_module repeated_call(id s, id around, std::string_view stem,
                                             std::size_t count, id deep) {
        const auto parent = table_.scopes[s].parent;
        const auto first = table_.find(parent, stem);
        auto [entry, added] = stems_.try_emplace({parent, stem});
        if (added) {
            entry->second = candidates_in(parent, around, stem);
        }
        const auto& fits = entry->second;
        if (fits.empty()) {
            return {};
        }
        const bool parted = alternatives_.contains(parent); // then another one may have called
        const auto caller = [&](id m) { return parted ? m : around; };
        const auto fit = best_fit(fits, deep);
        if (deep != no_id && tree_.is_ancestor(fit, deep)) {
            return found(fit, caller(fit), deep, confidence::scope);
        }
        if (const auto own = deep == no_id ? fit_by_weights(s, stem, fits) : no_id; own != no_id) {
            return found(own, caller(own), deep, confidence::scope_nth);
        }
        if (segments_.calls_known()) {
            // Scopes that print alike are numbered consecutively: first all calls of one module ...
            const bool one = fits.size() == 1;
            for (auto m : fits) {
                const auto times = segments_.calls(m) == no_id ? count + 1 : segments_.calls(m);
                if (count < times) {
                    return found(m, caller(m), deep,
                                 one ? confidence::scope_call : confidence::scope_nth);
                }
                count -= times;
            }
            return found(fit, caller(fit), deep, confidence::scope_unfit);
        }
        if (count < fits.size()) {
            return found(fits[count], caller(fits[count]), deep, confidence::scope_numbered);
        }
        const bool alike = first != no_id && table_.scopes[first].operators > 0 &&
                           table_.scopes[first].kinds == table_.scopes[s].kinds &&
                           !read_different_weights(first, s);
        return alike ? found(fit, caller(fit), deep, confidence::scope_numbered) : scope_module{};
    }

    /// The modules that print as `segment`, or as it without a number for further calls, even if
    /// no call of theirs was counted.
    [[nodiscard]] std::vector<id> uncounted_in(id s, id around, std::string_view segment) const {
        auto fits = segments_.below(s, around, segment, true);
        if (const auto counted = split_count(segment); counted && fits.empty()) {
            fits = segments_.below(s, around, counted->first, true);
        }
        return fits;
    }

    /// A module owned elsewhere and called by the enclosing one: by what the parameters point to,
    /// or as the only one with its name.
    [[nodiscard]] id from_elsewhere(std::string_view segment, id deep) {
        if (deep != no_id) {
            for (auto m = deep; m != 0; m = tree_.parent(m)) {
                if (segments_.may_print(m, segment)) {
                    return m;
                }
            }
            return no_id;
        }
        if (!segments_.calls_known()) {
            return no_id;
        }
        const auto counted = split_count(segment);
        id only = no_id;
        for (const auto stem : {segment, counted ? counted->first : segment}) {
            for (auto m : segments_.printing_as(stem)) {
                if (segments_.prints_as(m, stem) && segments_.calls(m) != 0 && m != only) {
                    if (only != no_id) {
                        return no_id;
                    }
                    only = m;
                }
            }
        }
        return only;
    }

    const scope_table& table_;
    const Modules& modules_;
    const tree_index& tree_;
    std::shared_ptr<shared_facts> shared_;
    const segment_modules<Modules>& segments_; // shared
    std::map<std::pair<id, std::string_view>, std::vector<id>> stems_;
    std::unordered_map<id, std::vector<id>> alternatives_; // by scope: modules that print like it
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_RESOLVER_HPP
