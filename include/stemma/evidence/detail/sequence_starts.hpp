// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SEQUENCE_STARTS_HPP
#define STEMMA_EVIDENCE_DETAIL_SEQUENCE_STARTS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/module_exits.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/evidence/detail/sibling_order.hpp>
#include <stemma/model/detail/functional_units.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether the member numbers of some sequence have a gap, or may continue.
/// Complexity: O(modules + parameters).
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] bool has_open_sequences(const Ops& ops, const Modules& modules,
                                      const parameter_owners& owners) {
    const tree_index& tree = modules.index();
    const module_code<Modules> code(ops, modules, owners);
    for (id m = 0; m < tree.size(); ++m) {
        std::uint64_t members = 0;
        std::uint64_t behind = 0;               // one past the greatest number
        bool lists = m == 0 && code.is_list(m); // a model may end with anything
        for (auto c = m + 1; code.is_list(m) && c < tree.end(m); c = tree.end(c)) {
            behind = std::max(behind, list_place(modules.name(c)).value_or(0) + 1);
            lists = lists || code.is_list(c);
            ++members;
        }
        if (members != behind || lists) {
            return true;
        }
    }
    return false;
}

/// Returns: by module, whether it is the first member of a sequence with parameters, and members
/// without any come before it. Complexity: O(modules).
template <module_view Modules>
[[nodiscard]] std::vector<bool> find_sequence_heads(const Modules& modules,
                                                    const module_code<Modules>& code) {
    const tree_index& tree = modules.index();
    std::vector<bool> heads(tree.size(), false);
    for (id m = 0; m < tree.size(); ++m) {
        id head = no_id;
        std::uint64_t least = 0;
        for (auto c = m + 1; code.is_list(m) && c < tree.end(m); c = tree.end(c)) {
            const auto number = list_place(modules.name(c));
            const bool runs = code.owns_below(c) || code.is_folded(c);
            if (number && runs && (head == no_id || *number < least)) {
                head = c;
                least = *number;
            }
        }
        if (head != no_id && least > 0 && code.owns_below(head)) {
            heads[head] = true;
        }
    }
    return heads;
}

/// Finds the steps that only lead to a module: what a sequence does before its first member with
/// parameters.
template <operator_view Ops, module_view Modules>
class sequence_starts {
public:
    /// `free` are the operators whose modules are unknown, `placed` is the module of others if
    /// known. Requires: all arguments outlive it. Complexity: O(E * depth of the tree).
    sequence_starts(const region_facts<Ops, Modules>& facts, const std::vector<bool>& free,
                    const std::vector<id>& placed, const functional_units<Ops>& units,
                    const module_exits<Ops, Modules>& exits)
        : facts_(facts)
        , free_(free)
        , units_(units)
        , exits_(exits)
        , entry_(facts.tree.size(), no_id)
        , has_several_(facts.tree.size(), false) {
        const auto heads = find_sequence_heads(facts.modules, facts.code);
        if (!range::contains(heads, true)) {
            return;
        }
        for (id v = 0; v < placed.size(); ++v) {
            if (facts.steady[v] || placed[v] == no_id) {
                continue;
            }
            for (const auto u : facts.producers(v)) {
                for (auto m = placed[v]; m != 0 && !facts.steady[u] && !exits_.is_in(u, m);
                     m = facts.tree.parent(m)) {
                    has_several_[m] = has_several_[m] || (entry_[m] != no_id && entry_[m] != v);
                    entry_[m] = heads[m] ? v : no_id;
                }
            }
        }
        for (id v = 0; v < placed.size(); ++v) {
            facts_.for_each_input(v, [&](id input) { reads_input_.emplace(input, v); });
        }
    }

    /// Returns: the steps before a module, the first one first, back to a value that is also read
    /// elsewhere; none if they are more than `most`. Back to another value, one of them must be a
    /// normalization, as others might be of the module before, unless the model is the sequence.
    [[nodiscard]] std::vector<std::vector<id>> before(id m, std::size_t most) const {
        if (entry_[m] == no_id || has_several_[m] || starts_inside(entry_[m])) {
            return {};
        }
        std::vector<id> region;
        const auto is_inside = [&](id v) {
            return exits_.is_in(v, m) || range::contains(region, v);
        };
        auto [from, complete] = collect(m, region, is_inside);
        bool sure = facts_.tree.parent(m) == 0;
        std::vector<std::vector<id>> steps;
        const auto first = only_input_reader(region, is_inside);
        if (first.v != no_id && (sure || first.forks)) {
            steps.push_back({first.v});
            from = no_id;
            sure = true;
        } else {
            region.resize(complete);
            if (from == no_id || region.empty()) {
                return {};
            }
            facts_.for_each_reader(from, [&](id w) { sure = sure || !is_inside(w); });
        }
        for (auto v = from == no_id ? first.v : from; v == from || !exits_.leads_to(v, m);
             v = steps.back().back()) {
            auto unit = units_.behind(v, is_inside);
            if (unit.empty() || steps.size() > 3 * most) {
                return {};
            }
            steps.push_back(std::move(unit));
        }
        join_groups(steps);
        sure = sure || range::any_of(steps, [&](const auto& step) { return normalizes(step); });
        return sure && steps.size() <= most ? steps : std::vector<std::vector<id>>();
    }

