// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_FOLD_HPP
#define STEMMA_FOLD_FOLD_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/detail/class_path_namer.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/tagging/selection.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace stemma {

/// How a function is called: it stands for a class.
struct function_name {
    std::string domain; ///< the package
    std::string name;   ///< the class, without its package

    friend bool operator==(const function_name&, const function_name&) = default;
};

namespace detail {

template <class P, class Modules>
concept has_folds = requires(const P& p, const Modules& modules, id m) {
    { p.folds(modules, m) } -> std::convertible_to<bool>;
};

template <class P>
concept has_least_nodes = requires(const P& p) {
    { p.least_nodes() } -> std::convertible_to<std::size_t>;
};

template <class P, class Modules>
concept has_shares = requires(const P& p, const Modules& modules, id m) {
    { p.shares(modules, m, m) } -> std::convertible_to<bool>;
};

template <class P, class Modules>
concept has_name_of = requires(const P& p, const Modules& modules, id m) {
    { p.name_of(modules, m) } -> std::convertible_to<function_name>;
};

template <class P>
concept has_varies_constants = requires(const P& p) {
    { p.varies_constants() } -> std::convertible_to<bool>;
};

template <class P>
concept has_lifts = requires(const P& p, std::int64_t version) {
    { p.lifts(version) } -> std::convertible_to<bool>;
};

} // namespace detail

/// Says which modules become functions.
///
/// `folds(modules, m)`: whether a module does; the root never. `least_nodes()`: what has fewer
/// operators, functions it calls included, stays in place. `shares(modules, a, b)`: whether two
/// modules may be calls of one function when their bodies are equal. `name_of(modules, m)`: what
/// the function of a module is called; where that is taken by another body, a number is added.
/// `varies_constants()`: whether bodies are equal that differ in Constants; these become
/// attributes of the function. `lifts(version)`: whether a model of an IR version that has no
/// functions is lifted to one that has.
///
/// Requires: `shares` is an equivalence; the same answers for the same modules during one call; no
///   name of a module that folds is "", and no domain that of the standard or below it,
///   `ai.onnx.ml`.
/// Complexity: callers ask `folds` once per module, `name_of` once per function, `shares` for pairs
///   whose bodies are equal. `fold_selected` models it.
template <class P, class Modules>
concept fold_policy = policy_for<P, fold_category> && detail::has_folds<P, Modules> &&
    detail::has_least_nodes<P> && detail::has_shares<P, Modules> &&
    detail::has_name_of<P, Modules> && detail::has_varies_constants<P> && detail::has_lifts<P>;

namespace detail {

/// Returns: the attribute name of a module, up to the last part that is no number: `layer` of
/// `layer.0`; `module` where there is none.
template <module_view Modules>
[[nodiscard]] std::string name_without_numbers(const Modules& modules, id m) {
    const auto& tree = modules.index();
    while (m != 0 && is_number(modules.attribute(m))) {
        m = tree.parent(m);
    }
    return m == 0 ? "module" : std::string(modules.attribute(m));
}

} // namespace detail

/// Folds the modules that a selection policy selects.
///
/// A function is called as its class: the domain is the package. Modules of one class share.
/// Without a class, the domain is `module`, and the name that under which the parent holds it.
template <class Selection = not_infrastructure>
struct fold_selected {
    using policy_category = fold_category;

    Selection selection{};       ///< says which modules, besides the root, are folded
    std::size_t least = 2;       ///< operators that a function is worth
    bool lift = true;            ///< whether models of too low an IR version are lifted
    bool vary_constants = false; ///< whether equal bodies may differ in Constants

    template <module_view Modules>
    [[nodiscard]] bool folds(const Modules& modules, id m) const {
        return m != 0 && selection.selects(modules, m);
    }
    [[nodiscard]] constexpr std::size_t least_nodes() const noexcept { return least; }

    template <module_view Modules>
    [[nodiscard]] bool shares(const Modules& modules, id a, id b) const {
        return name_of(modules, a) == name_of(modules, b);
    }

    template <module_view Modules>
    [[nodiscard]] function_name name_of(const Modules& modules, id m) const {
        const std::string_view qualified = modules.qualified_class(m);
        const std::string_view name = modules.class_name(m);
        const bool packed = qualified.size() > name.size() + 1 && qualified.ends_with(name) &&
                            qualified[qualified.size() - name.size() - 1] == '.';
        std::string domain(packed ? qualified.substr(0, qualified.size() - name.size() - 1)
                                  : std::string_view("module"));
        if (is_standard_domain(domain)) {
            domain.insert(0, "module.");
        }
        return {std::move(domain),
                name.empty() ? detail::name_without_numbers(modules, m) : std::string(name)};
    }

    [[nodiscard]] constexpr bool varies_constants() const noexcept { return vary_constants; }
    [[nodiscard]] constexpr bool lifts(std::int64_t) const noexcept { return lift; }
};

/// As fold_selected, but every module has a function of its own, which its calls share: for files
/// in which one module is edited and the others of its class stay as they are.
template <class Selection = not_infrastructure>
struct fold_apart : fold_selected<Selection> {
    /// Only a module and itself.
    template <module_view Modules>
    [[nodiscard]] bool shares(const Modules&, id a, id b) const {
        return a == b;
    }

    /// Returns: the path and the class, `layer.0:BertLayer`, in the package's domain.
    /// Complexity: O(length of the path).
    template <module_view Modules>
    [[nodiscard]] function_name name_of(const Modules& modules, id m) const {
        auto name = fold_selected<Selection>::name_of(modules, m);
        name.name.insert(0, path_of(modules, m) + ":");
        return name;
    }
};

/// As fold_selected, but only modules in which no other one is selected: no function calls another
/// one, for readers that inline one level.
template <class Selection = not_infrastructure>
struct fold_innermost : fold_selected<Selection> {
    /// Whether `m` is selected and nothing below it is.
    /// Complexity: O(modules) for all modules together.
    template <module_view Modules>
    [[nodiscard]] bool folds(const Modules& modules, id m) const {
        bool innermost = fold_selected<Selection>::folds(modules, m);
        for (id below = m + 1; innermost && below < modules.index().end(m); ++below) {
            innermost = !this->selection.selects(modules, below);
        }
        return innermost;
    }
};

/// Put `static_assert(explain_fold_policy<mine, modules>());` beside a policy that is refused.
template <class P, class Modules>
consteval bool explain_fold_policy() {
    static_assert(std::copy_constructible<P>, "fold policy: make the class copyable");
    static_assert(policy_for<P, fold_category>,
                  "fold policy: add `using policy_category = stemma::fold_category;`");
    static_assert(detail::has_folds<P, Modules>,
                  "fold policy: add `bool folds(const Modules&, stemma::id module) const`");
    static_assert(detail::has_least_nodes<P>, "fold policy: add `std::size_t least_nodes() const`");
    static_assert(detail::has_shares<P, Modules>,
                  "fold policy: add `bool shares(const Modules&, stemma::id, stemma::id) const`");
    static_assert(detail::has_name_of<P, Modules>,
                  "fold policy: add `stemma::function_name name_of(const Modules&, stemma::id "
                  "module) const`");
    static_assert(detail::has_varies_constants<P>,
                  "fold policy: add `bool varies_constants() const`");
    static_assert(detail::has_lifts<P>,
                  "fold policy: add `bool lifts(std::int64_t ir_version) const`");
    return fold_policy<P, Modules>;
}

} // namespace stemma

#endif // STEMMA_FOLD_FOLD_HPP
