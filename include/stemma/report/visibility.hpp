// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_VISIBILITY_HPP
#define STEMMA_REPORT_VISIBILITY_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/glob.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

template <class P, class Ops>
concept has_shows = requires(const P& p, const Ops& ops, operator_t<Ops> v) {
    { p.shows(ops, v) } -> std::convertible_to<bool>;
};

} // namespace detail

/// Selects the operators shown in a view: a DAG, a picture, a report.
///
/// `shows(ops, v)`: whether it shows `v`.
///
/// Requires: it is deterministic during a call.
/// Complexity: called once per operator.
template <class P, class Ops>
concept visibility_policy = detail::policy_for<P, visibility_category> && detail::has_shows<P, Ops>;

namespace detail {

/// A visibility policy, or a function as its `shows`.
template <class P, class Ops>
concept showing = visibility_policy<P, Ops> || answering<P, bool, const Ops&, operator_t<Ops>>;

template <class P, class Ops>
[[nodiscard]] bool shows(const P& chosen, const Ops& ops, operator_t<Ops> v) {
    if constexpr (policy<P>) {
        return chosen.shows(ops, v);
    } else {
        return chosen(ops, v);
    }
}

} // namespace detail

/// Everything that computes: all operators but constants of the standard.
struct hide_constants {
    using policy_category = visibility_category;

    template <named_operators Ops>
    [[nodiscard]] bool shows(const Ops& ops, operator_t<Ops> v) const {
        if constexpr (qualified_operators<Ops>) {
            if (!std::string_view(ops.domain(v)).empty()) {
                return true;
            }
        }
        return std::string_view(ops.op_type(v)) != "Constant";
    }
};

/// All operators but those of some types, by glob: `Constant`, `*Linear`.
struct hide_types {
    using policy_category = visibility_category;

    std::vector<std::string> patterns{}; ///< globs of operator types

    template <named_operators Ops>
    [[nodiscard]] bool shows(const Ops& ops, operator_t<Ops> v) const {
        return std::none_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
            return detail::glob_match(pattern, ops.op_type(v));
        });
    }
};

/// Every operator.
struct show_all {
    using policy_category = visibility_category;

    template <operator_view Ops>
    [[nodiscard]] constexpr bool shows(const Ops&, operator_t<Ops>) const noexcept {
        return true;
    }
};

/// Put `static_assert(explain_policy<visibility_category, mine, ops>());` next to a policy that is
/// rejected.
template <std::same_as<visibility_category> Role, class P, class Ops>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "visibility policy: make the class copyable");
    static_assert(detail::declares<P, visibility_category>,
                  "visibility policy: add `using policy_category = stemma::visibility_category;`");
    static_assert(detail::has_shows<P, Ops>,
                  "visibility policy: add `bool shows(const Ops&, operator) const`");
    return visibility_policy<P, Ops>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_VISIBILITY_HPP
