// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_GROW_CLASS_TAGS_HPP
#define STEMMA_EVIDENCE_DETAIL_GROW_CLASS_TAGS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/hierarchy_table.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>

namespace stemma::inline STEMMA_ABI::detail {

/// Calls `f(class_name, number)` for each segment of a tag of winml-cli, `/Net/Block.0`, from the
/// root; the number is "" for a module that is not named by one. Complexity: O(length).
template <class Function>
void for_each_class(std::string_view tag, Function f) {
    while (!tag.empty()) {
        tag.remove_prefix(1);
        const auto segment = tag.substr(0, tag.find('/'));
        tag.remove_prefix(segment.size());
        const auto dot = std::min(segment.rfind('.'), segment.size());
        const bool numbered = dot < segment.size() && is_number(segment.substr(dot + 1));
        f(segment.substr(0, numbered ? dot : segment.size()),
          numbered ? segment.substr(dot + 1) : std::string_view());
    }
}

/// Whether a tag is a path of classes, each with a name.
/// Complexity: O(length).
[[nodiscard]] inline bool is_class_path(std::string_view tag) {
    constexpr std::size_t max_levels = 1024;
    constexpr std::size_t max_bytes = std::size_t{1} << 18U;
    if (!tag.starts_with('/') || tag.size() > max_bytes || !is_utf8(tag)) {
        return false;
    }
    std::size_t levels = 0;
    bool named = true;
    for_each_class(tag, [&](std::string_view class_name, std::string_view) {
        named = named && !class_name.empty() && class_name.find('.') == class_name.npos;
        ++levels;
    });
    return named && levels <= max_levels;
}

/// Adds the modules that tags of winml-cli spell, if nothing else names any. A module that is not
/// named by a number is called after its class, and so is the list around the numbered ones; tags
/// do not tell modules of one class in the same parent apart.
/// Complexity: O(bytes of the tags).
inline void grow_class_tags(const hierarchy_table& table, module_tree_builder& builder) {
    std::unordered_set<std::string_view> seen;
    for (const auto& [v, tag] : table.class_tags) {
        if (!seen.insert(tag).second || !is_class_path(tag)) {
            continue;
        }
        auto m = no_id;
        for_each_class(tag, [&](std::string_view class_name, std::string_view number) {
            if (m == no_id) {
                m = 0;
            } else if (m = builder.child(m, class_name); !number.empty()) {
                if (builder.calls(m) == no_id) {
                    builder.set_calls(m, 0);
                }
                m = builder.child(m, number);
            }
            if (!builder.has_class(m)) {
                builder.set_class(m, class_name, class_name);
            }
            builder.set_calls(m, 1);
        });
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_GROW_CLASS_TAGS_HPP
