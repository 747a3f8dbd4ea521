// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SKIPPED_PRODUCTS_HPP
#define STEMMA_EVIDENCE_DETAIL_SKIPPED_PRODUCTS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_map>
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
    /// By vertex index: `steady` operators are independent of data, `lost` ones read a weight whose
    /// name is lost, `sums` are those with an addition fused in, `position` is an operator's place
    /// in an order of the graph. Requires: all arguments outlive it.
    skipped_products(const Ops& ops, const Modules& modules, const module_code<Modules>& code,
                     const std::vector<bool>& steady, const std::vector<bool>& lost,
                     const std::unordered_map<id, id>& sums, const std::vector<id>& position)
        : ops_(ops)
        , vertex_(ops.graph())
        , tree_(modules.index())
        , code_(code)
        , steady_(steady)
        , lost_(lost)
        , sums_(sums)
        , position_(position) {}

    /// Assigns such products: `owner` is by vertex index, the module of an operator if known.
    /// Complexity: O(V), and a bounded number of operators for each addition.
    void complete(std::vector<id>& owner) const {
        if (std::find(lost_.begin(), lost_.end(), true) == lost_.end()) {
            return;
        }
        std::vector<id> modules(owner.size(), no_id);
        std::vector<id> leads_to(owner.size(), no_id); // the last addition found for an operator
        for (std::size_t v = 0; v < owner.size(); ++v) {
            const bool adds = std::string_view(ops_.op_type(vertex_[v])) == "Add";
            if ((!adds || owner[v] != no_id || steady_[v]) && !sums_.contains(static_cast<id>(v))) {
                continue;
            }
            const auto [one, other] = summands_of(v);
            if (one != no_id && other != no_id) {
                const auto [fork, end] = position_[one] < position_[other] ? std::pair(one, other)
                                                                           : std::pair(other, one);
                const auto region = collect_between(fork, end, static_cast<id>(v), leads_to);
                for_each_product(region, owner, [&](id product, id module) {
                    auto& known = modules[product];
                    if (known == no_id || tree_.depth(known) < tree_.depth(module)) {
                        known = module;
                    }
                });
            }
        }
        for (std::size_t v = 0; v < owner.size(); ++v) {
            owner[v] = modules[v] == no_id ? owner[v] : modules[v];
        }
    }

private:
    /// Returns: what makes the first two inputs that depend on data, or `no_id`.
    [[nodiscard]] std::array<id, 2> summands_of(std::size_t v) const {
        std::array<id, 2> summands{no_id, no_id};
        std::size_t count = 0;
        for (auto [in, last] = in_edges(vertex_[v], ops_.graph()); in != last && count < 2; ++in) {
            const auto u = static_cast<id>(index_of(ops_.graph(), source(*in, ops_.graph())));
            if (!steady_[u]) {
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
        bool reached = false;
        for (std::size_t i = 0; i < region.size() && region.size() <= max_region; ++i) {
            auto [in, last] = in_edges(vertex_[region[i]], ops_.graph());
            for (; in != last; ++in) {
                const auto u = static_cast<id>(index_of(ops_.graph(), source(*in, ops_.graph())));
                reached = reached || u == fork;
                if (!steady_[u] && position_[u] > position_[fork] && leads_to[u] != addition) {
                    leads_to[u] = addition;
                    region.push_back(u);
                }
            }
        }
        return reached && region.size() <= max_region ? region : std::vector<id>();
    }

    /// Calls `f(product, module)` for the products in a region whose module is known.
    template <class Function>
    void for_each_product(const std::vector<id>& region, const std::vector<id>& owner,
                          Function f) const {
        const auto module = only_caller(region, owner);
        for (auto v : region) {
            if (module != no_id && owner[v] == no_id && is_nameless_product(v)) {
                f(v, module);
            }
        }
    }

    [[nodiscard]] bool is_nameless_product(id v) const {
        return lost_[v] && std::string_view(ops_.op_type(vertex_[v])) == "MatMul";
    }

    /// Returns: the only module in a region that calls others, beside modules of one call; `no_id`
    /// if there is none, or several.
    [[nodiscard]] id only_caller(const std::vector<id>& region,
                                 const std::vector<id>& owner) const {
        if (std::none_of(region.begin(), region.end(),
                         [&](id v) { return owner[v] == no_id && is_nameless_product(v); })) {
            return no_id;
        }
        std::vector<id> owners;
        for (auto v : region) {
            if (owner[v] != no_id) {
                owners.push_back(owner[v]);
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
        return only == 0 || code_.is_list(only) ? no_id : only;
    }

    const Ops& ops_;
    vertices_by_index<graph_of<Ops>> vertex_;
    const tree_index& tree_;
    const module_code<Modules>& code_;
    const std::vector<bool>& steady_;
    const std::vector<bool>& lost_;
    const std::unordered_map<id, id>& sums_;
    const std::vector<id>& position_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SKIPPED_PRODUCTS_HPP
