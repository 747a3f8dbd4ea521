// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_CUT_HPP
#define STEMMA_CUT_CUT_HPP

#include <stemma/core/category.hpp>
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

/// What happens when a set of operators is not convex: when some way leads out of it and back.
enum class gap_rule : std::uint8_t {
    refuse, ///< no cut; the way is shown
    absorb, ///< what lies on such ways is taken in
    runs,   ///< one cut for each convex run
};

/// Returns: `refuse`, `absorb` or `runs`.
[[nodiscard]] constexpr std::optional<gap_rule> parse_gap_rule(std::string_view name) noexcept {
    return name == "refuse"   ? std::optional(gap_rule::refuse)
           : name == "absorb" ? std::optional(gap_rule::absorb)
           : name == "runs"   ? std::optional(gap_rule::runs)
                              : std::nullopt;
}

namespace detail {

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

/// Says what belongs to a part that is cut out of a model, beyond the operators asked for.
///
/// `pulls(d)`: whether an operator outside that the part reads from is copied in rather than making
/// an input, by what its results depend on. Constants always are. `gaps()`: what to do with a set
/// that is not convex. `boundary_name(name)`: how an input or output is called that was `name` in
/// the whole. `keeps_unused_initializers()`: whether initializers that nothing reads go along.
///
/// Requires: `pulls(dependence::constant)`; whoever pulls in data pulls in everything;
///   different names stay different.
template <class P>
concept cut_policy = policy_for<P, cut_category> && detail::has_pulls<P> && detail::has_gaps<P> &&
    detail::has_boundary_name<P> && detail::has_keeps_unused_initializers<P>;

/// Copies in what depends on weights at most, and keeps all names.
struct standard_cut {
    using policy_category = cut_category;

    dependence pulled = dependence::weight; ///< the most that is copied in
    gap_rule rule = gap_rule::refuse;       ///< what to do with a set that is not convex

    [[nodiscard]] constexpr bool pulls(dependence d) const noexcept {
        return d == dependence::constant || d <= pulled;
    }
    [[nodiscard]] constexpr gap_rule gaps() const noexcept { return rule; }
    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        return std::string(name);
    }
    [[nodiscard]] constexpr bool keeps_unused_initializers() const noexcept { return false; }
};

/// Returns: the most that is copied in: `none`, `constants`, `weights`, `shapes` or `all`.
[[nodiscard]] constexpr std::optional<dependence> parse_pull(std::string_view name) noexcept {
    return name == "none" || name == "constants" ? std::optional(dependence::constant)
           : name == "weights"                   ? std::optional(dependence::weight)
           : name == "shapes"                    ? std::optional(dependence::shape)
           : name == "all"                       ? std::optional(dependence::data)
                                                 : std::nullopt;
}

/// As standard_cut, with names that are valid identifiers in most languages.
struct plain_names_cut : standard_cut {
    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        constexpr std::string_view hex = "0123456789abcdef";
        std::string plain;
        for (char c : name) {
            const bool keeps = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9' && !plain.empty());
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

/// As standard_cut, with a prefix to the names at the boundary: parts of several models can stand
/// in one without meeting.
struct prefixed_names_cut : standard_cut {
    std::string prefix{}; ///< goes in front of every name, as it is

    [[nodiscard]] std::string boundary_name(std::string_view name) const {
        return std::string(prefix).append(name);
    }
};

/// Any cut policy. What it pulls in and does with gaps is asked once, when it is held.
class any_cut {
public:
    using policy_category = cut_category;

    /// Holds a copy of `chosen`. Complexity: that of the copy.
    template <class P>
        requires(!std::same_as<P, any_cut> && cut_policy<P>)
    any_cut(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : gaps_(chosen.gaps()), keeps_unused_(chosen.keeps_unused_initializers()) {
        for (auto d :
             {dependence::constant, dependence::weight, dependence::shape, dependence::data}) {
            pulls_[static_cast<std::size_t>(d)] = chosen.pulls(d);
        }
        boundary_name_ = [chosen = std::move(chosen)](std::string_view name) -> std::string {
            return chosen.boundary_name(name);
        };
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

/// Put `static_assert(explain_cut_policy<mine>());` beside a policy that is refused.
template <class P>
consteval bool explain_cut_policy() {
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

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_CUT_HPP
