// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_VALUE_DESCRIPTION_HPP
#define STEMMA_TYPES_VALUE_DESCRIPTION_HPP

#include <stemma/core/id.hpp>

#include <concepts>
#include <string>

namespace stemma::inline STEMMA_ABI {

/// A value in reports. Texts are "" if unknown.
struct value_description {
    std::string name;  ///< as the file has it
    std::string type;  ///< `float32`, `sequence(int64)`
    std::string shape; ///< `[1,seq,32]`, with `?` for an unknown extent; `[]` for a scalar

    /// Returns: type and shape as one text, `float32[1,seq,32]`.
    [[nodiscard]] std::string type_and_shape() const { return type + shape; }
};

namespace detail {

/// Describes values by the number that edges of a graph carry.
template <class D>
concept value_describer = requires(const D& describe, id value) {
    { describe(value) } -> std::convertible_to<value_description>;
};

/// Describes nothing.
struct no_descriptions {
    /// Returns: only empty texts.
    [[nodiscard]] value_description operator()(id) const { return {}; }
};

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TYPES_VALUE_DESCRIPTION_HPP
