// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_POLICY_POLICIES_HPP
#define STEMMA_POLICY_POLICIES_HPP

#include <stemma/config.hpp>
#include <stemma/policy/category.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace stemma {

namespace detail {

template <class P>
struct policy_slot {
    STEMMA_NO_UNIQUE_ADDRESS P value;
};

template <class Category, class... Ps>
struct find_policy {};

template <class Category, class P, class... Ps>
struct find_policy<Category, P, Ps...>
    : std::conditional_t<policy_for<P, Category>, std::type_identity<P>,
                         find_policy<Category, Ps...>> {};

template <class P, class... Ps>
inline constexpr int same_category =
    (0 + ... + (std::same_as<typename P::policy_category, typename Ps::policy_category> ? 1 : 0));

} // namespace detail

/// A set of policies, at most one for each category; the order of arguments does not matter.
template <policy... Ps>
class policies : detail::policy_slot<Ps>... {
    static_assert(((detail::same_category<Ps, Ps...> == 1) && ...),
                  "policies: two arguments have the same policy_category");

public:
    constexpr explicit policies(Ps... ps) : detail::policy_slot<Ps>{std::move(ps)}... {}

    /// Returns: the member for `Category`, else a `Default`.
    template <class Category, policy_for<Category> Default>
    [[nodiscard]] constexpr auto get_or() const {
        if constexpr ((policy_for<Ps, Category> || ...)) {
            using found = typename detail::find_policy<Category, Ps...>::type;
            return static_cast<const detail::policy_slot<found>&>(*this).value;
        } else {
            return Default();
        }
    }
};

} // namespace stemma

#endif // STEMMA_POLICY_POLICIES_HPP
