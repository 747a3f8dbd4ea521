// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PARAMETER_BLOCKS_HPP
#define STEMMA_EVIDENCE_DETAIL_PARAMETER_BLOCKS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/is_product.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the only operator whose data `v` reads, by vertex index, or `no_id`. `steady` ones are
/// independent of data. Complexity: O(in-edges).
template <class Graph>
[[nodiscard]] id only_source(const Graph& graph, vertex_t<Graph> v,
                             const std::vector<bool>& steady) {
    id only = no_id;
    for (auto [in, last] = in_edges(v, graph); in != last; ++in) {
        const auto u = static_cast<id>(index_of(graph, source(*in, graph)));
        if (!steady[u]) {
            if (only != no_id) {
                return no_id;
            }
            only = u;
        }
    }
    return only;
}

/// Returns: how many operators compute with the result of `v`, not only with its shape, counting to
/// two. `steady` ones are independent of data. Complexity: O(out-edges).
template <class Graph>
[[nodiscard]] unsigned count_readers(const Graph& graph, vertex_t<Graph> v,
                                     const std::vector<bool>& steady) {
    unsigned count = 0;
    for (auto [out, last] = out_edges(v, graph); out != last && count < 2; ++out) {
        count += steady[index_of(graph, target(*out, graph))] ? 0U : 1U;
    }
    return count;
}

/// Finds the operators that belong to a module besides those that read its parameters, in a model
/// without names: the product before a bias, the steps of a normalization before its scale.
template <operator_view Ops>
class parameter_blocks {
public:
    /// All by vertex index: `bare` operators have only parameters to show their origin, `steady`
    /// ones are independent of data, `products` read a weight, and `lost` ones an unnamed weight.
    parameter_blocks(const Ops& ops, const std::vector<bool>& bare, const std::vector<bool>& steady,
                     const std::vector<bool>& products, const std::vector<bool>& lost)
        : ops_(ops)
        , graph_(ops.graph())
        , vertex_(graph_)
        , bare_(bare)
        , steady_(steady)
        , products_(products)
        , lost_(lost) {}

    /// Assigns such operators to the module of those that read its parameters: `owner` is by vertex
    /// index, `no_id` if no parameter shows it.
    /// Complexity: O(V + E).
    void complete(std::vector<id>& owner) {
        owner_.swap(owner);
        complete_affine_operators();
        complete_normalizations();
        complete_flattened();
        owner_.swap(owner);
    }

private:
    /// A multiplication by a weight whose name is lost, and the addition of a bias after it.
    void complete_affine_operators() {
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            if (owner_[v] != no_id || !bare_[v] || !lost_[v] ||
                std::string_view(ops_.op_type(vertex_[v])) == "Add") {
                continue;
            }
            auto [out, out_last] = out_edges(vertex_[v], graph_);
            if (out == out_last) {
                continue;
            }
            const auto reader = target(*out, graph_);
            const bool alone = ++out == out_last;
            auto [in, in_last] = in_edges(reader, graph_);
            const bool scales = std::string_view(ops_.op_type(reader)) == "Mul";
            if (alone && ++in == in_last && !scales && !products_[index_of(graph_, reader)]) {
                owner_[v] = owner_[index_of(graph_, reader)];
            }
        }
    }

    /// What lies between one value and the scale of a normalization, has no other use, and is not a
    /// product itself.
    void complete_normalizations() {
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            if (owner_[v] != no_id && bare_[v] &&
                std::string_view(ops_.op_type(vertex_[v])) == "Mul") {
                complete_normalization(v);
            }
        }
    }

    void complete_normalization(std::size_t scale) {
        constexpr std::size_t max_region = 32;
        std::vector<std::size_t> region;
        std::size_t complete = 0; // how much of the region surely depends on one value
        std::vector<std::pair<std::size_t, std::size_t>> outside; // operator, times read inside
        const auto is_inside = [&](std::size_t v) {
            return v == scale || std::find(region.begin(), region.end(), v) != region.end();
        };
        const auto look = [&](std::size_t v) {
            for (auto [in, last] = in_edges(vertex_[v], graph_); in != last; ++in) {
                const auto u = index_of(graph_, source(*in, graph_));
                if (steady_[u] || is_inside(u)) {
                    continue;
                }
                const auto position = std::find_if(outside.begin(), outside.end(),
                                                   [&](const auto& o) { return o.first == u; });
                position == outside.end() ? outside.emplace_back(u, 1)
                                          : * position = {u, position->second + 1};
            }
        };
        const auto is_used_inside_only = [&](std::size_t u) {
            for (auto [out, last] = out_edges(vertex_[u], graph_); out != last; ++out) {
                if (!is_inside(index_of(graph_, target(*out, graph_)))) {
                    return false;
                }
            }
            return owner_[u] == no_id && bare_[u] && !is_product(ops_.op_type(vertex_[u]));
        };
        for (;;) {
            outside.clear();
            look(scale);
            std::for_each(region.begin(), region.end(), look);
            if (outside.size() == 1 && outside.front().second > 1) {
                complete = region.size();
                if (!centres(outside.front().first)) {
                    break; // what it depends on may have been forked, too
                }
            }
            const auto next = std::find_if(outside.begin(), outside.end(), [&](const auto& o) {
                return is_used_inside_only(o.first);
            });
            if (next == outside.end() || region.size() == max_region) {
                break;
            }
            const bool shapes = std::string_view(ops_.op_type(vertex_[next->first])) == "Reshape";
            region.push_back(next->first);
            // Group normalization reshapes its input first.
            complete = normalizes(next->first) ||
                               (shapes && region.size() > 1 && normalizes(*(region.end() - 2)))
                           ? region.size()
                           : complete;
        }
        for (std::size_t i = 0; i < complete; ++i) {
            owner_[region[i]] = owner_[scale];
        }
    }

    /// Whether an operator may subtract the mean, after which only the variance is computed.
    [[nodiscard]] bool centres(std::size_t v) const {
        return std::string_view(ops_.op_type(vertex_[v])) == "Sub";
    }

    [[nodiscard]] bool normalizes(std::size_t v) const {
        return std::string_view(ops_.op_type(vertex_[v])) == "InstanceNormalization";
    }

    /// Reshaping a value to a matrix for an operator that requires one, and back afterwards.
    void complete_flattened() {
        const auto is_reshape = [&](std::size_t v) {
            return owner_[v] == no_id && bare_[v] &&
                   std::string_view(ops_.op_type(vertex_[v])) == "Reshape";
        };
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            if (owner_[v] == no_id || std::string_view(ops_.op_type(vertex_[v])) != "Gemm") {
                continue;
            }
            const auto before = only_source(graph_, vertex_[v], steady_);
            const auto behind = only_target(v);
            if (before != no_id && behind != no_id && is_reshape(before) && is_reshape(behind) &&
                only_target(before) == v) {
                owner_[before] = owner_[v];
                owner_[behind] = owner_[v];
            }
        }
    }

    /// Returns: the only operator that reads the results of `v`, or `no_id`.
    [[nodiscard]] id only_target(std::size_t v) const {
        auto [out, last] = out_edges(vertex_[v], graph_);
        if (out == last) {
            return no_id;
        }
        const auto only = static_cast<id>(index_of(graph_, target(*out, graph_)));
        return ++out == last ? only : no_id;
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    vertices_by_index<graph_of<Ops>> vertex_;
    const std::vector<bool>& bare_;
    const std::vector<bool>& steady_;
    const std::vector<bool>& products_;
    const std::vector<bool>& lost_;
    std::vector<id> owner_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PARAMETER_BLOCKS_HPP
