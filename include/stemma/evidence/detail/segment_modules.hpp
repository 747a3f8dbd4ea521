// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SEGMENT_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_SEGMENT_MODULES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/made_once.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/prints_as.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the modules that the segment of a scope may stand for.
///
/// A module prints as the part of its path from the last non-numeric name. Those that never run
/// have no scope, so a segment may lead several levels down. Thread-safe.
template <module_view Modules>
class segment_modules {
public:
    /// `complete`: whether the tree has all modules, also those without parameters.
    segment_modules(const scope_table& table, const Modules& modules, bool complete)
        : table_(table)
        , modules_(modules)
        , tree_(modules.index())
        , lookup_(modules)
        , complete_(complete) {
        if constexpr (counts_calls<Modules>) {
            for (id m = 0; m < tree_.size() && !calls_known_; ++m) {
                calls_known_ = modules.calls(m) != no_id;
            }
        }
    }

    [[nodiscard]] const module_lookup<Modules>& lookup() const noexcept { return lookup_; }

    /// Whether the calls of any module were counted.
    [[nodiscard]] bool calls_known() const noexcept { return calls_known_; }

    /// Returns: how often a module was called; `no_id` if unknown.
    [[nodiscard]] id calls(id m) const {
        if constexpr (counts_calls<Modules>) {
            return modules_.calls(m);
        }
        return no_id;
    }

    /// Whether `m` prints as `segment`. Complexity: O(length).
    [[nodiscard]] bool prints_as(id m, std::string_view segment) const {
        return detail::prints_as(printed_tree<Modules>{modules_}, m, segment);
    }

    /// Whether a call of `m` may print as `segment`, which may have a suffix for further calls.
    [[nodiscard]] bool may_print(id m, std::string_view segment) const {
        return detail::may_print(printed_tree<Modules>{modules_}, m, segment);
    }

    /// Returns: the modules that print as `segment`, ascending, possibly with a few others.
    /// Complexity: O(length) expected, after O(bytes of names) for the first.
    [[nodiscard]] std::span<const id> printing_as(std::string_view segment) const {
        return printed_.get([&] { return printed_modules<Modules>(modules_); }).of(segment);
    }

    /// Whether a module that may have run prints as `segment`.
    [[nodiscard]] bool may_have_run(std::string_view segment) const {
        const auto all = printing_as(segment);
        return std::any_of(all.begin(), all.end(),
                           [&](id m) { return calls(m) != 0 && prints_as(m, segment); });
    }

    /// Whether the counted calls of `m` all have scopes where it belongs, by the names of the
    /// modules around it. `s` is any scope of the same style.
    /// Complexity: O(scopes of these modules), times the length of their names.
    [[nodiscard]] bool ran_in_place(id m, id s) const {
        while (table_.scopes[s].parent != no_id) {
            s = table_.scopes[s].parent;
        }
        std::vector<id> around;
        for (auto at = m; at != 0; at = tree_.parent(at)) {
            around.push_back(at);
        }
        std::vector<id> places{s};
        for (auto at = around.rbegin(); at != around.rend(); ++at) {
            const auto name = printed(*at);
            std::vector<id> inner;
            for (const auto place : places) {
                auto one = table_.find(place, name);
                for (std::size_t count = 1; one != no_id; ++count) {
                    inner.push_back(one);
                    one = table_.find(place, name + "_" + std::to_string(count));
                }
            }
            if (*at == m || !inner.empty() || calls(*at) != 0) {
                places = std::move(inner);
            }
        }
        return calls(m) != no_id && places.size() >= calls(m);
    }

    /// Returns: the modules below `around`, for which scope `s` stands, that a call from there
    /// prints as `segment`, likely ones first; those known never to have run are included only if
    /// `uncalled`. If there are none, those that it holds under another name, by an alias.
    [[nodiscard]] std::vector<id> below(id s, id around, std::string_view segment,
                                        bool uncalled = false) const {
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
            add(find_module(lookup_, segment.substr(own + 1), around));
        }
        add(find_module(lookup_, segment, around));
        if (fits.empty() || digits != segment.npos) {
            for (auto m : printed_below(around, segment)) {
                add(m);
            }
        }
        return fits.empty() ? held_as_alias(around, segment) : fits;
    }

    /// Returns: the module with the alias that a call from `around` prints as `segment`, or
    /// `no_id`. Complexity: O(length of the path) expected.
    [[nodiscard]] id aliased(id around, std::string_view segment) const {
        if constexpr (requires { modules_.aliased(segment); }) {
            if (!modules_.aliases().empty()) {
                const auto own = own_segment_length(around, segment);
                std::string path(modules_.path(around));
                path.append(path.empty() ? "" : ".").append(segment.substr(own == 0 ? 0 : own + 1));
                return modules_.aliased(path);
            }
        }
        return no_id;
    }

    static constexpr std::size_t max_candidates = 64;

private:
    /// Modules by one that holds them as an alias, and the segment that they print as.
    using alias_holders = std::map<std::pair<id, std::string>, std::vector<id>>;

    /// Returns: the modules that `around` holds as an alias, perhaps in a list that never runs, and
    /// that print as `segment`; nothing if that is the path of an alias itself.
    [[nodiscard]] std::vector<id> held_as_alias(id around, std::string_view segment) const {
        if constexpr (requires { modules_.aliases(); }) {
            if (!modules_.aliases().empty() && aliased(around, segment) == no_id) {
                const auto& holders = holders_.get([&] { return find_holders(); });
                const auto held = holders.find({around, std::string(segment)});
                return held == holders.end() ? std::vector<id>() : held->second;
            }
        }
        return {};
    }

    /// Complexity: O(aliases * depth), times a logarithm.
    [[nodiscard]] alias_holders find_holders() const {
        alias_holders holders;
        for (const auto& [path, m] : modules_.aliases()) {
            const auto above = path_around(path);
            auto holder = above.empty() ? 0 : find_module(lookup_, above);
            holder = holder == no_id ? modules_.aliased(above) : holder;
            const auto segment = printed(m);
            while (holder != no_id && !tree_.is_ancestor(holder, m) && calls(m) != 0) {
                auto& held = holders[{holder, segment}];
                if (held.size() < max_candidates &&
                    std::find(held.begin(), held.end(), m) == held.end()) {
                    held.push_back(m);
                }
                const bool runs = calls(holder) != no_id && calls(holder) != 0;
                holder = runs ? no_id : tree_.parent(holder);
            }
        }
        return holders;
    }

    /// Returns: what a call of `m` prints. Complexity: O(depth).
    [[nodiscard]] std::string printed(id m) const {
        return detail::printed(printed_tree<Modules>{modules_}, m);
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
            if (table_.find(s, printed(m)) != no_id) {
                return true;
            }
        }
        return false;
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
    [[nodiscard]] std::vector<id> printed_below(id around, std::string_view segment) const {
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

    const scope_table& table_;
    const Modules& modules_;
    const tree_index& tree_;
    module_lookup<Modules> lookup_;
    made_once<printed_modules<Modules>> printed_;
    made_once<alias_holders> holders_;
    bool complete_;
    bool calls_known_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SEGMENT_MODULES_HPP
