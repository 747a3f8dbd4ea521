// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_CONVOLUTIONS_HPP
#define STEMMA_WEIGHTS_DETAIL_CONVOLUTIONS_HPP

#include <stemma/core/id.hpp>
#include <stemma/weights/detail/weight_search.hpp>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A convolution and its initializers.
struct convolution {
    id module = 0;
    id weight = no_id; ///< initializer
    id bias = no_id;   ///< initializer
};

/// Returns: the convolutions, each pair of initializers once. Complexity: O(uses).
[[nodiscard]] inline std::vector<convolution> find_convolutions(const weight_search& search) {
    std::map<std::pair<id, id>, convolution> by_node; // within a call
    for (id t = 0; t < search.uses.size(); ++t) {
        for (const auto& use : search.uses[t]) {
            const auto type = search.model.op_type(use.node);
            if (type == "Conv" || type == "FusedConv" || type == "NhwcFusedConv") {
                auto& one = by_node[{use.call, use.node}];
                one.module = use.module;
                if (use.slot == 1) {
                    one.weight = t;
                } else if (use.slot == 2) {
                    one.bias = t;
                }
            }
        }
    }
    std::vector<convolution> result;
    std::set<id> seen;
    for (const auto& [node, one] : by_node) {
        if (one.weight != no_id && seen.insert(one.weight).second) {
            result.push_back(one);
        }
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_CONVOLUTIONS_HPP
