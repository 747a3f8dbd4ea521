// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_UNIFORM_DATA_HPP
#define STEMMA_ONNX_DETAIL_UNIFORM_DATA_HPP

#include <stemma/config.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether all elements of a tensor may be equal: the data repeat every eight bytes, as they do for
/// equal elements of one, two, four and eight bytes. Always true for a short tensor.
/// Complexity: O(bytes until they differ).
[[nodiscard]] inline bool is_uniform(std::string_view data) noexcept {
    constexpr std::size_t period = 8;
    return !data.empty() && (data.size() <= period || std::memcmp(data.data(), data.data() + period,
                                                                  data.size() - period) == 0);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_UNIFORM_DATA_HPP
