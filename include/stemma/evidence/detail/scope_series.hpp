// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_SERIES_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_SERIES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_below.hpp>
#include <stemma/evidence/detail/repeated_calls.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scope_weights.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Scopes that print alike, `q` and `q_1`, but read different parameters: different modules, in
/// containers that are never called and so are in no name, such as members of a list of ModuleDict.
/// Siblings with known modules show the containers: if `norm` and `norm_1` are `h.0.norm` and
/// `h.1.norm`, then `q_1` is `h.1.q`. So do callers, also to scopes that read nothing.
template <parameter_readers Ops>
class scope_series {
public:
    /// Returns the module of a scope, by its id in the builder.
    using module_of_scope = std::function<id(id)>;

    /// `read` gives modules shown by parameters, or `no_id`; `any` also those inferred from names.
    /// Requires: all arguments outlive it. Complexity: O(scopes); once a series is found, also that
    /// of `scope_weights`.
    scope_series(const Ops& ops, const scope_table& table, module_tree_builder& builder,
                 module_of_scope read, module_of_scope any)
        : ops_(ops)
        , table_(table)
        , builder_(builder)
        , read_(std::move(read))
        , any_(std::move(any))
        , inside_(scopes_inside(table))
        , place_(table.scopes.size(), no_id)
        , inner_calls_(table, inside_) {
        for (const auto& scope : table.scopes) {
            first_.push_back(scope.first_operator);
        }
        for (auto s = static_cast<id>(first_.size()); s-- > scope_style_count;) {
            auto& around = first_[table.scopes[s].parent];
            around = std::min(around, first_[s]);
        }
    }

    /// Returns: the module that owns the module of scope `s`, or `no_id` if its series does not
    /// tell. Complexity: O(scopes around it, and length of those series beside it that begin near),
    /// once for each series; O(scopes beside it) once for those.
    [[nodiscard]] id owner(id s) {
        const auto& all = series_of(s);
        if (all.empty() || place_[s] == no_id) {
            return no_id;
        }
        auto cached = owners_.find(all.front());
        if (cached == owners_.end()) {
            const auto parent = table_.scopes[s].parent;
            auto owners =
                reading_of(all).apart ? owners_in(parent, all) : owners_around(parent, all);
            cached = owners_.emplace(all.front(), std::move(owners)).first;
        }
        const auto& owners = cached->second;
        return owners.empty() ? no_id : owners[place_[s]];
    }

    /// Whether parameters told `owner(s)`, not callers alone. Requires: it is known.
    [[nodiscard]] bool is_read(id s) { return reading_of(series_of(s)).apart; }

    /// Whether scopes in the series of `s` read different weights themselves, so that each is a
    /// module of its own; not if most of what they call reads the same ones, or a module is called
    /// each time beside them, as where a tool folded another norm into each call of a convolution.
    /// Complexity: as `owner`, and that of `is_call_of`.
    [[nodiscard]] bool is_apart(id s) {
        const auto& all = series_of(s);
        if (all.empty() || place_[s] == no_id) {
            return false;
        }
        const auto& reading = reading_of(all);
        return reading.apart && reading.weights &&
               !calls_alike(all.front(), s == all.front() ? all[1] : s) && !is_called_beside(all);
    }

    /// Whether scope `s` reads no weights and is repeated beside a series that is apart in unknown
    /// modules: it may be in these, too. Complexity: that of `is_apart` for all beside it, once.
    [[nodiscard]] bool is_beside_apart(id s) {
        if (series_of(s).empty() || !weights().below(s).empty()) {
            return false;
        }
        const auto [in, added] = apart_in_.try_emplace(table_.scopes[s].parent, false);
        in->second = in->second || (added && range::any_of(inside_[in->first], [&](id beside) {
                                        return read_(beside) == no_id && is_apart(beside);
                                    }));
        return in->second;
    }

