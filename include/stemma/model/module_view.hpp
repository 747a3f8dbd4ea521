// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_MODULE_VIEW_HPP
#define STEMMA_MODEL_MODULE_VIEW_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// What algorithms and policies read of a module tree. `module_tree` models it, and
/// `mapped_modules` makes one of any Boost graph with property maps.
///
/// Requires: a module is its preorder rank in `index()`; an unknown class reads as ""; text lives
/// as long as the view.
template <class Modules>
concept module_view = requires(const Modules& modules, id m) {
    { modules.index() } -> std::same_as<const tree_index&>;
    { modules.name(m) } -> lasting_text;
    { modules.class_name(m) } -> lasting_text;
    { modules.qualified_class(m) } -> lasting_text;
};

/// A module view that also knows how often each module ran (`no_id` if unknown).
template <class Modules>
concept counts_calls = module_view<Modules> && requires(const Modules& modules, id m) {
    { modules.calls(m) } -> std::convertible_to<id>;
};

/// Returns: child names from below the root, joined by dots.
/// Complexity: O(depth + length).
template <module_view Modules>
[[nodiscard]] std::string path_of(const Modules& modules, id m) {
    if constexpr (requires {
                      { modules.path(m) } -> std::convertible_to<std::string>;
                  }) {
        return modules.path(m);
    } else {
        std::string reversed;
        for (auto at = m; at != 0; at = modules.index().parent(at)) {
            const std::string_view name = modules.name(at);
            reversed.append(at == m ? "" : ".").append(name.rbegin(), name.rend());
        }
        return {reversed.rbegin(), reversed.rend()};
    }
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_MODULE_VIEW_HPP
