// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_CATEGORY_HPP
#define STEMMA_CORE_CATEGORY_HPP

#include <stemma/config.hpp>

#include <concepts>
#include <type_traits>

namespace stemma::inline STEMMA_ABI {

/// Which modules get a tag of their own?
struct selection_category {};
/// What do tags look like?
struct naming_category {};
/// Which module does a source claim for an operator?
struct evidence_category {};
/// Which claim is believed when sources differ?
struct resolution_category {};
/// Where do operators without evidence belong?
struct propagation_category {};
/// How are tags stored in a file?
struct carrier_category {};
/// What belongs to a part cut out of a model?
struct cut_category {};
/// What does an operator add to the part it is in?
struct cost_category {};
/// Which operators go to one part?
struct partition_category {};
/// Which operators does an exporter emit for a captured one?
struct lexicon_category {};
/// Which operators does a view show?
struct visibility_category {};
/// Which findings about a model are reported, and how severe are they?
struct diagnostics_category {};
/// Which frames of a call stack are the user's?
struct frames_category {};

/// A class that declares which question it answers.
template <class P>
concept policy = std::copy_constructible<P> && requires {
    typename P::policy_category;
};

/// Any policy of the role of a category, over graphs and trees of the types `Of`: one type for all
/// of them, for programs that let users choose. Each query costs an indirect call; the policy's own
/// work is compiled as a unit.
template <class Category, class... Of>
class any_policy;

namespace detail {

/// A policy that answers the question of `Category`.
template <class P, class Category>
concept policy_for = policy<P> && std::same_as<typename P::policy_category, Category>;

/// Whether a class declares the question of `Category`, whatever else it lacks.
template <class P, class Category>
concept declares = requires {
    requires std::same_as<typename P::policy_category, Category>;
};

/// A function that answers the one question of a role, in place of a policy.
template <class F, class Result, class... Arguments>
concept answering = !policy<F> && std::copy_constructible<F> &&
                    std::is_invocable_r_v<Result, const F&, Arguments...>;

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_CATEGORY_HPP