    /// Whether scope `s` is a further call of that in scope `first`: both read the same weight, or
    /// two scopes in `first` do, or are of one module, and one of them has the number of `s`.
    /// Without weights, a scope with that number in `first` is enough if `s` contains none: what a
    /// further call calls is there. Complexity: O(parameters read below them), times a logarithm.
    [[nodiscard]] bool is_call_of(id first, id s) {
        if (weights().share(first, s)) {
            return true;
        }
        const auto inner = inner_calls_of(first, s);
        return inner.alike > 0 || (inside_[s].empty() && weights().below(s).empty() &&
                                   inner.unknown > 0 && inner.others == 0);
    }

    /// Whether the numbered scope `s` is a further call of a module whose first call is gone, as
    /// where an optimizer computed that in advance: other calls read the same weight.
    [[nodiscard]] bool is_later_call(id s) {
        return unnumbered_scope(table_, s) == no_id && earlier_call(s) != no_id;
    }

    /// Returns: the name of scope `s` without its number. Requires: `owner(s)` is known.
    [[nodiscard]] std::string_view stem(id s) const {
        const auto name = table_.scopes[s].instance();
        return unnumbered_scope(table_, s) == no_id ? name : split_count(name)->first;
    }

private:
    /// Made when first asked for: few models have a series.
    [[nodiscard]] const scope_weights& weights() {
        if (!weights_) {
            weights_.emplace(ops_, table_);
        }
        return *weights_;
    }

    /// Returns: how the scopes in `first` with the number of `s` compare with those that they
    /// repeat. Complexity: that of `inner_calls::compare`.
    [[nodiscard]] call_comparison inner_calls_of(id first, id s) {
        return inner_calls_.compare(
            first, s, weights(), [&](id t) { return earlier_call(t); },
            [&](id t) { return !series_of(t).empty(); }, read_);
    }

    /// Returns: the scope that the numbered scope `s` repeats; if that is gone, another call of the
    /// same module; else `no_id`. Complexity: O(1) on average, after that of `headless_calls` once.
    [[nodiscard]] id earlier_call(id s) {
        const auto first = unnumbered_scope(table_, s);
        if (first == no_id && !headless_) {
            headless_.emplace(table_, weights());
        }
        return first == no_id ? headless_->other_call(s) : first;
    }

    [[nodiscard]] bool calls_alike(id first, id s) {
        const auto count = inner_calls_of(first, s);
        return count.alike > count.others;
    }

    /// Whether the nearest series of calls of one module, before or behind, has the same length as
    /// that of other modules `all`, and takes turns with it. Complexity: O(scopes beside it, and
    /// weights in them), times a logarithm, once for each scope around; O(length of the series)
    /// once for those.
    [[nodiscard]] bool is_called_beside(const std::vector<id>& all) {
        const auto [cached, added] = called_beside_.try_emplace(all.front());
        const auto& calls = calls_in(table_.scopes[all.front()].parent);
        const auto alike = calls.find(all.size());
        if (added && alike != calls.end()) {
            const auto& near = alike->second;
            const auto fits = [&](auto at) { return take_turns(series_.at(at->second), all); };
            const auto behind = near.upper_bound(first_[all.front()]);
            cached->second = (behind != near.end() && fits(behind)) ||
                             (behind != near.begin() && fits(std::prev(behind)));
        }
        return cached->second;
    }

    /// The first scopes of series, by their length and first operators.
    using series_by_length = std::map<std::size_t, std::map<id, id>>;

    /// Returns: the series of calls of one module in scope `parent`.
    [[nodiscard]] const series_by_length& calls_in(id parent) {
        const auto [calls, added] = calls_in_.try_emplace(parent);
        for (std::size_t i = 0; added && i < inside_[parent].size(); ++i) {
            const auto beside = inside_[parent][i];
            const auto& all = series_of(beside);
            if (!all.empty() && all.front() == beside && is_called_again(all)) {
                calls->second[all.size()].emplace(first_[beside], beside);
            }
        }
        return calls->second;
    }

    /// Whether all scopes of a series read a weight of the first.
    [[nodiscard]] bool is_called_again(const std::vector<id>& all) {
        return std::all_of(std::next(all.begin()), all.end(),
                           [&](id s) { return weights().share(all.front(), s); });
    }

