// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_PARAMETER_ORIGIN_HPP
#define STEMMA_WEIGHTS_PARAMETER_ORIGIN_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The `state_dict` entries that an initializer was made from, and how.
struct parameter_origin {
    /// The basis of an origin.
    enum class basis_kind : std::uint8_t {
        none,     ///< unknown
        content,  ///< the checkpoint holds the same values
        name,     ///< it has the name
        declared, ///< the reading module has an entry with that use and shape
        usage,    ///< the operator input corresponds to a PyTorch entry of that name
    };

    /// The transform from entries of a `state_dict` to an initializer.
    enum class transform_kind : std::uint8_t {
        none,         ///< of no entry, or of an unknown one
        as_is,        ///< unchanged
        reshaped,     ///< other shape, same element order
        transposed,   ///< axes permuted
        concatenated, ///< several entries concatenated: queries, keys and values
        gates,        ///< of a recurrent layer: gates in another order, directions stacked
        folded,       ///< of a convolution, multiplied by the following batch norm
        sliced,       ///< a part of an entry
        normed,       ///< directions times lengths: weight norm
    };

    std::size_t tensor = 0; ///< its number among `wire_model::tensors`
    id module = 0;          ///< that of the first entry, else the readers' common ancestor
    std::vector<std::string> entries{}; ///< starting with the one that gives the shape
    std::vector<std::string> shared{};  ///< further entries that it stands for: they have the same
                                        ///< values, or are one parameter
    transform_kind transform = transform_kind::none; ///< how
    bool cast = false;                   ///< then converted to another floating-point type
    bool quantized = false;              ///< then quantized; or a scale or zero point
    basis_kind basis = basis_kind::none; ///< its basis
    float confidence = 0;                ///< in [0, 1]

    std::vector<std::uint8_t> axes{}; ///< transposed: by axis, the entry's axis
    std::size_t axis = 0;             ///< concatenated, sliced: the axis
    std::uint64_t first = 0;          ///< sliced: the start along that axis of the entry
    unsigned gates = 0;               ///< number of gates of a recurrent layer: 4, 3 or 1
    bool bias = false;                ///< for gates and folded norms: it is a bias
    float epsilon = 0;                ///< of the folded batch norm; 0 if unknown
};

/// Returns: `none`, `content`, `name`, `declared` or `usage`.
[[nodiscard]] constexpr std::string_view to_string(parameter_origin::basis_kind basis) noexcept {
    constexpr std::array<std::string_view, 5> names{"none", "content", "name", "declared", "usage"};
    return names[static_cast<std::size_t>(basis)];
}

/// Returns: `none`, `as is`, `reshaped`, ...
[[nodiscard]] constexpr std::string_view
to_string(parameter_origin::transform_kind transform) noexcept {
    constexpr std::array<std::string_view, 9> names{"none",       "as is",        "reshaped",
                                                    "transposed", "concatenated", "gates",
                                                    "folded",     "sliced",       "normed"};
    return names[static_cast<std::size_t>(transform)];
}

/// Returns: the transform in words, with conversions: `transposed, cast`. Complexity: O(1).
[[nodiscard]] inline std::string transform_text(const parameter_origin& origin) {
    std::string text;
    const auto add = [&](std::string_view word) {
        text.append(text.empty() ? "" : ", ").append(word);
    };
    const bool more = origin.cast || origin.quantized || !origin.shared.empty();
    if (origin.transform != parameter_origin::transform_kind::as_is || !more) {
        add(to_string(origin.transform));
    }
    if (origin.cast) {
        add("cast");
    }
    if (origin.quantized) {
        add("quantized");
    }
    if (!origin.shared.empty()) {
        add("shared");
    }
    return text;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_WEIGHTS_PARAMETER_ORIGIN_HPP
