// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SKIP_CONNECTIONS_HPP
#define STEMMA_EVIDENCE_DETAIL_SKIP_CONNECTIONS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/module_behind_fork.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/operator_kinds.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the modules of operators that combine what modules computed with what they computed it
/// from.
template <operator_view Ops, module_view Modules>
class skip_connections {
public:
    /// Requires: `facts` outlives it. Complexity: O(V + E + modules).
    explicit skip_connections(const region_facts<Ops, Modules>& facts)
        : facts_(facts)
        , tree_(facts.tree)
        , code_(facts.code)
        , first_(tree_.size(), no_id)
        , last_(tree_.size(), 0)
        , skipped_kind_(tree_.size(), 0)
        , adds_(tree_.size(), false) {
        for (id v = 0; v < facts.size(); ++v) {
            if (const auto m = facts.owner[v]; m != no_id) {
                first_[m] = std::min(first_[m], facts.position[v]);
                last_[m] = std::max(last_[m], facts.position[v]);
            }
        }
        for (auto m = static_cast<id>(tree_.size()); m-- > 1;) {
            const auto above = tree_.parent(m);
            first_[above] = std::min(first_[above], first_[m]);
            last_[above] = std::max(last_[above], last_[m]);
        }
    }

    /// Returns: by vertex index, the module where a skip connection ends, or `no_id`.
    /// Complexity: O(V + E), and a bounded number of operators for each join.
    [[nodiscard]] std::vector<id> run() {
        auto modules = residual_modules(propagation_problem<Ops>{facts_.ops, tree_, facts_.order,
                                                                 facts_.owner, &facts_.steady});
        for (id v = 0; v < modules.size(); ++v) {
            if (modules[v] == no_id && facts_.owner[v] == no_id && facts_.is(v, "Add")) {
                modules[v] = behind_input(v);
            }
            // A single call that is skipped says little about its caller.
            if (modules[v] != no_id && around(tree_, modules[v]) != modules[v]) {
                modules[v] = no_id;
            }
            if (modules[v] != no_id && facts_.is(v, "Add")) {
                note(code_.nearest(modules[v]), v);
            }
        }
        add_alike();
        for (id v = 0; v < modules.size(); ++v) {
            if (modules[v] != no_id && facts_.is(v, "Add")) {
                modules[v] = adding_module(code_.nearest(modules[v]), v);
            } else if (!facts_.is(v, "Mul")) {
                modules[v] =
                    facts_.is(v, "Concat") && facts_.owner[v] == no_id ? passed_by(v) : no_id;
            } else if (modules[v] == no_id && facts_.owner[v] == no_id && reads_converted(v)) {
                const auto m = behind_fork(v);
                modules[v] = m == no_id ? no_id : code_.nearest(around(tree_, m));
            }
        }
        return modules;
    }

private:
    static constexpr std::size_t reach = 64; // operators to look at

    /// Records which modules add, and which are skipped as a whole.
    void note(id m, id v) {
        if (m == 0 || !is_whole(m, v)) {
            adds_[m] = true;
            return;
        }
        const auto above = tree_.parent(m);
        auto& kind = skipped_kind_[above];
        adds_[above] = adds_[above] || (kind != 0 && kind != code_.pattern(m));
        kind = code_.pattern(m);
    }

    /// Members of a list that skip modules of one kind add alike: weights that equal others may be
    /// missing from most of them, and with those what else is skipped.
    void add_alike() {
        std::set<std::pair<id, std::uint64_t>> adding; // list, kind
        const auto of = [&](id m) { return std::pair(tree_.parent(m), skipped_kind_[m]); };
        std::vector<id> members;
        for (id m = 1; m < tree_.size(); ++m) {
            if (skipped_kind_[m] != 0 && code_.is_list(tree_.parent(m))) {
                members.push_back(m);
                adds_[m] ? void(adding.insert(of(m))) : void();
            }
        }
        for (const auto m : members) {
            adds_[m] = adding.contains(of(m));
        }
    }

    /// Returns: the module that adds the result of `m`, or of some of its steps, to what that was
    /// computed from: the caller of `m` if it adds more than the results of such modules, or has
    /// no other purpose, or if `m` is an attention of torch, which adds nothing to its result.
    [[nodiscard]] id adding_module(id m, id v) const {
        if (m == 0 || !is_whole(m, v)) {
            return m;
        }
        const auto above = tree_.parent(m);
        if (facts_.attends[m]) {
            return code_.nearest(above);
        }
        const bool wraps = first_[above] == first_[m] && last_[above] == last_[m];
        return !code_.is_list(above) && (adds_[above] || wraps) ? above : m;
    }

