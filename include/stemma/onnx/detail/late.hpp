// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_LATE_HPP
#define STEMMA_ONNX_DETAIL_LATE_HPP

#include <stemma/onnx/onnx_model.hpp>

#include <mutex>
#include <optional>

namespace stemma::inline STEMMA_ABI::detail {

/// Facts about one model, computed on first use by any thread.
template <class Facts>
class late {
public:
    /// Requires: always the same model. Complexity: that of `Facts` once, then O(1).
    [[nodiscard]] const Facts& of(const onnx_model& model) {
        std::call_once(once_, [&] { facts_.emplace(model); });
        return *facts_;
    }

private:
    std::once_flag once_;
    std::optional<Facts> facts_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_LATE_HPP
