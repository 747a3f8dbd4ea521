// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SEQUENCE_STEPS_HPP
#define STEMMA_EVIDENCE_DETAIL_SEQUENCE_STEPS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/module_exits.hpp>
#include <stemma/evidence/detail/operator_kinds.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/evidence/detail/sequence_starts.hpp>
#include <stemma/evidence/detail/sibling_order.hpp>
#include <stemma/model/detail/functional_units.hpp>
#include <stemma/model/detail/mark_matrices.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Operators of one member of a sequence, which no parameter identifies.
struct sequence_step {
    id sequence = no_id;
    std::uint64_t number = 0;  ///< of the member
    id member = no_id;         ///< its module, if in the tree
    std::vector<id> operators; ///< by vertex index
};

/// Finds sequence members without parameters: `act(fc(x))` where the numbers of the members with
/// parameters leave a gap between them.
template <operator_view Ops, module_view Modules>
class sequence_steps {
public:
    /// Requires: all arguments outlive it.
    sequence_steps(const region_facts<Ops, Modules>& facts, const functional_units<Ops>& units,
                   const module_exits<Ops, Modules>& exits,
                   const sequence_starts<Ops, Modules>& starts)
        : facts_(facts)
        , tree_(facts.tree)
        , code_(facts.code)
        , units_(units)
        , exits_(exits)
        , starts_(starts) {}

    /// Complexity: O(modules * log modules), and O(operators between members).
    [[nodiscard]] std::vector<sequence_step> run() {
        for (id m = 0; m < tree_.size(); ++m) {
            if (code_.is_list(m)) {
                look_at(m);
            }
        }
        end_alike();
        return std::move(steps_);
    }

private:
    struct member {
        std::uint64_t number = 0;
        id module = no_id;
    };

    /// Returns: the members of a sequence, by number.
    [[nodiscard]] std::vector<member> members_of(id sequence) const {
        std::vector<member> members;
        for (auto m = sequence + 1; m < tree_.end(sequence); m = tree_.end(m)) {
            if (const auto number = list_place(facts_.modules.name(m))) {
                members.push_back({*number, m});
            }
        }
        range::sort(members, [](const member& a, const member& b) { return a.number < b.number; });
        return members;
    }

    void look_at(id sequence) {
        const auto members = members_of(sequence);
        // A list of modules has uniform members; anything else is a sequence.
        bool leaves = false;
        bool lists = false;
        bool others = false;
        for (const auto& one : members) {
            const bool runs = code_.owns_below(one.module);
            leaves = leaves || (runs && tree_.is_leaf(one.module));
            lists = lists || (runs && code_.is_list(one.module));
            others = others || (runs && !tree_.is_leaf(one.module) && !code_.is_list(one.module));
        }
        const bool mixed = int{leaves} + int{lists} + int{others} > 1;
        look_before(sequence, members);
        const auto earlier = steps_.size();
        for (std::size_t a = 0, b = 0; a < members.size(); a = b) {
            for (b = a + 1; b < members.size() && !exits_.has_any(members[b].module); ++b) {
            }
            if (exits_.only(members[a].module) == no_id) {
                continue;
            }
            if (b < members.size()) {
                look_between(sequence, members, a, b, mixed);
            } else if (!ends_model(sequence, members[a].module)) {
                look_behind(sequence, members, a);
                look_again(sequence, members, a, earlier);
            }
        }
    }

    [[nodiscard]] bool runs(id m) const { return code_.owns_below(m) || code_.is_folded(m); }

    /// What leads to the first member with parameters, and to nothing else.
    void look_before(id sequence, const std::vector<member>& members) {
        const auto first = std::find_if(members.begin(), members.end(),
                                        [&](const member& one) { return runs(one.module); });
        if (first == members.end() || first->number == 0) {
            return;
        }
        constexpr std::uint64_t max_steps = 8;
        auto units = starts_.before(first->module, std::min(first->number, max_steps));
        // Fewer steps leave members that do nothing, such as a dropout, which come last.
        if (units.empty() ||
            (units.size() != first->number && !starts_.normalizes(units.front()))) {
            return;
        }
        for (std::size_t i = 0; i < units.size(); ++i) {
            const auto same = std::find_if(members.begin(), first,
                                           [&](const member& one) { return one.number == i; });
            steps_.push_back(
                {sequence, i, same == first ? no_id : same->module, std::move(units[i])});
        }
    }

    /// What follows the last member with parameters, if the same follows as many others before.
    void look_again(id sequence, const std::vector<member>& members, std::size_t last,
                    std::size_t earlier) {
        const auto unit = units_.behind(exits_.only(members[last].module));
        if (unit.empty()) {
            return;
        }
        std::map<std::uint64_t, std::size_t> rows; // running members in a row, by the last number
        for (const auto& one : members) {
            if (runs(one.module)) {
                const auto row = rows.find(one.number - 1);
                rows.emplace(one.number, row == rows.end() ? 1 : row->second + 1);
            }
        }
        const auto before = [&](std::uint64_t number) {
            const auto row = rows.find(number - 1);
            return row == rows.end() ? std::size_t{0} : row->second;
        };
        const auto vacant = find_end(sequence);
        const auto count = before(vacant.number);
        const bool again = std::any_of(steps_.begin() + static_cast<std::ptrdiff_t>(earlier),
                                       steps_.end(), [&](const sequence_step& step) {
                                           return step.sequence == sequence &&
                                                  step.number < vacant.number &&
                                                  before(step.number) == count &&
                                                  types_of(step.operators) == types_of(unit);
                                       });
        if (count > 1 && again) {
            end_with(sequence, vacant, unit);
        }
    }

