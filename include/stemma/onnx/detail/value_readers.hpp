// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_VALUE_READERS_HPP
#define STEMMA_ONNX_DETAIL_VALUE_READERS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: by value, the nodes that read it as an input, ascending, repeated for each read.
/// Complexity: O(values + inputs).
[[nodiscard]] inline grouped_ids value_readers(const onnx_model& model) {
    return grouped_ids(model.value_count(), [&](auto take) {
        for (id node = 0; node < model.node_count(); ++node) {
            for (auto value : model.inputs(node)) {
                if (value != no_id) {
                    take(value, node);
                }
            }
        }
    });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_VALUE_READERS_HPP
