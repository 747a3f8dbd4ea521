// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_CUT_HPP
#define STEMMA_CUT_CUT_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/held_policy.hpp>
#include <stemma/core/detail/policy_name.hpp>
#include <stemma/core/parse_name.hpp>
#include <stemma/model/dependence.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// What to do with a set of operators that is not convex: a path leaves it and returns.
/// Names: `refuse`, `absorb` or `runs`.
enum class gap_rule : std::uint8_t {
    refuse, ///< no cut; the path is reported
    absorb, ///< include the operators on such paths
    runs,   ///< one cut per convex run
};

namespace detail {

template <>
inline constexpr std::array<std::string_view, 3> names_of_values<gap_rule>{"refuse", "absorb",
                                                                           "runs"};

template <class P>
concept has_pulls = requires(const P& p, dependence d) {
    { p.pulls(d) } -> std::convertible_to<bool>;
};

template <class P>
concept has_gaps = requires(const P& p) {
    { p.gaps() } -> std::convertible_to<gap_rule>;
};

template <class P>
concept has_boundary_name = requires(const P& p, std::string_view name) {
    { p.boundary_name(name) } -> std::convertible_to<std::string>;
};

template <class P>
concept has_keeps_unused_initializers = requires(const P& p) {
    { p.keeps_unused_initializers() } -> std::convertible_to<bool>;
};

} // namespace detail

/// Decides what belongs to a part cut out of a model, beyond the requested operators.
///
/// `pulls(d)`: whether an outside producer whose results depend on `d` is copied into the part
/// rather than its result becoming an input; constants always are. `gaps()`: what to do with a set
/// that is not convex. `boundary_name(name)`: the name in the part of an input or output called
/// `name` in the model. `keeps_unused_initializers()`: whether unread initializers are kept.
///
/// Requires: `pulls(dependence::constant)`; a policy that pulls data pulls everything; distinct
/// names stay distinct.
template <class P>
concept cut_policy = detail::policy_for<P, cut_category> && detail::has_pulls<P> &&
    detail::has_gaps<P> && detail::has_boundary_name<P> && detail::has_keeps_unused_initializers<P>;

/// Copies in what depends on at most `pulled`, and keeps all names.
struct standard_cut {
    using policy_category = cut_category;

    dependence pulled = dependence::weight; ///< the strongest dependence copied in
    gap_rule rule = gap_rule::refuse;       ///< for sets that are not convex

    [[nodiscard]] constexpr bool pulls(dependence d) const noexcept {
        return d == dependence::constant || d <= pulled;
    }
    [[nodiscard]] constexpr gap_rule gaps() const noexcept { return rule; }
    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        return std::string(name);
    }
    [[nodiscard]] constexpr bool keeps_unused_initializers() const noexcept { return false; }
};

/// Returns: the name of what is copied in: `none`, `constants`, `weights`, `shapes` or `all`.
[[nodiscard]] constexpr std::optional<dependence> parse_pull(std::string_view name) noexcept {
    return name == "none" || name == "constants" ? std::optional(dependence::constant)
           : name == "weights"                   ? std::optional(dependence::weight)
           : name == "shapes"                    ? std::optional(dependence::shape)
           : name == "all"                       ? std::optional(dependence::data)
                                                 : std::nullopt;
}

/// Like standard_cut, with names that are valid identifiers in most languages.
struct plain_names_cut : standard_cut {
    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        constexpr std::string_view hex = "0123456789abcdef";
        std::string plain;
        for (char c : name) {
            const bool keeps =
                detail::is_alphanumeric(c) && (!detail::is_digit(c) || !plain.empty());
            if (keeps) {
                plain.push_back(c);
            } else {
                const auto byte = static_cast<unsigned char>(c);
                plain.append("_").append(1, hex[byte >> 4U]).append(1, hex[byte & 15U]);
            }
        }
        return plain;
    }
};

/// Like standard_cut, with a prefix on boundary names, so that parts of several models can be
/// combined without clashes.
struct prefixed_names_cut : standard_cut {
    std::string prefix{}; ///< prepended to every name

    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        return std::string(prefix).append(name);
    }
};

/// Put `static_assert(explain_policy<cut_category, mine>());` next to a policy that is rejected.
template <std::same_as<cut_category> Role, class P>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "cut policy: make the class copyable");
    static_assert(detail::declares<P, cut_category>,
                  "cut policy: add `using policy_category = stemma::cut_category;`");
    static_assert(detail::has_pulls<P>, "cut policy: add `bool pulls(stemma::dependence) const`");
    static_assert(detail::has_gaps<P>, "cut policy: add `stemma::gap_rule gaps() const`");
    static_assert(detail::has_boundary_name<P>,
                  "cut policy: add `std::string boundary_name(std::string_view) const`");
    static_assert(detail::has_keeps_unused_initializers<P>,
                  "cut policy: add `bool keeps_unused_initializers() const`");
    return cut_policy<P>;
}

namespace detail {

/// Checks the answers of a policy that depend on no model. Throws: as `refuse_answer`.
template <cut_policy P>
void check_cut_policy(const P& policy) {
    if (!policy.pulls(dependence::constant)) {
        refuse_answer(policy, "cut", "copies no constants in");
    }
    if (policy.pulls(dependence::data) &&
        !(policy.pulls(dependence::weight) && policy.pulls(dependence::shape))) {
        refuse_answer(policy, "cut", "copies data in, but not everything simpler");
    }
    if (policy.gaps() > gap_rule::runs) {
        refuse_answer(policy, "cut", "gives a gap rule that does not exist");
    }
}

} // namespace detail

/// Any cut policy. `pulls` and `gaps` are called on construction only.
template <>
class any_policy<cut_category> {
public:
    using policy_category = cut_category;

    /// Holds a copy of `chosen`. Throws: `error` of `error_code::refused` if it breaks what
    /// `cut_policy` requires. Complexity: that of the copy.
    template <class P>
        requires(!std::same_as<P, any_policy> && cut_policy<P>)
    any_policy(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : gaps_(chosen.gaps()), keeps_unused_(chosen.keeps_unused_initializers()) {
        for (auto d :
             {dependence::constant, dependence::weight, dependence::shape, dependence::data}) {
            pulls_[static_cast<std::size_t>(d)] = chosen.pulls(d);
        }
        detail::check_cut_policy(chosen);
        boundary_name_ = [chosen = std::move(chosen)](std::string_view name) -> std::string {
            return chosen.boundary_name(name);
        };
    }

    /// Rejects other policies, with an explanation.
    template <detail::attempted_policy<any_policy> P>
        requires(!cut_policy<P>)
    any_policy(const P& /*rejected*/) { // NOLINT(google-explicit-constructor): as above
        static_assert(explain_policy<cut_category, P>());
    }

    [[nodiscard]] bool pulls(dependence d) const { return pulls_[static_cast<std::size_t>(d)]; }
    [[nodiscard]] gap_rule gaps() const noexcept { return gaps_; }
    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        return boundary_name_(name);
    }
    [[nodiscard]] bool keeps_unused_initializers() const noexcept { return keeps_unused_; }

private:
    gap_rule gaps_;
    bool keeps_unused_;
    std::array<bool, 4> pulls_{};
    std::function<std::string(std::string_view)> boundary_name_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_CUT_HPP
