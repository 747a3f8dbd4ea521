// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SHARED_MEMBERS_HPP
#define STEMMA_EVIDENCE_DETAIL_SHARED_MEMBERS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/sibling_order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds modules that sequences share with a module around them. After
/// `self.body = Sequential(Linear(...), self.act)`, torch prints `body/body.0` and `body/act`: the
/// members of a sequence have numbers, so that the other one is `act`. It may run in the sequence
/// alone: beside `norm1`, `body/norm2` is `norm2`, and so is `body/act` between `body/body.0` and
/// `body/body.2`, as a number is missing there. And members of a list that each run in another
/// module, `a/list.0` and `b/list.1`, were handed to these by what holds the list.
class shared_members {
public:
    /// Requires: `table` outlives this. Complexity: O(scopes), times a logarithm if there are such.
    explicit shared_members(const scope_table& table)
        : table_(table), is_sequence_(table.scopes.size(), false) {
        for (id s = scope_style_count; s < table.scopes.size(); ++s) {
            const auto around = table.scopes[s].parent;
            is_sequence_[around] = is_sequence_[around] || is_member(s);
        }
        for (id s = scope_style_count; s < table.scopes.size(); ++s) {
            if (const auto stem = table.scopes[s].stem(); is_foreign(s) && !stem.empty()) {
                wanted_.insert(stem);
            }
        }
        for (id s = scope_style_count; s < table.scopes.size() && !wanted_.empty(); ++s) {
            if (const auto stem = table_.scopes[s].stem();
                !stem.empty() && wanted_.contains(stem)) {
                numbered_.try_emplace({table.scopes[s].parent, stem}, s);
            }
        }
        find_missing();
        find_distributed();
    }

    /// Returns: the scope in which the module of scope `s` ran outside the sequence, if `s` is in
    /// one, both have the same operators and neither calls a module; else `no_id`.
    /// Complexity: O(depth) expected.
    [[nodiscard]] id outside(id s) const {
        const auto& scope = table_.scopes[s];
        if (!is_foreign(s)) {
            return no_id;
        }
        for (auto around = table_.scopes[scope.parent].parent; around != no_id;
             around = table_.scopes[around].parent) {
            const auto other = table_.find(around, scope.instance());
            if (other != no_id && table_.scopes[other].kinds == scope.kinds) {
                return other;
            }
        }
        return no_id;
    }

    /// Returns: the scope of the module that holds that of scope `s`, if `s` is in a sequence, and
    /// in that scope ran one with the same operators whose name differs in the number at its end;
    /// or if it is a member of a list and each other member ran in a scope beside that around `s`;
    /// or the nearest scope that is no sequence, if one with its name and operators ran where a
    /// sequence lacks a number. Else `no_id`. Complexity: O(depth), times a logarithm.
    [[nodiscard]] id holder(id s) const {
        if (std::binary_search(distributed_.begin(), distributed_.end(), s)) {
            return table_.scopes[table_.scopes[s].parent].parent;
        }
        const auto stem = is_foreign(s) ? table_.scopes[s].stem() : std::string_view{};
        for (auto around = stem.empty() ? no_id : table_.scopes[table_.scopes[s].parent].parent;
             around != no_id; around = table_.scopes[around].parent) {
            const auto beside = numbered_.find({around, stem});
            if (beside != numbered_.end() &&
                table_.scopes[beside->second].kinds == table_.scopes[s].kinds) {
                return around;
            }
        }
        auto around = table_.scopes[s].parent;
        if (!is_foreign(s) || !missing_.contains(called(s))) {
            return no_id;
        }
        while (is_plain_sequence(around)) {
            around = table_.scopes[around].parent;
        }
        return around;
    }

private:
    /// The name of a scope, without the number of a further call, and its operators.
    [[nodiscard]] std::pair<std::string_view, std::uint64_t> called(id s) const {
        const auto& scope = table_.scopes[s];
        const auto counted = scope.counted();
        return {counted ? counted->first : scope.instance(), scope.kinds};
    }

