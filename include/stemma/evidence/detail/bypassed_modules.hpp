// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_BYPASSED_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_BYPASSED_MODULES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: by module, whether an operator multiplies by its weight a value that was reshaped to a
/// matrix for that, and whose result is reshaped back. Complexity: O(V + reads).
template <parameter_readers Ops>
[[nodiscard]] std::vector<bool> find_flat_products(const Ops& ops, const tree_index& tree,
                                                   const parameter_owners& owners) {
    std::vector<bool> flat(tree.size(), false);
    if constexpr (named_operators<Ops>) {
        const auto& graph = ops.graph();
        const auto reshapes = [&](const auto& v) {
            return std::string_view(ops.op_type(v)) == "Reshape";
        };
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            const auto v = *it;
            const auto [from, from_end] = in_edges(v, graph);
            const auto [to, to_end] = out_edges(v, graph);
            if (std::string_view(ops.op_type(v)) != "Gemm" ||
                std::none_of(from, from_end, [&](auto e) { return reshapes(source(e, graph)); }) ||
                std::none_of(to, to_end, [&](auto e) { return reshapes(target(e, graph)); })) {
                continue;
            }
            ops.for_each_parameter(v, [&](id p) {
                if (std::string_view(ops.parameter_name(p)).ends_with("weight")) {
                    for (auto m : owners.of(p)) {
                        flat[m] = true;
                    }
                }
            });
        }
    }
    return flat;
}

/// Returns: the modules whose parameters are used by their parent directly, without calling them;
/// sorted.
///
/// `torch.nn.MultiheadAttention` is recognized by its own parameters, `in_proj_weight` and
/// `in_proj_bias`, or, where their names are lost, by a child `out_proj` that alone is left and
/// multiplies a matrix, as no layer does with a batch of sequences. It never calls its `out_proj`.
/// If there is one, all modules of which only a child `out_proj` is left are taken for such.
/// Complexity: O(V + modules + parameters + reads), and O(children) of each such module.
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] std::vector<id> find_bypassed_modules(const Ops& ops, const Modules& modules,
                                                    const parameter_owners& owners) {
    const tree_index& tree = modules.index();
    std::vector<id> bypassed;
    const auto is_projection = [&](id m) {
        return std::string_view(modules.name(m)) == "out_proj";
    };
    std::vector<bool> owns(tree.size(), false);
    for (id p = 0; p < ops.parameter_count(); ++p) {
        for (auto owner : owners.of(p)) {
            owns[owner] = true;
        }
    }
    for (id p = 0; p < ops.parameter_count(); ++p) {
        const std::string_view name = ops.parameter_name(p);
        if (!name.ends_with("in_proj_weight") && !name.ends_with("in_proj_bias")) {
            continue;
        }
        for (auto owner : owners.of(p)) {
            for (auto m = owner + 1; m < tree.end(owner); m = tree.end(m)) {
                if (is_projection(m)) {
                    bypassed.push_back(m);
                }
            }
        }
    }
    std::vector<id> alone;
    for (id m = 1; m < tree.size(); ++m) {
        const auto above = tree.parent(m);
        if (is_projection(m) && !owns[above] && m == above + 1 && tree.end(above) == tree.end(m)) {
            alone.push_back(m);
        }
    }
    if (!alone.empty() && bypassed.empty()) {
        const auto flat = find_flat_products(ops, tree, owners);
        if (!range::any_of(alone, [&](id m) { return flat[m]; })) {
            return bypassed;
        }
    }
    bypassed.insert(bypassed.end(), alone.begin(), alone.end());
    return range::each_once(std::move(bypassed));
}

/// Returns: `m`, or its parent if `m` is one of `bypassed`.
/// Complexity: O(log bypassed).
template <module_view Modules>
[[nodiscard]] id past_bypassed(const Modules& modules, const std::vector<id>& bypassed, id m) {
    const bool has_match =
        !bypassed.empty() && std::binary_search(bypassed.begin(), bypassed.end(), m);
    return has_match ? modules.index().parent(m) : m;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_BYPASSED_MODULES_HPP
