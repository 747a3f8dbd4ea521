// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_DOTTED_PATH_HPP
#define STEMMA_CORE_DETAIL_DOTTED_PATH_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/text_words.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: whether any dot-separated segment is empty. No module path has one: nothing would
/// distinguish the module from its parent. The root's path, "", has no segments. Complexity:
/// O(length).
[[nodiscard]] inline bool has_empty_part(std::string_view path) noexcept {
    std::uint64_t adjacent = 0;
    for_each_word_pair(path, [&](std::uint64_t word, std::uint64_t next) {
        adjacent |= bytes_equal(word, '.') & bytes_equal(next, '.');
    });
    return adjacent != 0 || path.starts_with('.') || path.ends_with('.');
}

/// Returns: `path` without its last part; "" if it has just one. Complexity: O(length).
[[nodiscard]] constexpr std::string_view path_around(std::string_view path) noexcept {
    const auto dot = path.rfind('.');
    return path.substr(0, dot == path.npos ? 0 : dot);
}

/// Returns: the path of what the module at `path` has under a name. Complexity: O(length).
[[nodiscard]] inline std::string member_path(std::string_view path, std::string_view name) {
    std::string result(path);
    result.append(path.empty() ? "" : ".").append(name);
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_DOTTED_PATH_HPP
