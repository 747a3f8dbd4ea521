// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_PLAIN_DOMAIN_HPP
#define STEMMA_ONNX_PLAIN_DOMAIN_HPP

#include <string_view>

namespace stemma {

/// Returns: the name of the standard domain as "", others as they are.
[[nodiscard]] constexpr std::string_view plain_domain(std::string_view domain) noexcept {
    return domain == "ai.onnx" ? std::string_view() : domain;
}

} // namespace stemma

#endif // STEMMA_ONNX_PLAIN_DOMAIN_HPP
