// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_DETAIL_OPTIONAL_FIELDS_HPP
#define STEMMA_PROTO_DETAIL_OPTIONAL_FIELDS_HPP

#include <stemma/config.hpp>
#include <stemma/proto/detail/metadata_props.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the `overload` of a node or function, which has this number if the schema lacks it.
/// Complexity: O(unknown fields).
template <class Message>
[[nodiscard]] std::string_view overload_of(const Message& message, std::uint32_t number) {
    std::string_view overload;
    if constexpr (requires { message.overload(); }) {
        overload = message.overload();
    } else {
        for_each_unknown(message, number, [&](std::string_view bytes) { overload = bytes; });
    }
    return overload;
}

/// Returns: the bytes of a tensor's `float_data`, "" if the schema lacks it.
template <class Tensor>
[[nodiscard]] std::string_view float_data_of(const Tensor& tensor) {
    if constexpr (requires { tensor.float_data(); }) {
        const auto& floats = tensor.float_data();
        return {reinterpret_cast<const char*>(floats.data()),
                static_cast<std::size_t>(floats.size()) * sizeof(float)};
    } else {
        return {};
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_PROTO_DETAIL_OPTIONAL_FIELDS_HPP
