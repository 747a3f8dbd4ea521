// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_TENSOR_LAYOUT_HPP
#define STEMMA_CHECKPOINT_DETAIL_TENSOR_LAYOUT_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A format's name for an element type.
struct element_type {
    std::string_view name;
    std::int32_t data_type; ///< of ONNX
    std::uint32_t width;    ///< bytes
};

/// Returns: the type with that name, or null. Complexity: O(types).
[[nodiscard]] inline const element_type* find_type(std::span<const element_type> types,
                                                   std::string_view name) noexcept {
    const auto position = std::find_if(types.begin(), types.end(),
                                       [&](const element_type& type) { return type.name == name; });
    return position == types.end() ? nullptr : &*position;
}

/// Returns: `a * b`, or nothing if that is too large for files.
[[nodiscard]] inline std::optional<std::uint64_t> times(std::uint64_t a, std::uint64_t b) noexcept {
    constexpr std::uint64_t most = std::uint64_t{1} << 62U;
    if (a != 0 && b > most / a) {
        return std::nullopt;
    }
    return a * b;
}

/// Returns: the number of elements of a shape, or nothing if too large for files.
/// Complexity: O(rank).
[[nodiscard]] inline std::optional<std::uint64_t>
count_elements(std::span<const std::int64_t> shape) noexcept {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
        return 0;
    }
    std::optional<std::uint64_t> count = 1;
    for (const auto extent : shape) {
        count = count ? times(*count, static_cast<std::uint64_t>(extent)) : count;
    }
    return count;
}

/// Whether elements with these strides are contiguous. Requires: no extent is 0.
[[nodiscard]] inline bool follow_one_another(std::span<const std::int64_t> shape,
                                             std::span<const std::int64_t> strides) noexcept {
    std::int64_t expected = 1;
    for (auto axis = shape.size(); axis-- > 0;) {
        if (shape[axis] != 1 && strides[axis] != expected) {
            return false;
        }
        expected *= shape[axis];
    }
    return true;
}

/// Sets what entries are aliases of: the first one with all elements at the same positions.
/// Complexity: O(entries log entries).
inline void find_aliases(std::vector<checkpoint::entry>& entries) {
    const auto place_of = [](const checkpoint::entry& entry) {
        return std::tie(entry.file, entry.offset, entry.data_type, entry.shape, entry.strides);
    };
    std::map<decltype(place_of(entries.front())), std::size_t> first;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        auto& entry = entries[i];
        entry.alias_of = entry.size == 0 ? i : first.emplace(place_of(entry), i).first->second;
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_TENSOR_LAYOUT_HPP
