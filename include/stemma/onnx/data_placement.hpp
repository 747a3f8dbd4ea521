// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DATA_PLACEMENT_HPP
#define STEMMA_ONNX_DATA_PLACEMENT_HPP

#include <stemma/config.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// What happens to the files that hold a model's weights when the model goes to another folder.
enum class data_placement : std::uint8_t {
    keep, ///< nothing: they stay where they are
    link, ///< a hard link beside the new model
    copy, ///< a copy beside the new model
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
