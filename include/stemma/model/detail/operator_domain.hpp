// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_OPERATOR_DOMAIN_HPP
#define STEMMA_MODEL_DETAIL_OPERATOR_DOMAIN_HPP

#include <stemma/config.hpp>

#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// The explicit name of the standard domain (ONNX, "Operator Sets").
inline constexpr std::string_view standard_domain = "ai.onnx";

/// Returns: "" for the standard domain, other domains unchanged.
[[nodiscard]] constexpr std::string_view plain_domain(std::string_view domain) noexcept {
    return domain == standard_domain ? std::string_view() : domain;
}

/// Returns: `ai.onnx` for the standard domain, other domains unchanged.
[[nodiscard]] constexpr std::string_view spelled_domain(std::string_view domain) noexcept {
    return domain.empty() ? standard_domain : domain;
}

/// Returns: a type without its domain: `FusedConv` for `com.microsoft::FusedConv`.
/// Complexity: O(length).
[[nodiscard]] constexpr std::string_view plain_type(std::string_view type) noexcept {
    const auto domain = type.rfind("::");
    return domain == type.npos ? type : type.substr(domain + 2);
}

/// Whether a domain is the standard one or a subdomain such as `ai.onnx.ml`: functions in such a
/// domain could be mistaken for standard operators.
[[nodiscard]] constexpr bool is_standard_domain(std::string_view domain) noexcept {
    return plain_domain(domain).empty() || domain.starts_with("ai.onnx.");
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_OPERATOR_DOMAIN_HPP
