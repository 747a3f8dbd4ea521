// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_FOLD_HPP
#define STEMMA_FOLD_FOLD_HPP

#include <stemma/core/category.hpp>
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

/// How a function is called: it stands for a class.
struct function_name {
    std::string domain; ///< the package
    std::string name;   ///< the class, without its package

    friend bool operator==(const function_name&, const function_name&) = default;
};

class module_tree;

namespace detail {

/// Returns: the attribute name of a module, up to the last part that is no number: `layer` of
/// `layer.0`; `module` where there is none.
template <module_view Modules>
[[nodiscard]] std::string name_without_numbers(const Modules& modules, id m) {
    const auto& tree = modules.index();
    while (m != 0 && is_number(modules.name(m))) {
        m = tree.parent(m);
    }
    return m == 0 ? "module" : std::string(modules.name(m));
}

} // namespace detail

/// Names a function as the class: the domain is the package. Without a class, the domain is
/// `module`, and the name that under which the parent holds it.
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
/// module has one of its own: for files in which one module is edited and the others of its class
/// stay as they are.
struct named_by_path {
    /// Complexity: O(length of the path).
    template <module_view Modules>
    [[nodiscard]] function_name operator()(const Modules& modules, id m) const {
        auto name = named_by_class{}(modules, m);
        name.name.insert(0, path_of(modules, m) + ":");
        return name;
    }
};

/// Takes modules that a selection policy selects and that hold no other such: no function calls
/// another one, for readers that inline one level.
template <class Selection = not_infrastructure>
struct innermost {
    Selection selection{}; ///< says which modules

    /// Whether `m` is selected and nothing below it is.
    /// Complexity: O(modules) for all modules together.
    template <module_view Modules>
    [[nodiscard]] bool operator()(const Modules& modules, id m) const {
        bool alone = selection.selects(modules, m);
        for (id below = m + 1; alone && below < modules.index().end(m); ++below) {
            alone = !selection.selects(modules, below);
        }
        return alone;
    }
};

/// How modules become functions.
template <class Modules = module_tree>
struct fold_options {
    /// Which modules do, besides the root, which never does: a selection policy, or a function as
    /// its `selects`, which gives the same answer whenever it is asked.
    any_selection<Modules> selection{};
    std::size_t least = 2;       ///< operators that a function is worth, those it calls included
    bool lift = true;            ///< whether models of too low an IR version are lifted
    bool vary_constants = false; ///< whether equal bodies may differ in Constants; these become
                                 ///< attributes of the function
    /// What the function of a module is called; modules with equal bodies and one name share it,
    /// and where a name is taken by another body, a number is added. Requires: no empty name, and
    /// no domain that `is_standard_domain`.
    std::function<function_name(const Modules&, id)> name_of = named_by_class{};

    /// Whether a module becomes a function.
    [[nodiscard]] bool folds(const Modules& modules, id m) const {
        return m != 0 && selection.selects(modules, m);
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_FOLD_FOLD_HPP
