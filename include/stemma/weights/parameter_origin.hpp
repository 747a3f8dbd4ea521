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

/// What was done to entries of a `state_dict` to make an initializer of them.
enum class parameter_transform : std::uint8_t {
    none,         ///< it is of no entry, or it is not known of which
    as_is,        ///< nothing
    reshaped,     ///< other extents, the elements in the same order
    transposed,   ///< the extents in another order
    concatenated, ///< several entries side by side: queries, keys and values
    gates,        ///< of a recurrent layer: gates in another order, directions stacked
    folded,       ///< of a convolution, multiplied with what a batch norm behind it does
    sliced,       ///< a part of an entry
};

/// Returns: `none`, `as is`, `reshaped`, ...
[[nodiscard]] constexpr std::string_view to_string(parameter_transform transform) noexcept {
    constexpr std::array<std::string_view, 8> names{
        "none", "as is", "reshaped", "transposed", "concatenated", "gates", "folded", "sliced"};
    return names[static_cast<std::size_t>(transform)];
}

/// From what it is known which entry an initializer is.
enum class parameter_basis : std::uint8_t {
    none,     ///< it is not known
    content,  ///< the checkpoint holds the same values
    name,     ///< it is called so
    declared, ///< the module that reads it has an entry of that use and shape
    usage,    ///< an operator reads it as PyTorch's modules use an entry of that name
};

/// Returns: `none`, `content`, `name`, `declared` or `usage`.
[[nodiscard]] constexpr std::string_view to_string(parameter_basis basis) noexcept {
    constexpr std::array<std::string_view, 5> names{"none", "content", "name", "declared", "usage"};
    return names[static_cast<std::size_t>(basis)];
}

/// Which entries of a `state_dict` an initializer was made of, and how.
struct parameter_origin {
    std::size_t tensor = 0; ///< its number among `wire_model::tensors`
    id module = 0;          ///< the one whose entry comes first, else where its readers meet
    std::vector<std::string> entries{}; ///< what it was made of, the one that gives the shape first
    std::vector<std::string> shared{};  ///< further entries that it stands for: they have the same
                                        ///< values, or are one parameter
    parameter_transform transform = parameter_transform::none; ///< how
    bool cast = false;      ///< then to another type of real numbers
    bool quantized = false; ///< then to whole numbers, or a scale or zero point of such
    parameter_basis basis = parameter_basis::none; ///< from what that is known
    float confidence = 0;                          ///< how sure it is, in [0, 1]

    std::vector<std::uint8_t> axes{}; ///< transposed: which axis of the entry each of its own is
    std::size_t axis = 0;             ///< concatenated, sliced: along which of its axes
    std::uint64_t first = 0;          ///< sliced: from which place along that axis of the entry
    unsigned gates = 0;               ///< of how many a recurrent layer has: 4, 3 or 1
    bool bias = false;                ///< of gates, and of what was folded: it is a bias
    float epsilon = 0; ///< of the batch norm that was folded; 0 where it is not known
};

/// Returns: the transform in words, with what came behind it: `transposed, cast`. Complexity: O(1).
[[nodiscard]] inline std::string transform_text(const parameter_origin& origin) {
    std::string text;
    const auto add = [&](std::string_view word) {
        text.append(text.empty() ? "" : ", ").append(word);
    };
    const bool more = origin.cast || origin.quantized || !origin.shared.empty();
    if (origin.transform != parameter_transform::as_is || !more) {
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