    /// Gives similar sequences the same last step.
    void end_alike() {
        std::map<std::pair<std::uint64_t, std::string>, std::size_t> counts;
        std::vector<bool> has_end(tree_.size(), false);
        for (const auto& [sequence, types] : ends_) {
            ++counts[{code_.pattern(sequence), types}];
            has_end[sequence] = true;
        }
        constexpr std::size_t several = 2;
        std::vector<sequence_step> ends;
        for (id m = 1; m < tree_.size() && !counts.empty(); ++m) {
            if (!code_.is_list(m) || has_end[m] || exits_.only(m) == no_id) {
                continue;
            }
            const auto unit = units_.behind(exits_.only(m));
            const auto alike = counts.find({code_.pattern(m), types_of(unit)});
            if (unit.empty() || alike == counts.end() || alike->second < several) {
                continue;
            }
            const auto vacant = find_end(m);
            ends.push_back({m, vacant.number, vacant.module, unit});
        }
        // Operators go to an end that has them, the last of several.
        const auto first = steps_.size();
        steps_.insert(steps_.end(), ends.begin(), ends.end());
        std::vector<bool> taken(facts_.size(), false);
        for (auto i = steps_.size(); i-- > 0;) {
            std::erase_if(steps_[i].operators, [&](id v) { return taken[v]; });
            for (std::size_t o = 0; i >= first && o < steps_[i].operators.size(); ++o) {
                taken[steps_[i].operators[o]] = true;
            }
        }
        std::erase_if(steps_, [](const sequence_step& step) { return step.operators.empty(); });
    }

    [[nodiscard]] std::string types_of(const std::vector<id>& unit) const {
        std::string types;
        for (auto v : unit) {
            types.append(facts_.type(v)).push_back(' ');
        }
        return types;
    }

    void end_with(id sequence, const member& last, const std::vector<id>& unit) {
        ends_.emplace_back(sequence, types_of(unit));
        steps_.push_back({sequence, last.number, last.module, unit});
    }

    void look_between(id sequence, const std::vector<member>& members, std::size_t a, std::size_t b,
                      bool mixed) {
        constexpr std::size_t max_units = 8;
        const auto first = exits_.only(members[a].module);
        std::vector<std::vector<id>> units;
        for (auto v = first; !exits_.leads_to(v, members[b].module); v = units.back().back()) {
            auto unit = units_.behind(v);
            if (unit.empty() || units.size() == max_units) {
                return;
            }
            units.push_back(std::move(unit));
        }
        // A step with a weight of its own may be inside a member that has members itself.
        const bool has_inner =
            !tree_.is_leaf(members[a].module) || !tree_.is_leaf(members[b].module);
        // A module around a single other one does something itself: perhaps just this.
        const auto before = members[a].module;
        const bool wraps = tree_.end(before) == before + 2 && !code_.is_list(before);
        if (units.empty() || (wraps && !is_convolution(first)) ||
            (has_inner &&
             range::any_of(units, [&](const auto& unit) { return multiplies(unit); }))) {
            return;
        }
        std::vector<member> vacant;
        std::vector<member> folded; // as far as parameters tell
        auto next = a + 1;
        for (auto n = members[a].number + 1; n < members[b].number; ++n) {
            const bool is_known = next < b && members[next].number == n;
            if (!is_known) {
                vacant.push_back({n, no_id});
            } else if (code_.is_folded(members[next].module) && !read_weights(units)) {
                folded.push_back(members[next]);
            } else if (!code_.owns_below(members[next].module)) {
                vacant.push_back(members[next]);
            }
            next += is_known ? 1 : 0;
            if (vacant.size() > max_units) {
                return;
            }
        }
        if (vacant.empty() && folded.size() == 1) {
            vacant.swap(folded); // nothing else can have left the steps
        }
        if constexpr (joined_operators<Ops>) {
            // The first gap may be the activation that was fused into the member before.
            if (vacant.size() == units.size() + 1 && facts_.ops.is_joined(facts_.vertex(first))) {
                vacant.erase(vacant.begin());
            }
        }
        const auto take = [&](const member& one, id of, std::vector<id> operators) {
            steps_.push_back({of, one.number, one.module, std::move(operators)});
        };
        if (units.size() == vacant.size()) {
            for (std::size_t i = 0; i < units.size(); ++i) {
                take(vacant[i], sequence, units[i]);
            }
        } else if (vacant.size() == 1) {
            for (auto& unit : units) {
                if (!is_transpose(unit)) { // which may be of the member before
                    take(vacant.front(), sequence, std::move(unit));
                }
            }
        } else if (units.size() == 1 && !vacant.empty() &&
                   (!folded.empty() || !is_convolution(first))) {
            // A gap that remains does nothing any more, like a dropout: it comes last.
            take(vacant.front(), sequence, std::move(units.front()));
        } else if (vacant.empty() && units.size() == 1 &&
                   may_activate(units.front(), [&](id v) { return facts_.type(v); }) &&
                   (mixed || (holds_several(members[a].module) &&
                              !follows(members.back().module, units.front())))) {
            look_inside(members[a].module, units.front());
        }
    }