    /// Returns: the series `q`, `q_1`, `q_2`, ... that contains `s`; nothing for a single scope.
    /// Complexity: O(log scopes), and O(length of series) once for each.
    [[nodiscard]] const std::vector<id>& series_of(id s) {
        if (table_.scopes[s].style != scope_style::called) {
            return none_;
        }
        const auto parent = table_.scopes[s].parent;
        const std::string name(stem(s));
        const auto first = table_.find(parent, name);
        if (first == no_id) {
            return none_;
        }
        const auto [cached, added] = series_.try_emplace(first);
        auto& all = cached->second;
        for (auto next = first; added && next != no_id;
             next = table_.find(parent, name + "_" + std::to_string(all.size()))) {
            if (stem(next) == name) {
                place_[next] = static_cast<id>(all.size());
            }
            all.push_back(next);
        }
        return all.size() < 2 ? none_ : all;
    }

    /// What the scopes of a series read.
    struct series_reading {
        bool apart = false;   ///< different parameters, or those inside them do
        bool weights = false; ///< each reads some itself
    };

    /// Complexity: O(parameters read in the series, and scopes in its first), times a logarithm,
    /// once for each series.
    [[nodiscard]] const series_reading& reading_of(const std::vector<id>& all) {
        const auto [cached, added] = readings_.try_emplace(all.front());
        auto& reading = cached->second;
        if (!added) {
            return reading;
        }
        std::set<id> seen;
        std::size_t count = 0;
        const bool each = std::all_of(all.begin(), all.end(), [&](id s) {
            const auto read = weights().own(s);
            const std::set<id> own(read.begin(), read.end());
            seen.insert(own.begin(), own.end());
            count += own.size();
            return !own.empty();
        });
        reading.weights = !range::any_of(all, [&](id s) { return !weights().any_in(s); });
        reading.apart =
            each ? seen.size() == count : range::any_of(inside_[all.front()], [&](id s) {
                const auto& below = series_of(s);
                return below.size() == all.size() && below.front() == s && reading_of(below).apart;
            });
        return reading;
    }

    /// The module that calls nothing but contains `m`, perhaps in a list.
    [[nodiscard]] id owner_of(id m) const {
        while (m != 0 && is_number(builder_.name(m))) {
            m = builder_.parent(m);
        }
        return m == 0 || m == no_id ? no_id : builder_.parent(m);
    }

    [[nodiscard]] static bool are_distinct(std::vector<id> modules) {
        std::sort(modules.begin(), modules.end());
        return !modules.empty() && modules.back() != no_id &&
               std::adjacent_find(modules.begin(), modules.end()) == modules.end();
    }

    /// Whether the first of both series come before the second of both, and so on.
    [[nodiscard]] bool take_turns(const std::vector<id>& a, const std::vector<id>& b) const {
        for (std::size_t i = 1; i < a.size(); ++i) {
            if (std::max(first_[a[i - 1]], first_[b[i - 1]]) >=
                std::min(first_[a[i]], first_[b[i]])) {
                return false;
            }
        }
        return true;
    }

    /// A series whose modules have different owners, known from parameters.
    struct owned_series {
        id first = no_id; ///< scope
        id begin = no_id; ///< operator in that
        id latest = 0;    ///< start of a second scope, of this one or one before it in the list
        std::vector<id> owners{};
    };

    /// Returns: those of some length in scope `parent`, in the order in which they begin.
    [[nodiscard]] const std::vector<owned_series>& owned_in(id parent, std::size_t length) {
        auto& lists = owned_[parent];
        if (!lists.empty()) {
            return lists[length];
        }
        for (const auto beside : inside_[parent]) {
            const auto& all = series_of(beside);
            if (all.empty() || all.front() != beside) {
                continue;
            }
            std::vector<id> owners;
            for (const auto s : all) {
                const auto m = read_(s);
                owners.push_back(m == no_id ? no_id : owner_of(m));
            }
            if (are_distinct(owners)) {
                lists[all.size()].push_back(
                    {beside, first_[beside], first_[all[1]], std::move(owners)});
            }
        }
        for (auto& [each, list] : lists) {
            range::sort(list, [](const auto& a, const auto& b) { return a.begin < b.begin; });
            for (std::size_t i = 1; i < list.size(); ++i) {
                list[i].latest = std::max(list[i].latest, list[i - 1].latest);
            }
        }
        return lists[length];
    }

