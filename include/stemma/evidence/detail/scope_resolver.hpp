// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_RESOLVER_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_RESOLVER_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/printed_modules.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scope_witness.hpp>
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
#include <mutex>
#include <optional>
#include <span>
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

/// Binds scopes to the modules of a tree.
///
/// A segment of style `called` is the part of a module's path from its last non-numeric name.
/// Modules that never run have no scope, so a segment may lead several levels down. A repeated
/// scope has the suffix `_1`, `_2`; so may a real name.
///
/// What a scope resolves to depends only on its neighbours, some of which the resolver keeps.
/// Copies share what is the same for all scopes, so every thread may have its own.
template <module_view Modules>
class scope_resolver {
public:
    /// `complete`: whether the tree has all modules, also those without parameters. `weighted()`
    /// returns by scope whether its own operators read a weight without a name; called once, if it
    /// matters.
    scope_resolver(const scope_table& table, const Modules& modules,
                   std::vector<scope_witness> witness, bool complete = true,
                   std::function<std::vector<bool>()> weighted = {})
        : table_(table)
        , modules_(modules)
        , tree_(modules.index())
        , shared_(std::make_shared<shared_facts>(modules, std::move(witness), std::move(weighted)))
        , complete_(complete) {
        if constexpr (counts_calls<Modules>) {
            for (id m = 0; m < tree_.size() && !calls_known_; ++m) {
                calls_known_ = modules.calls(m) != no_id;
            }
        }
    }

    /// Resolves scope `s` whose enclosing scope stands for `around`.
    [[nodiscard]] scope_module resolve(id s, id around) {
        const auto segment = table_.scopes[s].instance();
        const auto deep = shared_->witness[s].deep.get(tree_);
        if (segment.empty() && table_.scopes[s].style == scope_style::typed) {
            return found(around, around, deep, confidence::scope); // the root, as a module
        }
        if (table_.scopes[s].style == scope_style::relative) {
            const auto module = find_module(shared_->lookup, segment, around);
            return found(module, around, deep, confidence::scope);
        }
        if (table_.scopes[s].style == scope_style::typed) {
            // Some recorders write full paths.
            const auto full = find_module(shared_->lookup, segment);
            if (full != no_id && full != around && tree_.is_ancestor(around, full)) {
                return found(full, around, deep, confidence::scope_read);
            }
        }
        const auto inside = table_.scopes[s].parent;
        auto plain = candidates(inside, around, segment);
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
        if (const auto counted = split_count(segment)) {
            const auto repeated = repeated_call(s, around, counted->first, counted->second, deep);
            if (repeated.module != no_id && (plain.empty() || agrees(repeated.module, deep))) {
                return repeated;
            }
        }
        if (const auto elsewhere = from_elsewhere(segment, deep); elsewhere != no_id) {
            return found(elsewhere, around, deep, confidence::scope_elsewhere);
        }
        if (plain.empty() && calls_known_) {
            // It ran here, though not where calls were counted.
            plain = candidates(inside, around, segment, true);
            if (auto fit = best_fit(plain, deep); fit != no_id && agrees(fit, deep)) {
                return found(fit, around, deep, confidence::scope_elsewhere);
            }
        }
        return found(plain.empty() ? no_id : plain.front(), around, deep, confidence::scope_unfit);
    }

    /// Resolves scope `s` whose enclosing scope stands for no known module.
    [[nodiscard]] scope_module resolve_alone(id s) {
        const auto deep = shared_->witness[s].deep.get(tree_);
        const auto module =
            deep == no_id ? no_id : from_elsewhere(table_.scopes[s].instance(), deep);
        return found(module, module, no_id, confidence::scope_elsewhere);
    }

    /// Whether the parameters read in two scopes, and below them, point to the same modules.
    [[nodiscard]] bool read_alike(id s, id t) const {
        const auto& [a, b] = std::pair(shared_->witness[s].deep, shared_->witness[t].deep);
        return a.low == b.low && a.behind == b.behind;
    }

