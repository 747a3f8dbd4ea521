// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DATA_PLACEMENT_HPP
#define STEMMA_ONNX_DATA_PLACEMENT_HPP

#include <stemma/config.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// What happens to a model's weight files when the model is written to another folder.
enum class data_placement : std::uint8_t {
    keep, ///< nothing: they stay where they are
    link, ///< hard links next to the new model
    copy, ///< copies next to the new model
};

/// Returns: `keep`, `link` or `copy`.
[[nodiscard]] constexpr std::optional<data_placement>
parse_data_placement(std::string_view name) noexcept {
    return name == "keep"   ? std::optional(data_placement::keep)
           : name == "link" ? std::optional(data_placement::link)
           : name == "copy" ? std::optional(data_placement::copy)
                            : std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_DATA_PLACEMENT_HPP
