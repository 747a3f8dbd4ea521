// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_OPEN_NODES_HPP
#define STEMMA_MODEL_DETAIL_OPEN_NODES_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>

#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the nodes whose modules the file itself does not determine, according to prepared
/// sources. Complexity: that of querying them for each node.
template <class Sources>
[[nodiscard]] std::vector<bool> find_open(const Sources& sources, id nodes) {
    std::vector<bool> open(nodes, true);
    for (id node = 0; node < nodes; ++node) {
        std::size_t exact = 0;
        bool settled = false;
        sources.for_each_claim(node, [&](const claim& candidate) {
            exact += candidate.exact && candidate.source < provenance::parameter ? 1U : 0U;
            settled = settled || (candidate.exact && !candidate.doubtful &&
                                  candidate.confidence >= confidence::sure &&
                                  candidate.source < provenance::parameter);
        });
        open[node] = !settled || exact > 1;
    }
    return open;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_OPEN_NODES_HPP
