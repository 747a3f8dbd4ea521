// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OP_IS_HPP
#define STEMMA_OP_IS_HPP

#include <stemma/handles.hpp>

#include <range/v3/view/filter.hpp> // for use with the predicates below

#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

// Predicates for `ranges::views::filter`.

/// Returns: a predicate that holds for nodes with this operator type in the standard domain, or in
/// `domain`.
[[nodiscard]] inline auto op_is(std::string_view type, std::string_view domain = "") {
    return [type = std::string(type), domain = std::string(domain)](const node_ref& node) {
        return node.op_type() == type && node.domain() == domain;
    };
}

/// Returns: a predicate that holds for nodes in `module` or below it.
[[nodiscard]] inline auto is_in(module_ref module) {
    return [module](const node_ref& node) { return module.contains(node.module()); };
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OP_IS_HPP
