// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_INLINED_NODES_HPP
#define STEMMA_ONNX_DETAIL_INLINED_NODES_HPP

#include <stemma/onnx/detail/inlined_calls.hpp>
#include <stemma/onnx/detail/inlined_modules.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <mutex>
#include <optional>

namespace stemma::inline STEMMA_ABI::detail {

/// What is known of nodes that stood in functions before ONNX Runtime inlined the calls.
struct inlined_nodes {
    /// Requires: the model outlives it. Complexity: that of both.
    explicit inlined_nodes(const onnx_model& model) : calls(model), modules(model) {}

    inlined_calls calls;     ///< of functions that folding made
    inlined_modules modules; ///< of those that torch's exporter made
};

/// The same, computed on first use by any thread.
class late_inlined_nodes {
public:
    /// Requires: always the same model. Complexity: that of `inlined_nodes` once, then O(1).
    [[nodiscard]] const inlined_nodes& of(const onnx_model& model) {
        std::call_once(once_, [&] { nodes_.emplace(model); });
        return *nodes_;
    }

private:
    std::once_flag once_;
    std::optional<inlined_nodes> nodes_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_INLINED_NODES_HPP
