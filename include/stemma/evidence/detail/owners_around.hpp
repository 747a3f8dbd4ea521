// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_OWNERS_AROUND_HPP
#define STEMMA_EVIDENCE_DETAIL_OWNERS_AROUND_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <functional>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The nearest operators of known modules before and behind every operator, in the same body. What
/// the bodies of an operator read from around it, that operator reads.
template <operator_view Ops, module_view Modules>
class owners_around {
public:
    /// Requires: `facts` outlives it.
    explicit owners_around(const region_facts<Ops, Modules>& facts) : facts_(facts) {}

    /// Complexity: O(V + E), for each edge into a body also its depth; as for `find_behind`.
    [[nodiscard]] std::vector<nearest_owners> find_before() const {
        std::vector<nearest_owners> before(facts_.size());
        facts_.order.forward([&](operator_t<Ops> vertex) {
            const auto v = static_cast<id>(index_of(facts_.ops.graph(), vertex));
            for (const auto u : facts_.producers(v)) {
                if (const auto reader = reader_beside(u, v); reader != no_id) {
                    add(before[reader], u, facts_.position[u], before[u], std::greater<>());
                }
            }
        });
        return before;
    }

    [[nodiscard]] std::vector<nearest_owners> find_behind() const {
        std::vector<nearest_owners> behind(facts_.size());
        facts_.order.backward([&](operator_t<Ops> vertex) {
            const auto v = static_cast<id>(index_of(facts_.ops.graph(), vertex));
            for (const auto w : facts_.readers(v)) {
                if (const auto i = reader_beside(v, w); i != no_id) {
                    add(behind[v], i, facts_.position[i], behind[i], std::less<>());
                }
            }
        });
        return behind;
    }

    /// Returns: for every input of `v` that was computed beside it, the nearest owners before that.
    [[nodiscard]] std::vector<nearest_owners>
    find_inputs(id v, const std::vector<nearest_owners>& before) const {
        std::vector<nearest_owners> inputs;
        for (const auto u : facts_.producers(v)) {
            if (reader_beside(u, v) == v) {
                add(inputs.emplace_back(), u, 0, before[u], std::greater<>());
            }
        }
        return inputs;
    }

private:
    /// Adds what is known about a neighbour; if nothing is, its own neighbours.
    template <class Closer>
    void add(nearest_owners& to, id neighbour, id position, const nearest_owners& beyond,
             Closer closer) const {
        if (facts_.owner[neighbour] != no_id) {
            to.add({position, facts_.owner[neighbour], facts_.named[neighbour] != no_id}, closer);
            return;
        }
        if (facts_.steady[neighbour]) {
            return;
        }
        to.add(beyond, closer);
        if (facts_.lost[neighbour]) {
            to.add({position, no_id}, closer);
        }
    }

    /// Returns: `reader`, or the operator in the same body as `maker` whose bodies contain it;
    /// `no_id` if none is.
    [[nodiscard]] id reader_beside([[maybe_unused]] id maker, id reader) const {
        if constexpr (nested_operators<Ops>) {
            const auto owner_of = [&](id v) { return facts_.ops.owner(facts_.vertex(v)); };
            const auto around = owner_of(maker);
            for (auto owner = owner_of(reader); owner != around; owner = owner_of(owner)) {
                if (owner == no_id) {
                    return no_id;
                }
                reader = owner;
            }
        }
        return reader;
    }

    const region_facts<Ops, Modules>& facts_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_OWNERS_AROUND_HPP
