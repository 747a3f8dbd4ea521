// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_WEIGHT_PLACES_HPP
#define STEMMA_ONNX_DETAIL_WEIGHT_PLACES_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/pass_on.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Where weights belong; columns are by weight.
struct weight_places {
    std::vector<id> module; ///< denoted by its name, else the common ancestor of its readers
    grouped_ids readers;    ///< the deepest modules of nodes that read it, one for each read
};

/// Returns: the modules of `weights`; the root if unknown.
/// Complexity: O(nodes + reads + length of names).
[[nodiscard]] inline weight_places place_weights(const wire_model& model,
                                                 const module_tree& modules, const tagging& tagged,
                                                 std::span<const stored_weight> weights) {
    std::vector<id> weight(model.value_count(), no_id); // by value, also through what passes it on
    for (id w = 0; w < weights.size(); ++w) {
        weight[weights[w].value] = w;
    }
    const auto passed = pass_on(model, weight);
    std::vector<std::pair<id, id>> reads; // weight, module of its reader
    for (id node = 0; node < model.node_count(); ++node) {
        for (auto value : model.inputs(node)) {
            if (value != no_id && weight[value] != no_id && value != passed[node]) {
                reads.emplace_back(weight[value], tagged.attributions[node].module);
            }
        }
    }
    weight_places places{std::vector<id>(weights.size(), 0),
                         grouped_ids(weights.size(), [&](auto take) {
                             for (const auto& [w, m] : reads) {
                                 take(w, m);
                             }
                         })};
    const module_lookup<module_tree> lookup(modules);
    module_trail trail(lookup);
    for (std::size_t w = 0; w < weights.size(); ++w) {
        const auto path = owner_path(model.value_name(weights[w].value));
        auto owner = path.empty() ? no_id : trail.find(path);
        if (owner == no_id && !path.empty()) {
            owner = find_module(lookup, path); // its own name may contain dots
        }
        const auto readers = places.readers[w];
        if (owner != no_id) {
            places.module[w] = owner;
        } else if (!readers.empty()) {
            // In preorder, the common ancestor of all is that of the first and the last.
            const auto [first, last] = std::minmax_element(readers.begin(), readers.end());
            places.module[w] = modules.index().lca(*first, *last);
        }
    }
    return places;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_WEIGHT_PLACES_HPP
