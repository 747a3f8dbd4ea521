// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WEIGHT_KIND_HPP
#define STEMMA_ONNX_WEIGHT_KIND_HPP

#include <stemma/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// The purpose of a stored tensor in the model.
enum class weight_kind : std::uint8_t {
    parameter,  ///< what training learns: kernels, matrices, biases, lookup tables
    buffer,     ///< what it does not: running statistics, masks, initial states, position tables
    scale,      ///< of quantized values
    zero_point, ///< of quantized values
};

/// Returns: `parameter`, `buffer`, `scale` or `zero_point`.
[[nodiscard]] constexpr std::string_view to_string(weight_kind kind) noexcept {
    constexpr std::array<std::string_view, 4> names{"parameter", "buffer", "scale", "zero_point"};
    return names[static_cast<std::size_t>(kind)];
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_WEIGHT_KIND_HPP
