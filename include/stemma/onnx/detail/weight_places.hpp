// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_WEIGHT_PLACES_HPP
#define STEMMA_ONNX_DETAIL_WEIGHT_PLACES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/pass_on.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/tagging/tagger.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Where a weight belongs.
struct weight_place {
    id module = 0;           ///< denoted by its name, else the common ancestor of its readers
    std::vector<id> readers; ///< the deepest modules of nodes that read it, ascending
};

/// Returns: the modules of each of `weights`, in order; the root if unknown.
/// Complexity: O(nodes + reads * log reads + length of names).
[[nodiscard]] inline std::vector<weight_place>
place_weights(const wire_model& model, const module_tree& modules, const tagging& tagged,
              std::span<const stored_weight> weights) {
    std::vector<id> weight(model.value_count(), no_id); // by value, also through what passes it on
    for (id w = 0; w < weights.size(); ++w) {
        weight[weights[w].value] = w;
    }
    const auto passed = pass_on(model, weight);
    std::vector<weight_place> places(weights.size());
    for (id node = 0; node < model.node_count(); ++node) {
        for (auto value : model.inputs(node)) {
            if (value != no_id && weight[value] != no_id && value != passed[node]) {
                places[weight[value]].readers.push_back(tagged.attributions[node].module);
            }
        }
    }
    const module_lookup<module_tree> lookup(modules);
    for (std::size_t w = 0; w < weights.size(); ++w) {
        auto& readers = places[w].readers;
        readers = range::each_once(std::move(readers));
        const auto path = owner_path(model.value_name(weights[w].value));
        const auto owner = path.empty() ? no_id : find_module(lookup, path);
        if (owner != no_id) {
            places[w].module = owner;
        } else if (!readers.empty()) {
            // They are ascending, so the common ancestor of all is that of the first and the last.
            places[w].module = modules.index().lca(readers.front(), readers.back());
        }
    }
    return places;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_WEIGHT_PLACES_HPP
