// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_OPERATOR_DOMAIN_HPP
#define STEMMA_MODEL_DETAIL_OPERATOR_DOMAIN_HPP

#include <stemma/config.hpp>

#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// How the standard's domain is called where it is not left empty (ONNX, "Operator Sets").
inline constexpr std::string_view standard_domain = "ai.onnx";

/// Returns: the name of the standard domain as "", others as they are.
[[nodiscard]] constexpr std::string_view plain_domain(std::string_view domain) noexcept {
    return domain == standard_domain ? std::string_view() : domain;
}

/// Returns: the name of the standard domain as `ai.onnx`, others as they are.
[[nodiscard]] constexpr std::string_view spelled_domain(std::string_view domain) noexcept {
    return domain.empty() ? standard_domain : domain;
}

/// Whether a domain is the standard's, or one of those below it, as `ai.onnx.ml`: functions of such
/// a domain could be taken for operators of the standard.
[[nodiscard]] constexpr bool is_standard_domain(std::string_view domain) noexcept {
    return plain_domain(domain).empty() || domain.starts_with("ai.onnx.");
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_OPERATOR_DOMAIN_HPP