    /// Whether a step is a normalization, which the parameters of some module scale.
    [[nodiscard]] bool normalizes(const std::vector<id>& step) const {
        return range::any_of(step, [&](id v) { return facts_.is(v, "InstanceNormalization"); });
    }

private:
    /// Whether an operator was joined from several, and the parameters of the first have no name:
    /// that one may be of a member before.
    [[nodiscard]] bool starts_inside(id v) const {
        bool lost = false;
        if constexpr (joined_operators<Ops>) {
            facts_.ops.for_each_parameter(
                facts_.vertex(v), [&](id p) { lost = lost || facts_.owners.of(p).empty(); });
            lost = lost && facts_.ops.is_joined(facts_.vertex(v));
        }
        return lost;
    }

    /// An operator that alone leads from an input of the model into a region.
    struct input_reader {
        id v = no_id;
        bool forks = false; ///< whether others read the input, too
    };

    /// Returns: that of a region that starts at inputs of the model; `no_id` if it reads several,
    /// or something else. Complexity: O(inputs of the operators, and readers of those).
    template <class IsInside>
    [[nodiscard]] input_reader only_input_reader(const std::vector<id>& region,
                                                 IsInside is_inside) const {
        input_reader result;
        std::size_t reads = 0;
        bool computed = false;
        for (auto v : region) {
            computed = computed || range::any_of(facts_.producers(v), [&](id u) {
                           return !facts_.steady[u] && !is_inside(u);
                       });
            facts_.for_each_input(v, [&](id input) {
                ++reads;
                result.v = v;
                const auto [reader, end] = reads_input_.equal_range(input);
                result.forks = std::any_of(
                    reader, end, [&](const auto& entry) { return !is_inside(entry.second); });
            });
        }
        return reads == 1 && !computed ? result : input_reader{};
    }

    /// Collects what leads to nothing but a module. Returns: what makes the one value that the
    /// first ones of these depend on, or `no_id`, and their number.
    template <class IsInside>
    [[nodiscard]] std::pair<id, std::size_t> collect(id m, std::vector<id>& region,
                                                     IsInside is_inside) const {
        constexpr std::size_t max_region = 48;
        std::vector<id> outside;
        std::size_t complete = 0; // how much surely depends on one value
        auto only = no_id;
        bool grows = true;
        while (grows && region.size() < max_region) {
            grows = false;
            outside.clear();
            for (std::size_t i = 0; i <= region.size(); ++i) {
                const auto v = i == region.size() ? entry_[m] : region[i];
                for (const auto u : facts_.producers(v)) {
                    if (!facts_.steady[u] && !is_inside(u) && !range::contains(outside, u)) {
                        outside.push_back(u);
                    }
                }
            }
            if (outside.size() == 1) {
                complete = region.size();
                only = outside.front();
            }
            for (auto u : outside) {
                if (free_[u] && range::all_of(facts_.readers(u), [&](id w) {
                        return facts_.steady[w] || is_inside(w);
                    })) {
                    region.push_back(u);
                    grows = true;
                    break;
                }
            }
        }
        return {only, complete};
    }

    /// Joins the steps of a normalization of groups to one.
    void join_groups(std::vector<std::vector<id>>& steps) const {
        for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
            if (normalizes(steps[i]) && facts_.is(steps[i - 1].back(), "Reshape") &&
                facts_.is(steps[i + 1].front(), "Reshape")) {
                auto& whole = steps[i - 1];
                whole.insert(whole.end(), steps[i].begin(), steps[i].end());
                whole.insert(whole.end(), steps[i + 1].begin(), steps[i + 1].end());
                const auto at = steps.begin() + static_cast<std::ptrdiff_t>(i);
                steps.erase(at, at + 2);
            }
        }
    }

    const region_facts<Ops, Modules>& facts_;
    const std::vector<bool>& free_;
    const functional_units<Ops>& units_;
    const module_exits<Ops, Modules>& exits_;
    std::vector<id> entry_; // by module, the operator that reads what others computed
    std::vector<bool> has_several_;
    std::unordered_multimap<id, id> reads_input_; // operators by input of the model
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SEQUENCE_STARTS_HPP
