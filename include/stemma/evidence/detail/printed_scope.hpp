// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PRINTED_SCOPE_HPP
#define STEMMA_EVIDENCE_DETAIL_PRINTED_SCOPE_HPP

#include <stemma/core/detail/ascii.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether a text is numbers separated by dots, as those of a member of nested lists.
[[nodiscard]] constexpr bool is_numbers(std::string_view text) noexcept {
    return !text.empty() && is_digit(text.front()) && is_digit(text.back()) &&
           text.find_first_not_of("0123456789.") == text.npos && text.find("..") == text.npos;
}

/// Returns: how torch's exporter prints the last level of a path: the last name with the numbers
/// behind it, `layer.0`; just numbers if there are no names. Complexity: O(length).
[[nodiscard]] constexpr std::string_view printed_level(std::string_view path) noexcept {
    for (auto end = path.size(); end > 0;) {
        const auto dot = path.substr(0, end).rfind('.');
        const auto begin = dot == path.npos ? 0 : dot + 1;
        if (!is_number(path.substr(begin, end - begin))) {
            return path.substr(begin);
        }
        end = dot == path.npos ? 0 : dot;
    }
    return path;
}

/// Calls `f(level)` for each level of a scope, `layer.0/attention`. Complexity: O(length).
template <class Function>
constexpr void for_each_level(std::string_view scope, Function f) {
    while (!scope.empty()) {
        const auto level = scope.substr(0, scope.find('/'));
        scope.remove_prefix(std::min(level.size() + 1, scope.size()));
        if (!level.empty()) {
            f(level);
        }
    }
}

/// Returns: a scope without its last level. Complexity: O(length).
[[nodiscard]] constexpr std::string_view around_level(std::string_view scope) noexcept {
    const auto slash = scope.rfind('/');
    return scope.substr(0, slash == scope.npos ? 0 : slash);
}

/// Returns: a scope's first level without the number of a member, `block` for `block.5/conv`; ""
/// for others. Complexity: O(length).
[[nodiscard]] constexpr std::string_view list_in(std::string_view scope) noexcept {
    const auto level = scope.substr(0, scope.find('/'));
    const auto dot = level.rfind('.');
    return dot != level.npos && is_number(level.substr(dot + 1)) ? level.substr(0, dot)
                                                                 : std::string_view();
}

/// Appends a scope, as torch's exporter prints it, to the path of the module around it: a called
/// list repeats its name in its members, so `/block.5/conv` in `enc.block` is `enc.block.5.conv`.
/// Complexity: O(length * levels).
inline void append_scope(std::string& path, std::string_view scope) {
    detail::for_each_level(scope, [&](std::string_view level) {
        const auto around = detail::printed_level(path);
        const bool repeats = level.size() > around.size() && !around.empty() &&
                             begins_with(level, around) && level[around.size()] == '.' &&
                             is_numbers(level.substr(around.size() + 1));
        const auto added = repeats ? level.substr(around.size() + 1) : level;
        path.append(path.empty() ? "" : ".").append(added);
    });
}

/// Returns: the scope of a module as torch's exporter prints it, `encoder/layer.0`. Lists have no
/// level unless `is_called(path)`. Complexity: O(length), and a call per list.
template <class IsCalled>
[[nodiscard]] std::string print_scope(std::string_view path, IsCalled is_called) {
    std::string scope;
    std::size_t named = 0; // begin of the last part that is no number
    for (std::size_t begin = 0; begin < path.size();) {
        const auto end = std::min(path.find('.', begin), path.size());
        named = is_number(path.substr(begin, end - begin)) ? named : begin;
        const auto next = path.substr(std::min(end + 1, path.size()));
        const bool holds = is_number(next.substr(0, next.find('.'))); // a list, unless called
        if (!holds || is_called(path.substr(0, end))) {
            scope.append(scope.empty() ? "" : "/").append(path.substr(named, end - named));
        }
        begin = end + 1;
    }
    return scope;
}

/// Lists that are called, as a Sequential is: scopes of torch's exporter show them, and have a
/// level for each.
class called_lists {
public:
    void insert(std::string path) { paths_.insert(std::move(path)); }

    /// Notes what a scope below a module shows. Complexity: that of `append_scope`.
    void note(std::string path, std::string_view scope) {
        detail::for_each_level(scope, [&](std::string_view level) {
            const auto size = path.size();
            detail::append_scope(path, level);
            if (path.size() - size <= level.size()) { // a separator, and not the whole level
                size == 0 ? void() : insert(path.substr(0, size));
            }
        });
    }

    /// Returns: the scope of a module.
    [[nodiscard]] std::string print(std::string_view path) const {
        return detail::print_scope(
            path, [&](std::string_view list) { return paths_.contains(std::string(list)); });
    }

private:
    std::unordered_set<std::string> paths_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PRINTED_SCOPE_HPP