    /// The owners in the nearest series in scope `parent` that takes turns with one, or nothing.
    [[nodiscard]] std::vector<id> owners_beside(id parent, const std::vector<id>& all) {
        const auto here = first_[all.front()];
        const auto& near = owned_in(parent, all.size());
        auto behind = std::partition_point(near.begin(), near.end(),
                                           [&](const auto& other) { return other.begin < here; });
        for (auto before = behind;;) {
            // Others cannot take turns: the second of one comes before the first of the other.
            const bool back = before != near.begin() && std::prev(before)->latest > here;
            const bool on = behind != near.end() && behind->begin < first_[all[1]];
            if (!back && !on) {
                return {};
            }
            const auto place = [&](auto at) {
                return std::pair(at->begin < here ? here - at->begin : at->begin - here, at->first);
            };
            const bool is_behind = !back || (on && place(behind) < place(std::prev(before)));
            const auto& other = is_behind ? *behind++ : *--before;
            if (take_turns(series_.at(other.first), all)) {
                return other.owners;
            }
        }
    }

    /// The modules of a series, if they are distinct, or nothing.
    [[nodiscard]] std::vector<id> modules_of(const std::vector<id>& all) const {
        std::vector<id> modules;
        std::transform(all.begin(), all.end(), std::back_inserter(modules), any_);
        return are_distinct(modules) ? modules : std::vector<id>{};
    }

    /// The modules that call a series which reads and contains nothing, one for each, or nothing:
    /// that of `a/act_1` is `a_1`. Beside `norm_1`, `act_1` may be shared by its owners.
    [[nodiscard]] std::vector<id> owners_around(id parent, const std::vector<id>& all) {
        const auto& around = parent < scope_style_count ? none_ : series_of(parent);
        const bool may_be_called = around.size() == all.size() && around.front() == parent &&
                                   take_turns(around, all) && range::all_of(all, [&](id s) {
                                       return weights().own(s).empty() && inside_[s].empty();
                                   });
        return may_be_called ? modules_of(around) : std::vector<id>{};
    }

    /// The owners of the modules of a series in scope `parent`, one for each, or nothing.
    [[nodiscard]] std::vector<id> owners_in(id parent, const std::vector<id>& all) {
        auto best = owners_beside(parent, all);
        if (!best.empty() || parent < scope_style_count) {
            return best;
        }
        const auto& around = series_of(parent);
        if (around.size() == all.size()) {
            return modules_of(around);
        }
        best = owners_in(table_.scopes[parent].parent, all);
        for (auto& m : best) {
            const std::string path(
                path_below(builder_, m, scope_style::called, table_.scopes[parent].instance()));
            m = builder_.at_path(path, m);
        }
        return best;
    }

    const Ops& ops_;
    const scope_table& table_;
    module_tree_builder& builder_;
    module_of_scope read_;
    module_of_scope any_;
    std::optional<scope_weights> weights_;
    grouped_ids inside_;                      // by scope: the scopes in it
    std::vector<id> first_;                   // by scope: the first operator in or below it
    std::vector<id> place_;                   // by scope: its place in its series, once asked for
    std::map<id, std::vector<id>> series_;    // by first scope: as far as asked for
    std::map<id, std::vector<id>> owners_;    // the same
    std::map<id, series_reading> readings_;   // the same
    std::map<id, bool> called_beside_;        // by first scope
    std::map<id, series_by_length> calls_in_; // by parent
    std::map<id, bool> apart_in_;             // by parent: whether a series in it is apart, unknown
    std::map<id, std::map<std::size_t, std::vector<owned_series>>> owned_; // by parent, and length
    inner_calls inner_calls_;
    std::optional<headless_calls> headless_;
    std::vector<id> none_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_SERIES_HPP
