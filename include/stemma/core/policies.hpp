// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_POLICIES_HPP
#define STEMMA_CORE_POLICIES_HPP

#include <stemma/config.hpp>
#include <stemma/core/category.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace stemma::inline STEMMA_ABI {

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

template <class P, class Q>
inline constexpr bool is_same_role = false;

template <policy P, policy Q>
inline constexpr bool is_same_role<P, Q> =
    std::same_as<typename P::policy_category, typename Q::policy_category>;

/// Whether at most one of some policies has the role of `P`.
template <class P, class... Ps>
inline constexpr bool is_alone = (0 + ... + (is_same_role<P, Ps> ? 1 : 0)) <= 1;

} // namespace detail

/// A set of policies, at most one per category, in any order.
template <class... Ps>
class policies : detail::policy_slot<Ps>... {
    static_assert((std::copy_constructible<Ps> && ...),
                  "policies: make the class of each argument copyable");
    static_assert((policy<Ps> && ...),
                  "policies: add `using policy_category` to the class of each argument");
    static_assert((detail::is_alone<Ps, Ps...> && ...),
                  "policies: two arguments have the same policy_category");

public:
    /// Holds a copy of each; stateless policies take no space.
    constexpr explicit policies(Ps... ps) : detail::policy_slot<Ps>{std::move(ps)}... {}

    /// Returns: the member for `Category`, else a `Default`.
    template <class Category, detail::policy_for<Category> Default>
    [[nodiscard]] constexpr auto get_or() const {
        if constexpr ((detail::policy_for<Ps, Category> || ...)) {
            return get<Category>();
        } else {
            return Default();
        }
    }

    /// Returns: the member for `Category`. Requires: there is one.
    template <class Category>
    [[nodiscard]] constexpr auto get() const {
        using member = typename detail::find_policy<Category, Ps...>::type;
        return static_cast<const detail::policy_slot<member>&>(*this).value;
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_POLICIES_HPP
