// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_FOLD_HPP
#define STEMMA_FOLD_FOLD_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/detail/class_path_namer.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/tagging/any_policy.hpp>
#include <stemma/tagging/selection.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// The name of a function that represents a class.
struct function_name {
    std::string domain; ///< the package
    std::string name;   ///< the class, without its package

    friend bool operator==(const function_name&, const function_name&) = default;
};

class module_tree;

namespace detail {

/// Returns: the name of a module or, if that is a number, of its nearest ancestor with another one:
/// `layer` for `layer.0`; `module` if there is none.
template <module_view Modules>
[[nodiscard]] std::string name_without_numbers(const Modules& modules, id m) {
    const auto& tree = modules.index();
    while (m != 0 && is_number(modules.name(m))) {
        m = tree.parent(m);
    }
    return m == 0 ? "module" : std::string(modules.name(m));
}

} // namespace detail

/// Names a function after the class, with its package as the domain. Without a class, the domain is
/// `module`, and the name is that of the module.
struct named_by_class {
    /// Returns: package and class. Complexity: O(length), and O(depth) without a class.
    template <module_view Modules>
    [[nodiscard]] function_name operator()(const Modules& modules, id m) const {
        const std::string_view qualified = modules.qualified_class(m);
        const std::string_view name = modules.class_name(m);
        const bool packed = qualified.size() > name.size() + 1 && qualified.ends_with(name) &&
                            qualified[qualified.size() - name.size() - 1] == '.';
        std::string domain(packed ? qualified.substr(0, qualified.size() - name.size() - 1)
                                  : std::string_view("module"));
        if (detail::is_standard_domain(domain)) {
            domain.insert(0, "module.");
        }
        return {std::move(domain),
                name.empty() ? detail::name_without_numbers(modules, m) : std::string(name)};
    }
};

/// Names a function by path and class, `layer.0:BertLayer`, in the package's domain, so that every
/// module has its own: for editing one module without others of its class.
struct named_by_path {
    /// Complexity: O(length of the path).
    template <module_view Modules>
    [[nodiscard]] function_name operator()(const Modules& modules, id m) const {
        auto name = named_by_class{}(modules, m);
        name.name.insert(0, path_of(modules, m) + ":");
        return name;
    }
};

/// Selects the modules of a policy that contain no other selected module, so that functions do not
/// call each other: for readers that inline one level.
template <class Selection = not_infrastructure>
struct innermost {
    Selection selection{}; ///< the policy

    /// Whether `m` is selected and none of its descendants is. Complexity: O(modules) for all
    /// modules together.
    template <module_view Modules>
    [[nodiscard]] bool operator()(const Modules& modules, id m) const {
        bool alone = selection.selects(modules, m);
        for (id below = m + 1; alone && below < modules.index().end(m); ++below) {
            alone = !selection.selects(modules, below);
        }
        return alone;
    }
};

/// Options for turning modules into functions.
template <class Modules = module_tree>
struct fold_options {
    /// Which modules become functions (never the root): a selection policy, or a function that
    /// serves as its `selects`. Requires: it is deterministic.
    any_policy<selection_category, Modules> selection{};
    std::size_t least = 2;       ///< minimum number of operators of a function, calls included
    bool lift = true;            ///< raise the IR version if it has no functions
    bool vary_constants = false; ///< whether equal bodies may differ in Constants; these become
                                 ///< attributes of the function
    /// The name of a module's function. Modules with equal bodies and names share one; a number
    /// distinguishes different bodies with the same name. Requires: the name is not empty, and the
    /// domain not `is_standard_domain`.
    std::function<function_name(const Modules&, id)> name_of = named_by_class{};

    /// Whether a module becomes a function.
    [[nodiscard]] bool folds(const Modules& modules, id m) const {
        return m != 0 && selection.selects(modules, m);
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_FOLD_FOLD_HPP
