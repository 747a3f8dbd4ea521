// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_UNIFORM_DATA_HPP
#define STEMMA_ONNX_DETAIL_UNIFORM_DATA_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether all elements of a tensor are equal: the data repeat every `period` bytes. Eight do for
/// elements of one, two, four and eight bytes, if the tensor is not as short.
/// Complexity: O(bytes until they differ).
[[nodiscard]] inline bool is_uniform(std::string_view data, std::size_t period = 8) noexcept {
    return !data.empty() && (data.size() <= period || std::memcmp(data.data(), data.data() + period,
                                                                  data.size() - period) == 0);
}

/// Whether a tensor may be as it was created: all its elements are equal, and if there is just one,
/// that is zero or one, or of a type that counts.
/// Complexity: O(bytes until they differ).
[[nodiscard]] inline bool is_initial(std::string_view data, std::int64_t data_type) noexcept {
    using namespace std::string_view_literals;
    struct number_type {
        std::int64_t data_type;
        std::string_view one;
    };
    constexpr std::array<number_type, 4> types{{{1, "\0\0\x80\x3f"sv},
                                                {10, "\0\x3c"sv},
                                                {11, "\0\0\0\0\0\0\xf0\x3f"sv},
                                                {16, "\x80\x3f"sv}}};
    const auto number = std::find_if(types.begin(), types.end(), [&](const number_type& type) {
        return type.data_type == data_type;
    });
    if (number == types.end()) {
        return is_uniform(data);
    }
    return data.size() == number->one.size()
               ? data == number->one || data.find_first_not_of('\0') == data.npos
               : is_uniform(data, number->one.size());
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_UNIFORM_DATA_HPP
