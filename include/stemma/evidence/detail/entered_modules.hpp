// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_ENTERED_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_ENTERED_MODULES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds what modules compute on their way from the value that they are called with to the first
/// parameters that they read: a module that reads one value in several places was called with it.
template <operator_view Ops, module_view Modules>
class entered_modules {
public:
    /// Requires: `facts` outlives it. Complexity: O(V + E).
    explicit entered_modules(const region_facts<Ops, Modules>& facts)
        : facts_(facts)
        , tree_(facts.tree)
        , leads_to_(facts.size())
        , start_(facts.size(), no_id)
        , lost_since_(facts.size(), false) {
        const auto& owner = facts.owner;
        facts.order.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(facts_.ops.graph(), vertex);
            const auto readers = facts_.readers(v);
            if (owner[v] != no_id) {
                leads_to_[v].add(around(tree_, owner[v]));
                return;
            }
            if (facts_.lost[v] || readers.empty()) {
                leads_to_[v].add(0); // some module
            }
            for (const auto w : readers) {
                leads_to_[v].add(leads_to_[w]);
            }
        });
        facts.order.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(facts_.ops.graph(), vertex);
            if (owner[v] != no_id || facts_.steady[v]) {
                return;
            }
            auto only = no_id;
            bool one = true;
            lost_since_[v] = facts_.lost[v];
            for (const auto u : facts_.producers(v)) {
                if (!facts_.steady[u]) {
                    const auto from = start_[u] == no_id || facts_.forks(u) ? u : start_[u];
                    one = one && (only == no_id || only == from);
                    only = from;
                    lost_since_[v] = lost_since_[v] || (from != u && lost_since_[u]);
                }
            }
            start_[v] = one ? only : no_id;
        });
    }

    /// Moves operators in `modules` from an ancestor to the module they lead to, if that reads the
    /// value that they are computed from elsewhere too; not those that lay out a known result, nor
    /// those that are joined with other results before that module.
    /// Complexity: O(V), and of each value that is read more than once a bounded number of readers
    /// and of operators behind it.
    void refine(std::vector<id>& modules) const {
        facts_.order.backward([&](operator_t<Ops> vertex) {
            const auto v = static_cast<id>(index_of(facts_.ops.graph(), vertex));
            if (start_[v] == no_id || modules[v] == no_id || leads_to_[v].low == no_id) {
                return;
            }
            const bool lays_out_result = facts_.owner[start_[v]] != no_id &&
                                         is_layout(facts_.type(v)) &&
                                         range::contains(facts_.producers(v), start_[v]);
            const auto m = lays_out_result ? no_id : deeper(entered(v), split_by(v));
            if (m != no_id && m != modules[v] && tree_.is_ancestor(modules[v], m) &&
                !is_joined_before(m, v, modules)) {
                modules[v] = m;
            }
        });
    }

