// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_OWNERS_AROUND_HPP
#define STEMMA_EVIDENCE_DETAIL_OWNERS_AROUND_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The nearest operators of known modules before and behind every operator, in the same body. What
/// the bodies of an operator read from around it, that operator reads.
template <operator_view Ops>
class owners_around {
public:
    /// By vertex index: `owner` is the module of an operator if known, `named` the same by name,
    /// `steady` operators are independent of data, `lost` ones read weights of unknown modules,
    /// `position` is their place in `order`. Requires: all arguments outlive it.
    owners_around(const Ops& ops, const vertices_by_index<graph_of<Ops>>& vertex,
                  const std::vector<id>& owner, const std::vector<id>& named,
                  const std::vector<bool>& steady, const std::vector<bool>& lost,
                  const std::vector<id>& position)
        : ops_(ops)
        , graph_(ops.graph())
        , vertex_(vertex)
        , owner_(owner)
        , named_(named)
        , steady_(steady)
        , lost_(lost)
        , position_(position) {}

    /// Complexity: O(V + E), for each edge into a body also its depth; as for `find_behind`.
    [[nodiscard]] std::vector<nearest_owners>
    find_before(const sweep_order<graph_of<Ops>>& order) const {
        std::vector<nearest_owners> before(owner_.size());
        order.forward([&](operator_t<Ops> v) {
            for (auto [in, last] = in_edges(v, graph_); in != last; ++in) {
                const auto u = source(*in, graph_);
                if (const auto reader = reader_beside(u, v); reader != no_id) {
                    const auto i = index_of(graph_, u);
                    add(before[reader], i, position_[i], before[i], std::greater<>());
                }
            }
        });
        return before;
    }

    [[nodiscard]] std::vector<nearest_owners>
    find_behind(const sweep_order<graph_of<Ops>>& order) const {
        std::vector<nearest_owners> behind(owner_.size());
        order.backward([&](operator_t<Ops> v) {
            for (auto [out, last] = out_edges(v, graph_); out != last; ++out) {
                if (const auto i = reader_beside(v, target(*out, graph_)); i != no_id) {
                    add(behind[index_of(graph_, v)], i, position_[i], behind[i], std::less<>());
                }
            }
        });
        return behind;
    }

    /// Returns: for every input of `v` that was computed beside it, the nearest owners before that.
    [[nodiscard]] std::vector<nearest_owners>
    find_inputs(operator_t<Ops> v, const std::vector<nearest_owners>& before) const {
        std::vector<nearest_owners> inputs;
        for (auto [in, last] = in_edges(v, graph_); in != last; ++in) {
            const auto u = source(*in, graph_);
            if (reader_beside(u, v) == index_of(graph_, v)) {
                const auto i = index_of(graph_, u);
                add(inputs.emplace_back(), i, 0, before[i], std::greater<>());
            }
        }
        return inputs;
    }

private:
    /// Adds what is known about a neighbour; if nothing is, its own neighbours.
    template <class Closer>
    void add(nearest_owners& to, std::size_t neighbour, id position, const nearest_owners& beyond,
             Closer closer) const {
        if (owner_[neighbour] != no_id) {
            to.add({position, owner_[neighbour], named_[neighbour] != no_id}, closer);
            return;
        }
        if (steady_[neighbour]) {
            return;
        }
        to.add(beyond, closer);
        if (lost_[neighbour]) {
            to.add({position, no_id}, closer);
        }
    }

    /// Returns: the vertex index of `reader`, or of the operator in the same body as `maker` whose
    /// bodies contain it; `no_id` if none is.
    [[nodiscard]] id reader_beside(operator_t<Ops> maker, operator_t<Ops> reader) const {
        auto beside = static_cast<id>(index_of(graph_, reader));
        if constexpr (nested_operators<Ops>) {
            const auto around = ops_.owner(maker);
            for (auto owner = ops_.owner(reader); owner != around;) {
                if (owner == no_id) {
                    return no_id;
                }
                beside = owner;
                owner = ops_.owner(vertex_[owner]);
            }
        }
        return beside;
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    const vertices_by_index<graph_of<Ops>>& vertex_;
    const std::vector<id>& owner_;
    const std::vector<id>& named_;
    const std::vector<bool>& steady_;
    const std::vector<bool>& lost_;
    const std::vector<id>& position_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_OWNERS_AROUND_HPP