    /// One operator behind the last member with parameters of a model that is a sequence, if
    /// nothing follows. Returns: whether there is one.
    bool ends_model(id sequence, id last) {
        const auto v = sequence == 0 ? units_.last_behind(exits_.only(last)) : no_id;
        if (v != no_id) {
            end_with(sequence, find_end(sequence), {v});
        }
        return v != no_id;
    }

    /// One member without parameters at the end of a sequence, after a folded one: what follows a
    /// normalization.
    void look_behind(id sequence, const std::vector<member>& members, std::size_t a) {
        const bool ends_so = members.size() == a + 3 && code_.is_folded(members[a + 1].module) &&
                             !code_.declares_below(members[a + 2].module) &&
                             tree_.is_leaf(members[a + 2].module) &&
                             !code_.owns_below(members[a + 2].module);
        if (!ends_so) {
            return;
        }
        if (const auto unit = units_.behind(exits_.only(members[a].module)); !unit.empty()) {
            end_with(sequence, members[a + 2], unit);
        }
    }

    /// What follows the last member of a sequence that is inside a list without room for it.
    void look_inside(id m, const std::vector<id>& unit) {
        if (tree_.is_leaf(m)) {
            return;
        }
        if (!code_.is_list(m)) {
            steps_.push_back({tree_.parent(m), 0, m, unit});
            return;
        }
        if (const auto last = find_end(m); last.number > 0) {
            end_with(m, last, unit);
        }
    }

    /// Returns: the place behind the last member with parameters; 0 if there is none.
    [[nodiscard]] member find_end(id m) const {
        const auto held = members_of(m);
        member last{0, no_id};
        for (const auto& one : held) {
            last = code_.owns_below(one.module) ? one : last;
        }
        member vacant{last.number + 1, no_id};
        for (const auto& one : held) {
            const bool next = one.number == vacant.number;
            vacant.number += next && code_.is_folded(one.module) ? 1U : 0U;
            vacant.module = next && !code_.is_folded(one.module) ? one.module : vacant.module;
        }
        return last.module == no_id ? member{} : vacant;
    }

    /// Whether what follows a module is of the same types, as where a caller does that with each
    /// member of a list.
    [[nodiscard]] bool follows(id m, const std::vector<id>& unit) const {
        const auto last = exits_.only(m);
        return last == no_id || types_of(units_.behind(last)) == types_of(unit);
    }

    /// Whether a module is a list of several modules that run.
    [[nodiscard]] bool holds_several(id m) const {
        std::size_t count = 0;
        for (auto c = m + 1; c < tree_.end(m); c = tree_.end(c)) {
            count += runs(c) ? 1U : 0U;
        }
        return code_.is_list(m) && count > 1;
    }

    /// Whether a step multiplies by a weight, whose name is lost then.
    [[nodiscard]] bool multiplies(const std::vector<id>& unit) const {
        return range::any_of(unit, [&](id v) { return is_product(facts_.type(v)); });
    }

    /// Whether a step reads a weight, whose name is lost then: its owner is not folded away.
    [[nodiscard]] bool read_weights(const std::vector<std::vector<id>>& units) {
        bool any = false;
        if constexpr (sized_parameters<Ops>) {
            if (weights_.empty()) {
                weights_ = mark_matrices(facts_.ops);
            }
            for (const auto& unit : units) {
                for (auto v : unit) {
                    facts_.ops.for_each_parameter(facts_.vertex(v),
                                                  [&](id p) { any = any || weights_[p]; });
                }
            }
        }
        return any;
    }

    [[nodiscard]] bool is_transpose(const std::vector<id>& unit) const {
        return unit.size() == 1 && facts_.is(unit.front(), "Transpose");
    }

    /// Whether an exporter may have folded what follows into an operator.
    [[nodiscard]] bool is_convolution(id v) const { return facts_.type(v).starts_with("Conv"); }

    const region_facts<Ops, Modules>& facts_;
    const tree_index& tree_;
    const module_code<Modules>& code_;
    const functional_units<Ops>& units_;
    const module_exits<Ops, Modules>& exits_;
    const sequence_starts<Ops, Modules>& starts_;
    std::vector<sequence_step> steps_;
    std::vector<bool> weights_;                    // by parameter, once asked for
    std::vector<std::pair<id, std::string>> ends_; // sequences and the types of their last step
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SEQUENCE_STEPS_HPP