    /// Whether all operators of a module are between the fork and the end of a skip connection, or
    /// beside it, such as projections of a memory.
    [[nodiscard]] bool is_whole(id m, id v) const {
        auto fork = v;
        for (const auto u : facts_.producers(v)) {
            fork = facts_.position[u] < facts_.position[fork] ? u : fork;
        }
        return last_[m] < facts_.position[v] &&
               (first_[m] > facts_.position[fork] || read_input(v) != no_id || !leads_to(m, fork));
    }

    /// Whether an operator of a module is near on a way to `v`.
    [[nodiscard]] bool leads_to(id m, id v) const {
        return range::any_of(way_to(v, first_[m]), [&](id u) {
            return facts_.owner[u] != no_id && tree_.is_ancestor(m, facts_.owner[u]);
        });
    }

    /// Returns: `v` and the operators from a position on that it is computed by, the nearest first.
    [[nodiscard]] std::vector<id> way_to(id v, id position) const {
        std::vector<id> way{v};
        for (std::size_t i = 0; i < way.size() && i < reach; ++i) {
            for (const auto u : facts_.producers(way[i])) {
                if (!facts_.steady[u] && facts_.position[u] >= position &&
                    !range::contains(way, u)) {
                    way.push_back(u);
                }
            }
        }
        way.resize(std::min(way.size(), reach));
        return way;
    }

    /// Returns: the only input of the model that an operator reads, or `no_id`.
    [[nodiscard]] id read_input(id v) const {
        id only = no_id;
        std::size_t count = 0;
        facts_.for_each_input(v, [&](id input) {
            only = input;
            ++count;
        });
        return count == 1 ? only : no_id;
    }

    /// Returns: what is around all that computes one operand of an operator from the other one, an
    /// input of the model; or `no_id`.
    [[nodiscard]] id behind_input(id v) const {
        const auto input = read_input(v);
        const auto operand = input == no_id ? no_id : facts_.only_producer(v);
        if (operand == no_id) {
            return no_id;
        }
        common_module around;
        bool reached = false;
        for (const auto u : way_to(operand, 0)) {
            around.add(facts_.owner[u]);
            reached = reached || read_input(u) == input;
        }
        return reached ? around.get(tree_) : no_id;
    }

    /// Whether a runtime's conversions of layouts hide that one input is computed from another.
    [[nodiscard]] bool reads_converted(id v) const {
        return range::any_of(facts_.producers(v),
                             [&](id u) { return is_conversion(facts_.type(u)); });
    }

    /// Returns: the module that runs the sequence that part of a value passes by, or `no_id`.
    [[nodiscard]] id passed_by(id v) const {
        const auto m = behind_fork(v);
        return m != no_id && code_.is_list(m) && !goes_on_behind(v) ? code_.nearest(m) : no_id;
    }

    /// Whether what an operator reads was processed further, by more than activations, after the
    /// last module that is known and after the last fork: resized, for example. Then another module
    /// may have joined it.
    [[nodiscard]] bool goes_on_behind(id v) const {
        return range::any_of(facts_.producers(v), [&](id u) {
            constexpr id max_steps = 16;
            bool goes_on = false;
            for (id step = 0; step < max_steps && u != no_id && facts_.owner[u] == no_id &&
                              !facts_.steady[u] && facts_.count_readers(u) == 1;
                 ++step) {
                const auto type = facts_.type(u);
                goes_on =
                    goes_on || !(is_elementwise(type) || is_layout(type) || is_conversion(type));
                u = facts_.only_producer(u);
            }
            return goes_on && u != no_id && facts_.owner[u] != no_id;
        });
    }

    /// Returns: what is around all that is known between an operator and the fork of its two
    /// inputs, or `no_id`.
    [[nodiscard]] id behind_fork(id v) const {
        const auto inputs = range::count_if(facts_.producers(v), [](id) { return true; });
        return inputs == 2 ? module_behind_fork(facts_, tree_, v, reach,
                                                [&](id u) { return facts_.owner[u]; })
                           : no_id;
    }

    const region_facts<Ops, Modules>& facts_;
    const tree_index& tree_;
    const module_code<Modules>& code_;
    std::vector<id> first_; // position of a module's operators
    std::vector<id> last_;
    std::vector<std::uint64_t> skipped_kind_; // of a child that is skipped as a whole
    std::vector<bool> adds_;                  // a module does so itself
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SKIP_CONNECTIONS_HPP