    /// Finds what ran between two members of a sequence whose numbers leave room for it.
    void find_missing() {
        struct run {
            std::uint64_t next = 0;  // the number after that of the last member
            std::vector<id> foreign; // since then
        };
        std::map<id, run> runs; // by sequence
        for (id s = scope_style_count; s < table_.scopes.size(); ++s) {
            const auto around = table_.scopes[s].parent;
            if (is_foreign(s)) {
                runs[around].foreign.push_back(s);
            } else if (is_member(s) && is_plain_sequence(around)) {
                auto& last = runs[around];
                const auto name = table_.scopes[s].instance();
                const auto number = list_place(name.substr(name.rfind('.') + 1));
                if (number && *number >= last.next + last.foreign.size()) {
                    for (const auto one : last.foreign) {
                        missing_.insert(called(one));
                    }
                }
                last = {number.value_or(0) + 1, {}};
            }
        }
    }

    /// Finds lists of which every member from 0 on ran once, each in another scope, all of these
    /// in the same one.
    void find_distributed() {
        std::map<std::pair<id, std::string_view>, std::map<std::string_view, std::vector<id>>>
            lists;
        for (id s = scope_style_count; s < table_.scopes.size(); ++s) {
            const auto& scope = table_.scopes[s];
            if (scope.indexed && scope.style == scope_style::called &&
                scope.parent >= scope_style_count && !is_member(s)) {
                const auto dot = scope.instance().rfind('.');
                lists[{table_.scopes[scope.parent].parent, scope.instance().substr(0, dot)}]
                     [scope.instance().substr(dot + 1)]
                         .push_back(s);
            }
        }
        for (const auto& [list, members] : lists) {
            std::set<id> callers;
            std::size_t count = 0;
            for (const auto& [number, scopes] : members) {
                callers.insert(table_.scopes[scopes.front()].parent);
                count += scopes.size();
            }
            const bool complete =
                members.contains(std::to_string(members.size() - 1)) && members.contains("0");
            if (members.size() > 1 && complete && callers.size() == members.size() &&
                count == members.size()) {
                for (const auto& [number, scopes] : members) {
                    distributed_.push_back(scopes.front());
                }
            }
        }
        std::sort(distributed_.begin(), distributed_.end());
    }

    /// Whether a scope is in a sequence, but not called like one of its members, and computes.
    [[nodiscard]] bool is_foreign(id s) const {
        const auto& scope = table_.scopes[s];
        return scope.style == scope_style::called && scope.operators != 0 && !is_member(s) &&
               is_plain_sequence(scope.parent);
    }

    /// Whether a scope calls members of its own, and computes nothing itself.
    [[nodiscard]] bool is_plain_sequence(id s) const {
        return is_sequence_[s] && table_.scopes[s].operators == 0;
    }

    /// Whether a scope is called like a member of the one around: `body.0` in `body`.
    [[nodiscard]] bool is_member(id s) const {
        if (!table_.scopes[s].indexed) {
            return false;
        }
        const auto around = table_.scopes[table_.scopes[s].parent].instance();
        const auto name = table_.scopes[s].instance();
        return !around.empty() && name.starts_with(around) && name.size() > around.size() &&
               name[around.size()] == '.' && is_number(name.substr(around.size() + 1));
    }

    const scope_table& table_;
    std::vector<bool> is_sequence_;     // by scope
    std::set<std::string_view> wanted_; // stems of those in sequences
    /// The first scopes with such names, by enclosing scope and stem.
    std::map<std::pair<id, std::string_view>, id> numbered_;
    std::set<std::pair<std::string_view, std::uint64_t>> missing_; // what `called` says of them
    std::vector<id> distributed_; // members of lists that other scopes hold, ascending
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SHARED_MEMBERS_HPP
