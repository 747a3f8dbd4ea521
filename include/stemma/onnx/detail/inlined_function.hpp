// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_INLINED_FUNCTION_HPP
#define STEMMA_ONNX_DETAIL_INLINED_FUNCTION_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/evidence/detail/inlined_name.hpp>
#include <stemma/evidence/detail/printed_scope.hpp>
#include <stemma/evidence/detail/scope_table.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// A function whose calls a runtime inlined, each the call of a module: relates scopes in its body
/// to paths and scopes in the model. Scopes have no slashes around them; texts outlive it.
class inlined_function {
public:
    /// Returns: the name of the function of a call, `_inlfunc_Out` for `_inlfunc_Out_token_4`.
    [[nodiscard]] static std::string_view name_of(std::string_view call) {
        const auto token = call.rfind("_token_");
        const bool numbered = token != call.npos && is_number(call.substr(token + 7));
        return numbered ? call.substr(0, token) : call;
    }

    explicit inlined_function(std::string_view name) : module_(module_in(name)) {}

    /// Notes one more call with nodes.
    void count_call() { ++calls_; }

    /// Returns: how many calls have nodes.
    [[nodiscard]] std::size_t calls() const { return calls_; }

    /// The list that its modules are called after in the body; "" if they are no called list, which
    /// repeats its name in its members: there, that of the first call.
    [[nodiscard]] std::string_view list() const { return list_; }

    /// Whether it has the name of the module with this path or scope.
    [[nodiscard]] bool is_named(std::string_view path) const {
        const auto level = printed_level(path.substr(path.rfind('/') + 1));
        return begins_with(level, module_) &&
               (level.size() == module_.size() ||
                (level[module_.size()] == '.' && is_numbers(level.substr(module_.size() + 1))));
    }

    /// Returns: the path of the nearest module at or around a path that it is named after; "" if
    /// there is none.
    [[nodiscard]] std::string_view named_around(std::string_view path) const {
        while (!path.empty() && !is_named(path)) {
            path = path_around(path);
        }
        return path;
    }

    /// Returns: the scope around a call for which `inside` is `whole`, if it may be: levels of
    /// later calls of one module are numbered, and a function may be named after another list,
    /// which is noted.
    [[nodiscard]] std::optional<std::string_view> outer_scope(std::string_view inside,
                                                              std::string_view whole) {
        const auto list = list_in(inside);
        if (ends_in_level(whole, inside, '/')) {
            const auto more = before(whole, inside.size());
            if (!list.empty() && ends_in_level(more, list, '/')) {
                list_ = list;
            }
            return more;
        }
        auto rest = inside;
        auto more = whole;
        for (bool open = true; open;) { // from the last level to the first
            const auto level = rest.substr(rest.rfind('/') + 1);
            const auto other = more.substr(more.rfind('/') + 1);
            open = level.size() < rest.size();
            if (uncounted(level) != uncounted(other)) {
                const auto number = level.substr(std::min(list.size(), level.size()));
                if (open || list.empty() || !other.ends_with(number)) {
                    return std::nullopt;
                }
                const auto own = other.substr(0, other.size() - number.size());
                more = around_level(more);
                if (!ends_in_level(more, own, '/')) {
                    return std::nullopt;
                }
                list_ = list;
                return more;
            }
            rest = around_level(rest);
            more = around_level(more);
        }
        return more;
    }

    /// Returns: the path of a scope below that of the call around it.
    [[nodiscard]] std::string below(std::string path, std::string_view scope) const {
        if (!path.empty() && !list_.empty() && list_in(scope) == list_) { // whatever it is called
            const auto level = scope.substr(0, scope.find('/'));
            path.append(".").append(level.substr(list_.size() + 1));
            scope.remove_prefix(level.size());
        }
        append_scope(path, scope);
        return path;
    }

    /// Returns: the path of a call in whose body `inside` is `whole`; nothing if it cannot be.
    [[nodiscard]] std::optional<std::string> above(std::string_view inside,
                                                   std::string_view whole) const {
        const bool repeats = !list_.empty() && list_in(inside) == list_;
        const auto end = below({}, inside).substr(repeats ? list_.size() + 1 : 0);
        if (!ends_in_level(whole, end, '.')) {
            return std::nullopt;
        }
        std::string path(before(whole, end.size()));
        return below(path, inside) == whole ? std::optional(path) : std::nullopt;
    }

    /// Notes that a node with scope `inside` reads a parameter of module `owner`: if it is named
    /// after the list in the scope, or if the owner is a member of another list, its modules are
    /// that list. Unless `surely` it is not known whether the node has that scope.
    void note_reading(std::string_view inside, std::string_view owner, bool surely) {
        const auto list = list_in(inside);
        if (list.empty() || !list_.empty()) {
            return;
        }
        std::string end;
        append_scope(end, inside);
        const auto members = std::string_view(end).substr(list.size() + 1);
        const bool is_other =
            !ends_in_level(owner, end, '.') && ends_in_level(owner, members, '.') && surely;
        if (module_ == list || is_other) {
            list_ = list;
        }
    }

    /// Returns: a scope without the numbers of later calls.
    [[nodiscard]] static std::string without_counts(std::string_view scope) {
        std::string plain;
        for_each_level(scope, [&](std::string_view level) {
            plain.append(plain.empty() ? "" : "/").append(uncounted(level));
        });
        return plain;
    }

private:
    /// Returns: what a function is called, without the number that makes it unique.
    [[nodiscard]] static std::string_view module_in(std::string_view function) {
        function.remove_prefix(function.starts_with(inlined_prefix) ? inlined_prefix.size() : 0);
        const auto dot = function.rfind('.');
        return dot != function.npos && is_number(function.substr(dot + 1)) ? function.substr(0, dot)
                                                                           : function;
    }

    [[nodiscard]] static bool ends_in_level(std::string_view text, std::string_view end,
                                            char separator) {
        return text.ends_with(end) && (text.size() == end.size() || end.empty() ||
                                       text[text.size() - end.size() - 1] == separator);
    }

    /// Returns: a text without its end, and without a separator before that.
    [[nodiscard]] static std::string_view before(std::string_view text, std::size_t end) {
        const auto size = text.size() - end;
        return text.substr(0, end > 0 && size > 0 ? size - 1 : size);
    }

    [[nodiscard]] static std::string_view uncounted(std::string_view level) {
        const auto counted = split_count(level);
        return counted ? counted->first : level;
    }

    std::string_view module_; // perhaps the name of its modules
    std::string_view list_{};
    std::size_t calls_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_INLINED_FUNCTION_HPP
