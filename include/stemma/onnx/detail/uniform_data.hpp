// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_UNIFORM_DATA_HPP
#define STEMMA_ONNX_DETAIL_UNIFORM_DATA_HPP

#include <stemma/config.hpp>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether the data of a tensor may be one number over and over: they repeat every eight bytes,
/// which numbers of one, two, four and eight bytes do. A short tensor always does.
/// Complexity: O(bytes until they differ).
[[nodiscard]] inline bool is_uniform(std::string_view data) noexcept {
    constexpr std::size_t period = 8;
    return !data.empty() && (data.size() <= period || std::memcmp(data.data(), data.data() + period,
                                                                  data.size() - period) == 0);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_UNIFORM_DATA_HPP
