// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PATH_BELOW_HPP
#define STEMMA_EVIDENCE_DETAIL_PATH_BELOW_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/prints_as.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the path of the module that an instance of a scope denotes, below that of the enclosing
/// scope. A called Sequential repeats its name in its children: below `layer1` the instance
/// `layer1.0` is child `0`.
[[nodiscard]] inline std::string_view path_below(const module_tree_builder& builder, id parent,
                                                 scope_style style, std::string_view rest) {
    if (style == scope_style::relative || parent == 0) {
        return rest;
    }
    const auto repeated = printed(builder, parent) + ".";
    if (rest.starts_with(repeated) && rest.size() > repeated.size()) {
        rest.remove_prefix(repeated.size());
    }
    return rest;
}

/// Returns: the module that an instance of a scope denotes below `parent`, added if missing.
///
/// Dots separate names in the paths of numbered modules, `layer.0`, and below modules that are
/// known; elsewhere they are part of a name, as frameworks other than torch allow:
/// `tf.math.maximum`. Complexity: O(length).
[[nodiscard]] inline id module_below(module_tree_builder& builder, id parent,
                                     std::string_view path) {
    const auto dot = path.find('.');
    bool separates = dot == path.npos || builder.find_child(parent, path.substr(0, dot)) != no_id;
    for (auto begin = dot; begin != path.npos && !separates;) {
        const auto end = path.find('.', begin + 1);
        const auto part = path.substr(begin + 1, end == path.npos ? end : end - begin - 1);
        separates = is_number(part.substr(0, part.find('_')));
        begin = end;
    }
    return separates ? builder.at_path(path, parent) : builder.child(parent, path);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PATH_BELOW_HPP
