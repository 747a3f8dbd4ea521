// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_PARSE_NAME_HPP
#define STEMMA_CORE_PARSE_NAME_HPP

#include <stemma/config.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The names of the values of an enumeration, in order; specialized beside it.
template <class Enum>
inline constexpr std::array<std::string_view, 0> names_of_values{};

} // namespace detail

/// Returns: the value of an enumeration that has a name, such as `cost_measure`, `gap_rule` or
/// `plan_format`; its comment lists the names. Complexity: O(values).
template <class Enum>
    requires(!detail::names_of_values<Enum>.empty())
[[nodiscard]] constexpr std::optional<Enum> parse_name(std::string_view name) noexcept {
    const auto& names = detail::names_of_values<Enum>;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) {
            return static_cast<Enum>(i);
        }
    }
    return std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_PARSE_NAME_HPP
