// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DESCRIBED_TYPE_HPP
#define STEMMA_TYPES_DESCRIBED_TYPE_HPP

#include <stemma/config.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The type of a value as readable text.
struct described_type {
    /// An extent of a tensor, or its name in the file; -1 if unknown.
    using extent = std::variant<std::int64_t, std::string>;

    std::string name{};          ///< `float32`, `sparse(float32)`, `sequence(int64[?])`, ...; ""
                                 ///< if unknown
    std::vector<extent> shape{}; ///< of a tensor
    bool has_shape = false;      ///< whether the rank is known

    friend bool operator==(const described_type&, const described_type&) = default;
};

namespace detail {

/// Returns: `[1,8,hidden,?]`; "" if the rank is unknown. Complexity: O(rank).
[[nodiscard]] inline std::string shape_text(const described_type& type) {
    std::string text;
    for (const auto& extent : type.shape) {
        text.push_back(text.empty() ? '[' : ',');
        if (const auto* number = std::get_if<std::int64_t>(&extent)) {
            text.append(*number < 0 ? "?" : std::to_string(*number));
        } else {
            text.append(std::get<std::string>(extent));
        }
    }
    return !type.has_shape ? "" : text.empty() ? "[]" : text.append("]");
}

} // namespace detail

/// Returns: `float32[1,8,hidden,?]`; without the brackets if the rank is unknown.
/// Complexity: O(rank).
[[nodiscard]] inline std::string to_text(const described_type& type) {
    return type.name + detail::shape_text(type);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TYPES_DESCRIBED_TYPE_HPP
