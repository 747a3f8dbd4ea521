// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_SHORTENED_HPP
#define STEMMA_CORE_DETAIL_SHORTENED_HPP

#include <stemma/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: a text cut to that many characters, with a mark. Complexity: O(length).
[[nodiscard]] inline std::string shortened(std::string_view text, std::size_t most) {
    std::size_t characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool begins = (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U;
        if (begins && ++characters > most) {
            return std::string(text.substr(0, i)).append("\xe2\x80\xa6");
        }
    }
    return std::string(text);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_SHORTENED_HPP
