// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_COLUMN_DIRECTION_HPP
#define STEMMA_REPORT_COLUMN_DIRECTION_HPP

#include <stemma/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// Which values of a column are good.
enum class column_direction : std::uint8_t {
    neither, ///< unspecified
    lower,   ///< low ones: time, error
    higher,  ///< high ones: similarity
};

namespace detail {

/// Reads `lower`, `higher` or `neither`. Returns: whether it is one of these. Complexity: O(1).
[[nodiscard]] constexpr bool read_direction(std::string_view text,
                                            column_direction& direction) noexcept {
    constexpr std::array<std::string_view, 3> names{"neither", "lower", "higher"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == text) {
            direction = static_cast<column_direction>(i);
            return true;
        }
    }
    return false;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_COLUMN_DIRECTION_HPP
