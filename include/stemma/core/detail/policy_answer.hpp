// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_POLICY_ANSWER_HPP
#define STEMMA_CORE_DETAIL_POLICY_ANSWER_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/policy_name.hpp>
#include <stemma/error.hpp>

#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Reports that a policy returned an invalid answer.
/// Throws: `error` of `error_code::refused` naming the role and, if it has a name, the policy.
template <class P>
[[noreturn]] void refuse_answer(const P& policy, std::string_view role, std::string_view answer) {
    const auto name = name_of_policy(policy);
    auto place = std::string(role) + " policy";
    if (!name.empty()) {
        place.append(" '").append(name).append("'");
    }
    STEMMA_THROW(error(error_code::refused, "", place, answer));
}

/// False for NaN.
[[nodiscard]] constexpr bool is_confidence(float value) noexcept {
    return value >= 0 && value <= 1;
}

inline constexpr std::string_view no_confidence = "gives a confidence that is not between 0 and 1";

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_POLICY_ANSWER_HPP
