// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DATA_PLACEMENT_HPP
#define STEMMA_ONNX_DATA_PLACEMENT_HPP

#include <stemma/core/parse_name.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// What happens to a model's weight files when the model is written to another folder.
/// Names: `keep`, `link` or `copy`.
enum class data_placement : std::uint8_t {
    keep, ///< nothing: they stay where they are
    link, ///< hard links next to the new model
    copy, ///< copies next to the new model
};

namespace detail {

template <>
inline constexpr std::array<std::string_view, 3> names_of_values<data_placement>{"keep", "link",
                                                                                 "copy"};

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_DATA_PLACEMENT_HPP