    /// Whether `module` could print as the segment of scope `s` below `around`.
    [[nodiscard]] bool could_print(id s, id around, id module) const {
        const auto segment = table_.scopes[s].instance();
        const auto counted = split_count(segment);
        return tree_.is_ancestor(around, module) &&
               (prints_as(module, segment) || (counted && prints_as(module, counted->first)));
    }

private:
    struct shared_facts {
        shared_facts(const Modules& modules, std::vector<scope_witness> seen,
                     std::function<std::vector<bool>()> find_weighted)
            : lookup(modules), witness(std::move(seen)), weighted(std::move(find_weighted)) {}

        module_lookup<Modules> lookup;
        std::vector<scope_witness> witness; // by scope
        std::once_flag asked;
        std::optional<printed_modules<Modules>> printed; // of all modules, on demand
        weighted_scopes weighted;
    };

    static constexpr std::size_t max_candidates = 64;

    [[nodiscard]] bool agrees(id module, id deep) const {
        return deep == no_id || tree_.are_related(module, deep);
    }

    [[nodiscard]] id calls(id m) const {
        if constexpr (counts_calls<Modules>) {
            return modules_.calls(m);
        }
        return no_id;
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

    /// Whether the path of `m`, from its last non-numeric name, is `segment`.
    [[nodiscard]] bool prints_as(id m, std::string_view segment) const {
        while (m != 0) {
            const std::string_view name = modules_.name(m);
            if (!segment.ends_with(name)) {
                return false;
            }
            segment.remove_suffix(name.size());
            const bool goes_on = is_number(name) && tree_.parent(m) != 0;
            if (!goes_on) {
                return segment.empty();
            }
            if (!segment.ends_with('.')) {
                return false;
            }
            segment.remove_suffix(1);
            m = tree_.parent(m);
        }
        return segment.empty();
    }

    /// Whether everything between `above` and `m` is known not to run, or may not.
    [[nodiscard]] bool reached_without_call(id above, id m) const {
        for (m = tree_.parent(m); m != above; m = tree_.parent(m)) {
            if (calls(m) != no_id && calls(m) != 0) {
                return false;
            }
        }
        return true;
    }

    /// Whether a module between `above` and `m` has a scope of its own in scope `s`, which stands
    /// for `above`.
    [[nodiscard]] bool passes_called(id s, id above, id m) const {
        for (m = tree_.parent(m); m != above; m = tree_.parent(m)) {
            std::string printed(modules_.name(m));
            for (auto n = m; is_number(modules_.name(n)) && tree_.parent(n) != 0;) {
                n = tree_.parent(n);
                printed.insert(0, std::string(modules_.name(n)) + ".");
            }
            if (table_.find(s, printed) != no_id) {
                return true;
            }
        }
        return false;
    }

    /// The modules below `around`, for which scope `s` stands, that a call from there prints as
    /// `segment`, likely ones first; those known never to have run are included only if `uncalled`.
    [[nodiscard]] std::vector<id> candidates(id s, id around, std::string_view segment,
                                             bool uncalled = false) {
        std::vector<id> fits;
        const auto add = [&](id m) {
            if (m != no_id && m != around && (uncalled || calls(m) != 0) && prints_as(m, segment) &&
                reached_without_call(around, m) && (complete_ || !passes_called(s, around, m)) &&
                std::find(fits.begin(), fits.end(), m) == fits.end()) {
                fits.push_back(m);
            }
        };
        // A called Sequential repeats its name: its child 0 is `layer1.0`, not `layer1.layer1.0`.
        const auto digits = segment.find('.');
        if (const auto own = own_segment_length(around, segment); own != 0) {
            add(find_module(shared_->lookup, segment.substr(own + 1), around));
        }
        add(find_module(shared_->lookup, segment, around));
        if (fits.empty() || digits != segment.npos) {
            for (auto m : printed_below(around, segment)) {
                add(m);
            }
        }
        return fits;
    }

    /// Returns: the length of the part of `segment` that `m` itself prints, if the rest are
    /// numbers; else 0.
    [[nodiscard]] std::size_t own_segment_length(id m, std::string_view segment) const {
        if (m == 0) {
            return 0;
        }
        for (auto dot = segment.rfind('.'); dot != segment.npos && dot > 0;
             dot = segment.rfind('.', dot - 1)) {
            if (prints_as(m, segment.substr(0, dot))) {
                return dot;
            }
        }
        return 0;
    }

    /// The modules below `around` that print as `segment` (up to a limit).
    [[nodiscard]] std::vector<id> printed_below(id around, std::string_view segment) {
        const auto all = printing_as(segment);
        auto it = std::upper_bound(all.begin(), all.end(), around);
        std::vector<id> fits;
        for (; it != all.end() && *it < tree_.end(around) && fits.size() < max_candidates; ++it) {
            if (prints_as(*it, segment) && reached_without_call(around, *it)) {
                fits.push_back(*it);
            }
        }
        return fits;
    }

    /// The modules that print as `segment`, possibly with a few others.
    [[nodiscard]] std::span<const id> printing_as(std::string_view segment) const {
        std::call_once(shared_->asked, [&] { shared_->printed.emplace(modules_); });
        return shared_->printed->of(segment);
    }

    /// The modules that a call prints as `segment` in scope `s`. If several modules print like `s`,
    /// their calls are numbered consecutively.
    [[nodiscard]] std::vector<id> candidates_in(id s, id around, std::string_view segment) {
        const auto entry = alternatives_.find(s);
        if (entry == alternatives_.end() ||
            std::find(entry->second.begin(), entry->second.end(), around) == entry->second.end()) {
            return candidates(s, around, segment);
        }
        std::vector<id> fits;
        for (auto module : entry->second) {
            for (auto m : candidates(s, module, segment)) {
                if (fits.size() < max_candidates &&
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
            [&](id m) { return calls(m) == no_id ? 1 : calls(m); },
            [&](id m) { return owns_parameters(modules_, m); });
    }

    [[nodiscard]] scope_module repeated_call(id s, id around, std::string_view stem,
                                             std::size_t count, id deep) {
        const auto parent = table_.scopes[s].parent;
        const auto first = table_.find(parent, stem);
        auto [known, added] = stems_.try_emplace({parent, stem});
        if (added) {
            known->second = candidates_in(parent, around, stem);
        }
        const auto& fits = known->second;
        if (fits.empty()) {
            return {};
        }
        const auto fit = best_fit(fits, deep);
        if (deep != no_id && tree_.is_ancestor(fit, deep)) {
            return found(fit, fit, deep, confidence::scope);
        }
        if (const auto own = deep == no_id ? fit_by_weights(s, stem, fits) : no_id; own != no_id) {
            return found(own, own, deep, confidence::scope_nth);
        }
        if (calls_known_) {
            // Scopes that print alike are numbered consecutively: first all calls of one module ...
            const bool one = fits.size() == 1;
            for (auto m : fits) {
                const auto times = calls(m) == no_id ? count + 1 : calls(m);
                if (count < times) {
                    return found(m, m, deep, one ? confidence::scope_call : confidence::scope_nth);
                }
                count -= times;
            }
            return found(fit, fit, deep, confidence::scope_unfit);
        }
        if (count < fits.size()) {
            return found(fits[count], fits[count], deep, confidence::scope_numbered);
        }
        const bool alike = first != no_id && table_.scopes[first].operators > 0 &&
                           table_.scopes[first].kinds == table_.scopes[s].kinds;
        return alike ? found(fit, fit, deep, confidence::scope_numbered) : scope_module{};
    }

    /// A module owned elsewhere and called by the enclosing one: by an alias, by what the
    /// parameters point to, or as the only one with its name.
    [[nodiscard]] id from_elsewhere(std::string_view segment, id deep) {
        const auto counted = split_count(segment);
        const auto prints = [&](id m) {
            return prints_as(m, segment) || (counted && prints_as(m, counted->first));
        };
        if (deep != no_id) {
            for (auto m = deep; m != 0; m = tree_.parent(m)) {
                if (prints(m)) {
                    return m;
                }
            }
            return no_id;
        }
        if (!calls_known_) {
            return no_id;
        }
        id only = no_id;
        for (const auto stem : {segment, counted ? counted->first : segment}) {
            for (auto m : printing_as(stem)) {
                if (prints_as(m, stem) && calls(m) != 0 && m != only) {
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
    std::map<std::pair<id, std::string_view>, std::vector<id>> stems_;
    std::unordered_map<id, std::vector<id>> alternatives_; // by scope: modules that print like it
    bool complete_;
    bool calls_known_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_RESOLVER_HPP
