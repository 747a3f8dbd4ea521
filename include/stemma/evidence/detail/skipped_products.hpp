// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SKIPPED_PRODUCTS_HPP
#define STEMMA_EVIDENCE_DETAIL_SKIPPED_PRODUCTS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the module of products by weights whose names are lost, as those of projections without a
/// bias are. What a skip connection passes by is most often one module and a normalization:
/// `x + attention(norm(x))`. If parameters show only one module there that has modules of its own,
/// the products are its, too.
template <operator_view Ops, module_view Modules>
class skipped_products {
public:
    /// Requires: `facts` outlives it.
    explicit skipped_products(region_facts<Ops, Modules>& facts)
        : facts_(facts), tree_(facts.tree), owner_(facts.owner) {}

    /// Assigns such products. Complexity: O(V), and a bounded number of operators for each
    /// addition.
    void complete() {
        if (!range::contains(facts_.lost, true)) {
            return;
        }
        std::vector<id> modules(facts_.size(), no_id);
        std::vector<id> leads_to(facts_.size(), no_id); // the last addition found for an operator
        for (id v = 0; v < facts_.size(); ++v) {
            const bool adds = facts_.is(v, "Add") && owner_[v] == no_id && !facts_.steady[v];
            const auto [one, other] =
                adds || facts_.sums.contains(v) ? summands_of(v) : std::array<id, 2>{no_id, no_id};
            if (one == no_id || other == no_id) {
                continue;
            }
            const bool in_order = facts_.position[one] < facts_.position[other];
            const auto region =
                collect_between(in_order ? one : other, in_order ? other : one, v, leads_to);
            const auto module = only_caller(region);
            if (module == no_id) {
                continue;
            }
            for (const auto u : beside(module, region, leads_to)) {
                if (is_nameless_product(u) &&
                    (modules[u] == no_id || tree_.depth(modules[u]) < tree_.depth(module))) {
                    modules[u] = module;
                }
            }
        }
        for (id v = 0; v < facts_.size(); ++v) {
            owner_[v] = modules[v] == no_id ? owner_[v] : modules[v];
        }
    }

private:
    /// Returns: what makes the first two inputs that depend on data, or `no_id`.
    [[nodiscard]] std::array<id, 2> summands_of(id v) const {
        std::array<id, 2> summands{no_id, no_id};
        std::size_t count = 0;
        for (const auto u : facts_.producers(v)) {
            if (count < 2 && !facts_.steady[u]) {
                summands[count++] = u;
            }
        }
        return summands;
    }

    /// Returns: the operators on the way from `fork` to `end`, one input of `addition`; none if
    /// there is no way, or too many.
    [[nodiscard]] std::vector<id> collect_between(id fork, id end, id addition,
                                                  std::vector<id>& leads_to) const {
        constexpr std::size_t max_region = 256;
        std::vector<id> region{end};
        leads_to[end] = addition;
        bool reached = false;
        for (std::size_t i = 0; i < region.size() && region.size() <= max_region; ++i) {
            for (const auto u : facts_.producers(region[i])) {
                reached = reached || u == fork;
                if (!facts_.steady[u] && facts_.position[u] > facts_.position[fork] &&
                    leads_to[u] != addition) {
                    leads_to[u] = addition;
                    region.push_back(u);
                }
            }
        }
        return reached && region.size() <= max_region ? region : std::vector<id>();
    }

    /// Returns: the operators of a region, which lead to one addition, that no others separate from
    /// those of `module`.
    [[nodiscard]] std::vector<id> beside(id module, const std::vector<id>& region,
                                         const std::vector<id>& leads_to) const {
        std::vector<id> reached;
        const auto add = [&](id u) {
            const bool is_in = leads_to[u] == leads_to[region.front()];
            const bool open = owner_[u] == no_id || tree_.is_ancestor(module, owner_[u]);
            if (is_in && open && !range::contains(reached, u)) {
                reached.push_back(u);
            }
        };
        for (const auto u : region) {
            if (owner_[u] != no_id) {
                add(u);
            }
        }
        for (std::size_t i = 0; i < reached.size(); ++i) {
            for (const auto u : facts_.producers(reached[i])) {
                add(u);
            }
            for (const auto w : facts_.readers(reached[i])) {
                add(w);
            }
        }
        return reached;
    }

    [[nodiscard]] bool is_nameless_product(id v) const {
        return owner_[v] == no_id && facts_.lost[v] && facts_.is(v, "MatMul");
    }

    /// Returns: the only module in a region that calls others, beside modules of one call; `no_id`
    /// if there is none, or several, or nothing to place.
    [[nodiscard]] id only_caller(const std::vector<id>& region) const {
        if (!range::any_of(region, [&](id v) { return is_nameless_product(v); })) {
            return no_id;
        }
        std::vector<id> owners;
        for (auto v : region) {
            if (owner_[v] != no_id) {
                owners.push_back(owner_[v]);
            }
        }
        owners = range::each_once(std::move(owners));
        if (owners.size() < 2) {
            return no_id;
        }
        const auto around = tree_.lca(owners.front(), owners.back());
        auto only = no_id;
        for (auto m : owners) {
            const auto child = m == around ? m : tree_.child_towards(around, m);
            if (child == around || child == only || (child == m && tree_.is_leaf(m))) {
                continue;
            }
            if (only != no_id) {
                return no_id;
            }
            only = child;
        }
        only = only == no_id ? around : only; // else the module that calls all of them
        return only == 0 || facts_.code.is_list(only) ? no_id : only;
    }

    region_facts<Ops, Modules>& facts_;
    const tree_index& tree_;
    std::vector<id>& owner_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SKIPPED_PRODUCTS_HPP
