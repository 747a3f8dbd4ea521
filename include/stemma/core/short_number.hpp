// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_SHORT_NUMBER_HPP
#define STEMMA_CORE_SHORT_NUMBER_HPP

#include <stemma/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// Returns: a number rounded to three digits: `3.07 k`. Complexity: O(1).
[[nodiscard]] inline std::string short_number(std::int64_t number) {
    if (number < 1000 && number > -1000) {
        return std::to_string(number);
    }
    constexpr std::string_view units = "kMGTPE";
    auto size = static_cast<double>(number);
    std::size_t unit = 0;
    for (size /= 1000; std::abs(size) >= 999.5 && unit + 1 < units.size(); size /= 1000) {
        ++unit;
    }
    const int digits = std::abs(size) < 9.995 ? 100 : std::abs(size) < 99.95 ? 10 : 1;
    auto text = std::to_string(std::llround(std::abs(size) * digits));
    if (digits > 1) {
        text.insert(text.size() - (digits == 100 ? 2 : 1), ".");
    }
    return (number < 0 ? "-" : "") + text + " " + units[unit];
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_SHORT_NUMBER_HPP
