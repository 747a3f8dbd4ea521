// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_SELECTION_HPP
#define STEMMA_TAGGING_SELECTION_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/glob.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/model/module_view.hpp>

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

template <class P, class Modules>
concept has_selects = requires(const P& p, const Modules& modules, id m) {
    { p.selects(modules, m) } -> std::convertible_to<bool>;
};

} // namespace detail

/// Decides which modules get their own tag.
///
/// `selects(modules, m)`: whether `m` does. The root always does, whatever the policy says.
///
/// Requires: the same answer for the same module during one call.
/// Complexity: callers ask once per module.
template <class P, class Modules>
concept selection_policy =
    detail::policy_for<P, selection_category> && detail::has_selects<P, Modules>;

namespace detail {

/// A selection policy, or a function that serves as its `selects`.
template <class P, class Modules>
concept selecting = selection_policy<P, Modules> || answering<P, bool, const Modules&, id>;

template <class P, class Modules>
[[nodiscard]] bool selects(const P& chosen, const Modules& modules, id m) {
    if constexpr (policy<P>) {
        return chosen.selects(modules, m);
    } else {
        return chosen(modules, m);
    }
}

} // namespace detail

/// Returns: whether `qualified_class` is in `package` or a subpackage.
[[nodiscard]] constexpr bool is_in_package(std::string_view qualified_class,
                                           std::string_view package) noexcept {
    return qualified_class.starts_with(package) &&
           (qualified_class.size() == package.size() || qualified_class[package.size()] == '.');
}

namespace detail {

/// Initial value of `infrastructure_packages`. A function, because GCC 12 crashes when a template
/// creates an object with members initialized from a list of strings.
[[nodiscard]] inline std::vector<std::string> torch_packages() {
    return {"torch.nn", "torch.ao.nn", "torch.jit", "torch.fx", "torch._dynamo"};
}

} // namespace detail

/// The packages whose classes are building blocks of models. Data: replace at will.
struct infrastructure_packages {
    /// Classes in these packages or their subpackages count.
    std::vector<std::string> names = detail::torch_packages();

    friend bool operator==(const infrastructure_packages&,
                           const infrastructure_packages&) = default;

    /// Returns: whether a class is infrastructure; an unknown class ("") is not.
    [[nodiscard]] bool contain(std::string_view qualified_class) const {
        return std::any_of(names.begin(), names.end(), [&](const auto& package) {
            return is_in_package(qualified_class, package);
        });
    }
};

/// Every module that is not infrastructure, and infrastructure whose class is requested. A module
/// of unknown class that never runs is assumed to be a container, and thus infrastructure.
struct not_infrastructure {
    using policy_category = selection_category;

    infrastructure_packages
        packages{}; ///< none of whose classes is selected unless `keep` matches it
    /// Class names, qualified classes or globs of either: `LayerNorm`, `torch.nn.*.Embedding`.
    std::vector<std::string> keep{};

    /// Returns: `default`, with `keep` after a colon; "" for custom packages, which records do not
    /// cover. Complexity: O(length).
    [[nodiscard]] std::string name() const {
        if (packages != infrastructure_packages()) {
            return {};
        }
        return keep.empty() ? "default" : "default:" + detail::join_list(keep);
    }

    template <module_view Modules>
    [[nodiscard]] bool selects(const Modules& modules, id m) const {
        if constexpr (counts_calls<Modules>) {
            const std::string_view class_name = modules.class_name(m);
            if (class_name.empty() && modules.calls(m) == 0) {
                return false;
            }
        }
        return !packages.contain(modules.qualified_class(m)) ||
               std::any_of(keep.begin(), keep.end(), [&](const auto& pattern) {
                   return detail::glob_match(pattern, modules.class_name(m)) ||
                          detail::glob_match(pattern, modules.qualified_class(m));
               });
    }
};

/// Every module.
struct all_modules {
    using policy_category = selection_category;
    static constexpr std::string_view name = "all";

    template <module_view Modules>
    [[nodiscard]] constexpr bool selects(const Modules&, id) const noexcept {
        return true;
    }
};

/// Modules whose class is in one of some packages.
struct in_packages {
    using policy_category = selection_category;

    std::vector<std::string> packages{}; ///< classes in them or their subpackages are selected

    /// Returns: `package:P,...`. Complexity: O(length).
    [[nodiscard]] std::string name() const { return "package:" + detail::join_list(packages); }

    template <module_view Modules>
    [[nodiscard]] bool selects(const Modules& modules, id m) const {
        return std::any_of(packages.begin(), packages.end(), [&](const auto& package) {
            return is_in_package(modules.qualified_class(m), package);
        });
    }
};

/// Modules whose class name or qualified class matches one of some globs.
struct of_classes {
    using policy_category = selection_category;

    std::vector<std::string> patterns{}; ///< globs of a class name or a qualified class

    /// Returns: `class:GLOB,...`. Complexity: O(length).
    [[nodiscard]] std::string name() const { return "class:" + detail::join_list(patterns); }

    template <module_view Modules>
    [[nodiscard]] bool selects(const Modules& modules, id m) const {
        return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
            return detail::glob_match(pattern, modules.class_name(m)) ||
                   detail::glob_match(pattern, modules.qualified_class(m));
        });
    }
};

/// Modules at most that many edges below the root.
struct down_to_depth {
    using policy_category = selection_category;

    id depth = no_id; ///< edges; by default all modules are selected

    /// Returns: `depth:N`.
    [[nodiscard]] std::string name() const { return "depth:" + std::to_string(depth); }

    template <module_view Modules>
    [[nodiscard]] bool selects(const Modules& modules, id m) const noexcept {
        return modules.index().depth(m) <= depth;
    }
};

/// Put `static_assert(explain_policy<selection_category, mine, modules>());` next to a policy that
/// is rejected.
template <std::same_as<selection_category> Role, class P, class Modules>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "selection policy: make the class copyable");
    static_assert(detail::declares<P, selection_category>,
                  "selection policy: add `using policy_category = stemma::selection_category;`");
    static_assert(detail::has_selects<P, Modules>,
                  "selection policy: add `bool selects(const Modules&, stemma::id module) const`");
    return selection_policy<P, Modules>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_SELECTION_HPP
