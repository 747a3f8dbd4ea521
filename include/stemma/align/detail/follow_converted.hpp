// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_FOLLOW_CONVERTED_HPP
#define STEMMA_ALIGN_DETAIL_FOLLOW_CONVERTED_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/detail/aligned_items.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/detail/operator_domain.hpp>

#include <algorithm>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Assigns operators that a tool inserted to convert a result to the operation of that result.
/// Nothing is claimed about those that convert a parameter or an input of the model: they belong to
/// their readers. An operator of such a type that its operation usually leaves stays there, one
/// that converts between layouts of a runtime only if it stands for the operation. What data pass
/// is less sure than the operation: names of its own may tell more. Complexity: O(operators).
inline void follow_converted(const aligned_nodes& nodes, const aligned_items& items,
                             alignment& result) {
    for (id n = 0; n < nodes.size(); ++n) {
        const auto type = plain_type(nodes.types[nodes.type[n]]);
        const bool converts = is_conversion(type) || is_quantization(type);
        const auto producers = nodes.producers[n];
        if (nodes.fixed[n] || (!converts && (type != "Cast" || !producers.empty()))) {
            continue;
        }
        auto& entry = result.of[nodes.vertex[n]];
        const auto enough = is_conversion(type) ? correspondence::head : correspondence::part;
        if (entry.operation != no_id &&
            items.table[items.profile[entry.operation]][nodes.type[n]] >= enough) {
            continue;
        }
        if (producers.empty()) {
            entry = {};
        } else if (producers.size() == 1 &&
                   result.of[nodes.vertex[producers.front()]].module != no_id) {
            entry = result.of[nodes.vertex[producers.front()]];
        }
    }
    for (const auto& inserted : nodes.passed) {
        if (inserted.behind != no_id) {
            auto& entry = result.of[inserted.vertex] = result.of[inserted.behind];
            entry.confidence = std::min(entry.confidence, confidence::aligned_passed);
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_FOLLOW_CONVERTED_HPP
