// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_POLICY_CATEGORY_HPP
#define STEMMA_POLICY_CATEGORY_HPP

#include <concepts>

namespace stemma {

struct selection_category {};
struct naming_category {};
struct evidence_category {};
struct resolution_category {};
struct propagation_category {};
struct carrier_category {};
struct cut_category {};
struct cost_category {};
struct fold_category {};
struct lexicon_category {};
struct visibility_category {};

/// A class that declares which question it answers.
template <class P>
concept policy = std::copyable<P> && requires {
    typename P::policy_category;
};

template <class P, class Category>
concept policy_for = policy<P> && std::same_as<typename P::policy_category, Category>;

} // namespace stemma

#endif // STEMMA_POLICY_CATEGORY_HPP
