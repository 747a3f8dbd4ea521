// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_POLICY_NAME_HPP
#define STEMMA_CORE_DETAIL_POLICY_NAME_HPP

#include <stemma/error.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// A policy with `static constexpr std::string_view name`, or with a data member `name`.
template <class P>
concept has_name_member = requires(const P& policy) {
    { policy.name } -> std::convertible_to<std::string_view>;
};

/// A policy with `std::string name() const`, whose name includes its options.
template <class P>
concept has_name_function = requires(const P& policy) {
    { policy.name() } -> std::convertible_to<std::string>;
};

/// A policy that has a name.
template <class P>
concept named_policy = has_name_member<P> || has_name_function<P>;

/// Returns: the name of a policy, "" if it has none.
template <class P>
[[nodiscard]] std::string name_of_policy([[maybe_unused]] const P& policy) {
    if constexpr (has_name_member<P>) {
        return std::string(std::string_view(policy.name));
    } else if constexpr (has_name_function<P>) {
        return policy.name();
    } else {
        return {};
    }
}

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

#endif // STEMMA_CORE_DETAIL_POLICY_NAME_HPP
