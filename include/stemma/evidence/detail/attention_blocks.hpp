// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_ATTENTION_BLOCKS_HPP
#define STEMMA_EVIDENCE_DETAIL_ATTENTION_BLOCKS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the rest of an attention whose last projection has a name and whose first ones lost
/// theirs: whatever leads to that projection only, back to products with nameless weights, and what
/// lays out values for these.
template <operator_view Ops>
class attention_blocks {
public:
    /// All by vertex index: `bare` operators have only parameters to show their origin, `steady`
    /// ones are independent of data, `lost` ones read a weight whose name is lost.
    /// Requires: all arguments outlive it.
    attention_blocks(const Ops& ops, const std::vector<bool>& bare, const std::vector<bool>& steady,
                     const std::vector<bool>& lost)
        : ops_(ops), vertex_(ops.graph()), bare_(bare), steady_(steady), lost_(lost) {}

    /// Assigns such operators to the module of the projection, if that is an attention of torch.
    /// `attends` is by module; `owner` by vertex index, `no_id` if unknown. Complexity: O(V), and a
    /// bounded number of operators for each attention.
    void complete(const std::vector<bool>& attends, std::vector<id>& owner) const {
        for (std::size_t v = 0; v < owner.size(); ++v) {
            if (owner[v] != no_id && attends[owner[v]]) {
                give(leading_to(v, owner), owner[v], owner);
            }
        }
    }

    /// Assigns operators with a Softmax among them to the module around a projection of which
    /// nothing else has names, unless they read results of others with names. `around` is by
    /// module, `no_id` for other modules. Complexity: as above.
    void complete_around(const std::vector<id>& around, std::vector<id>& owner) const {
        if (std::find(lost_.begin(), lost_.end(), true) == lost_.end()) {
            return;
        }
        for (std::size_t v = 0; v < owner.size(); ++v) {
            const auto module = owner[v] == no_id ? no_id : around[owner[v]];
            if (module == no_id) {
                continue;
            }
            auto region = leading_to(v, owner);
            if (has_softmax(region) && !reads_known(region, owner)) {
                region.operators.erase(region.operators.begin()); // the projection
                give(region, module, owner);
            }
        }
    }

private:
    struct block {
        std::vector<id> operators;
        std::vector<bool> begins; // by operator: lays out what a nameless weight multiplies
    };

    /// Assigns operators to a module if nameless weights are among what they read.
    void give(const block& region, id module, std::vector<id>& owner) const {
        const auto& operators = region.operators;
        if (std::any_of(operators.begin(), operators.end(), [&](id u) { return lost_[u]; })) {
            std::for_each(operators.begin(), operators.end(), [&](id u) { owner[u] = module; });
        }
    }

    [[nodiscard]] bool has_softmax(const block& region) const {
        return std::any_of(region.operators.begin(), region.operators.end(), [&](id u) {
            return std::string_view(ops_.op_type(vertex_[u])) == "Softmax";
        });
    }

    /// Whether operators behind nameless products read what is computed by modules with names,
    /// other than that of the projection.
    [[nodiscard]] bool reads_known(const block& region, const std::vector<id>& owner) const {
        const auto projection = owner[region.operators.front()];
        for (std::size_t i = 0; i < region.operators.size(); ++i) {
            const auto u = region.operators[i];
            if (region.begins[i] || (i != 0 && lost_[u])) {
                continue;
            }
            const auto [in, last] = in_edges(vertex_[u], ops_.graph());
            if (std::any_of(in, last, [&](const auto& edge) {
                    const auto w = index_of(ops_.graph(), source(edge, ops_.graph()));
                    return !steady_[w] && owner[w] != no_id && owner[w] != projection;
                })) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] block leading_to(std::size_t v, const std::vector<id>& owner) const {
        constexpr std::size_t max_region = 64;
        block reached{{static_cast<id>(v)}, {false}};
        auto& [region, begins] = reached;
        const auto is_inside = [&operators = reached.operators](std::size_t u) {
            return std::find(operators.begin(), operators.end(), u) != operators.end();
        };
        const auto leads_inside = [&](std::size_t u) {
            for (auto [out, last] = out_edges(vertex_[u], ops_.graph()); out != last; ++out) {
                const auto w = index_of(ops_.graph(), target(*out, ops_.graph()));
                if (!steady_[w] && !is_inside(w)) {
                    return false;
                }
            }
            return true;
        };
        for (bool grows = true; grows && region.size() < max_region;) {
            grows = false;
            for (std::size_t i = 0; i < region.size(); ++i) {
                const bool first = begins[i] || (i != 0 && lost_[region[i]]);
                for (auto [in, last] = in_edges(vertex_[region[i]], ops_.graph()); in != last;
                     ++in) {
                    const auto u = index_of(ops_.graph(), source(*in, ops_.graph()));
                    const bool fits = bare_[u] && !steady_[u] && owner[u] == no_id &&
                                      (!first || is_layout(ops_.op_type(vertex_[u])));
                    if (fits && !is_inside(u) && leads_inside(u)) {
                        region.push_back(static_cast<id>(u));
                        begins.push_back(first);
                        grows = true;
                    }
                }
            }
        }
        return reached;
    }

    const Ops& ops_;
    vertices_by_index<graph_of<Ops>> vertex_;
    const std::vector<bool>& bare_;
    const std::vector<bool>& steady_;
    const std::vector<bool>& lost_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_ATTENTION_BLOCKS_HPP
