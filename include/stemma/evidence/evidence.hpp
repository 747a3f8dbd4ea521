// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_EVIDENCE_HPP
#define STEMMA_EVIDENCE_EVIDENCE_HPP

#include <stemma/core/category.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <concepts>
#include <utility>

namespace stemma::inline STEMMA_ABI {

namespace detail {

struct take_claim {
    void operator()(const claim&) const {}
};

template <class P, class Ops, class Modules>
concept has_prepare = requires(const P& p, evidence_context<Ops, Modules>& context) {
    p.prepare(context);
};

template <class P, class Ops, class Modules>
using prepared_t =
    decltype(std::declval<const P&>().prepare(std::declval<evidence_context<Ops, Modules>&>()));

template <class P, class Ops, class Modules>
concept has_for_each_claim = has_prepare<P, Ops, Modules> &&
    requires(const prepared_t<P, Ops, Modules>& claims, operator_t<Ops> v) {
    claims.for_each_claim(v, take_claim{});
};

} // namespace detail

/// A source of claims about operators.
///
/// `prepare(context)` reads whatever the source needs once, and returns an object whose
/// `for_each_claim(v, f)` calls `f(claim)` for each claim about `v`: not at all, once, or once for
/// each alternative.
///
/// Requires: modules in claims are ranks in `context.index()`; every call yields the same claims;
/// all claims of one source have the same provenance.
/// Complexity: `prepare` linear in operators and modules; `for_each_claim` constant.
template <class P, class Ops, class Modules>
concept evidence_policy = detail::policy_for<P, evidence_category> &&
    detail::has_prepare<P, Ops, Modules> && detail::has_for_each_claim<P, Ops, Modules>;

/// Put `static_assert(explain_policy<evidence_category, mine, ops, modules>());` next to a rejected
/// policy.
template <std::same_as<evidence_category> Role, class P, class Ops, class Modules>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "evidence policy: make the class copyable");
    static_assert(detail::declares<P, evidence_category>,
                  "evidence policy: add `using policy_category = stemma::evidence_category;`");
    static_assert(
        detail::has_prepare<P, Ops, Modules>,
        "evidence policy: add `auto prepare(stemma::evidence_context<Ops, Modules>&) const`");
    if constexpr (detail::has_prepare<P, Ops, Modules>) {
        static_assert(detail::has_for_each_claim<P, Ops, Modules>,
                      "evidence policy: the result of prepare() needs "
                      "`void for_each_claim(vertex, Function) const`");
    }
    return evidence_policy<P, Ops, Modules>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_EVIDENCE_HPP
