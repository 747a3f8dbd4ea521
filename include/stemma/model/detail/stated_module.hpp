// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_STATED_MODULE_HPP
#define STEMMA_MODEL_DETAIL_STATED_MODULE_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What the names and metadata of an operator say about its module.
struct stated_module {
    id module = no_id;    ///< `no_id` if they say nothing, or contradict each other
    float confidence = 0; ///< in [0, 1]
    bool settled = false; ///< no other evidence is needed
};

/// Returns: for each node what the file itself says, according to prepared sources, apart from
/// parameters. It is settled if a trusted source is sure of exactly one module.
/// Complexity: that of querying them for each node.
template <class Sources>
[[nodiscard]] std::vector<stated_module> stated_by(const Sources& sources, id nodes) {
    std::vector<stated_module> stated(nodes);
    for (id node = 0; node < nodes; ++node) {
        auto& one = stated[node];
        std::size_t trusted = 0;
        bool agreed = true;
        sources.for_each_claim(node, [&](const claim& candidate) {
            const bool is_trusted = candidate.source < provenance::parameter;
            if (!candidate.exact || (!is_trusted && candidate.source != provenance::leftover)) {
                return;
            }
            trusted += is_trusted ? 1U : 0U;
            one.settled = one.settled || (is_trusted && !candidate.doubtful &&
                                          candidate.confidence >= confidence::sure);
            agreed = agreed && (one.module == no_id || one.module == candidate.module);
            one.module = candidate.module;
            one.confidence = std::max(one.confidence, candidate.confidence);
        });
        one.settled = one.settled && trusted == 1;
        one.module = agreed ? one.module : no_id;
    }
    return stated;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_STATED_MODULE_HPP