private:
    static constexpr std::size_t max_steps = 16;

    /// Returns: the deepest module that contains whatever reads the result of `v` and another
    /// reader of a value that it was computed from.
    [[nodiscard]] id entered(id v) const {
        id best = no_id;
        auto from = start_[v];
        for (std::size_t steps = 0; from != no_id && steps < max_steps; ++steps) {
            best = deeper(best, entered_with(v, from));
            // What unknown modules computed for several is not on the way from what they read.
            const bool is_theirs = lost_since_[from] && facts_.count_readers(from) > 1;
            from = facts_.owner[from] == no_id && !is_theirs ? start_[from] : no_id;
        }
        return best;
    }

    /// Whether a reader of `v` outside of `m` also reads what was not computed from a value before
    /// `v`.
    [[nodiscard]] bool is_joined_before(id m, id v, const std::vector<id>& modules) const {
        const auto before = starts_of(v);
        const auto is_other = [&](id u) {
            return u != v && !facts_.steady[u] && !range::any_of(starts_of(u), [&](id from) {
                       return range::contains(before, from);
                   });
        };
        return range::any_of(facts_.readers(v), [&](id w) {
            const auto of = facts_.owner[w] == no_id ? modules[w] : facts_.owner[w];
            return of != no_id && !tree_.is_ancestor(m, of) &&
                   range::any_of(facts_.producers(w), is_other);
        });
    }

    /// Returns: an operator and the values, one before the other, that it was computed from alone.
    [[nodiscard]] std::vector<id> starts_of(id v) const {
        std::vector<id> starts;
        for (; v != no_id && starts.size() < max_steps; v = start_[v]) {
            starts.push_back(v);
        }
        return starts;
    }

    /// Returns: the module that reads the parts of a value in several places, if `v` splits it.
    [[nodiscard]] id split_by(id v) const {
        if (!facts_.is(v, "Split")) {
            return no_id;
        }
        common_module least;
        common_module most;
        for (const auto w : facts_.readers(v)) {
            least.add(leads_to_[w].low);
            most.add(leads_to_[w].behind);
        }
        const bool several = least.low + 1 < least.behind || most.low + 1 < most.behind;
        return several ? facts_.code.nearest(leads_to_[v].get(tree_)) : no_id;
    }

    [[nodiscard]] id entered_with(id v, id from) const {
        if (!facts_.forks(from)) {
            return no_id;
        }
        const auto way = operators_with(from, v);
        id best = no_id;
        std::size_t readers = 0;
        for (const auto w : facts_.readers(from)) {
            if (++readers > max_steps || way.empty()) {
                break;
            }
            if (!facts_.steady[w] && leads_to_[w].low != no_id && !range::contains(way, w) &&
                !is_rolled_with(w, way)) {
                common_module both = leads_to_[v];
                both.add(leads_to_[w]);
                best = deeper(best, facts_.code.nearest(both.get(tree_)));
            }
        }
        return best;
    }

    /// Whether an operator cuts one of the two parts of a value that another of `way` puts together
    /// again: the code reads that value once, to roll it.
    [[nodiscard]] bool is_rolled_with(id w, const std::vector<id>& way) const {
        const auto readers = facts_.readers(w);
        return facts_.is(w, "Slice") && readers.is_single() &&
               range::contains(way, readers.front()) && rolls(readers.front());
    }

    /// Whether an operator only puts two parts of one value together.
    [[nodiscard]] bool rolls(id v) const {
        auto from = no_id;
        std::size_t parts = 0;
        for (const auto part : facts_.producers(v)) {
            const auto value = facts_.is(part, "Slice") ? facts_.only_producer(part) : no_id;
            if (value == no_id || ++parts > 2 || (from != no_id && from != value)) {
                return false;
            }
            from = value;
        }
        return parts == 2 && facts_.is(v, "Concat");
    }

    [[nodiscard]] id deeper(id a, id b) const {
        return a == no_id || (b != no_id && tree_.depth(b) > tree_.depth(a)) ? b : a;
    }

    /// Returns: what `v` is computed with from the result of `from`, and what unknown operators
    /// compute with its result; nothing if that is a lot.
    [[nodiscard]] std::vector<id> operators_with(id from, id v) const {
        std::vector<id> way{v};
        const auto add = [&](id u) {
            if (u != from && !facts_.steady[u] && !range::contains(way, u)) {
                way.push_back(u);
            }
        };
        for (std::size_t i = 0; i < way.size() && way.size() <= max_steps; ++i) {
            for (const auto u : facts_.producers(way[i])) {
                add(u);
            }
        }
        const auto before = way.size();
        std::swap(way.front(), way.back());
        for (auto i = before - 1; i < way.size() && way.size() <= max_steps; ++i) {
            for (const auto w : facts_.readers(way[i])) {
                if (facts_.owner[w] == no_id) {
                    add(w);
                }
            }
        }
        return way.size() <= max_steps ? way : std::vector<id>();
    }

    const region_facts<Ops, Modules>& facts_;
    const tree_index& tree_;
    std::vector<common_module> leads_to_; // the modules that read a result first
    std::vector<id> start_;        // what makes the only value that a result is computed from
    std::vector<bool> lost_since_; // unknown weights are read between there and the result
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_ENTERED_MODULES_HPP
