// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_INLINED_NODES_HPP
#define STEMMA_ONNX_DETAIL_INLINED_NODES_HPP

#include <stemma/onnx/detail/inlined_calls.hpp>
#include <stemma/onnx/detail/inlined_modules.hpp>
#include <stemma/onnx/detail/late.hpp>
#include <stemma/onnx/onnx_model.hpp>

namespace stemma::inline STEMMA_ABI::detail {

/// What is known of nodes that stood in functions before ONNX Runtime inlined the calls.
struct inlined_nodes {
    /// Requires: the model outlives it. Complexity: that of both.
    explicit inlined_nodes(const onnx_model& model) : calls(model), modules(model) {}

    inlined_calls calls;     ///< of functions that folding made
    inlined_modules modules; ///< of those that torch's exporter made
};

using late_inlined_nodes = late<inlined_nodes>;

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_INLINED_NODES_HPP
