// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_GLOB_HPP
#define STEMMA_CORE_GLOB_HPP

#include <stemma/core/detail/ascii.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: one past the end of the part of `pattern` that starts with `{`, or 0 when no `}` closes
/// it.
[[nodiscard]] constexpr std::size_t end_of_braces(std::string_view pattern) noexcept {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        depth += pattern[i] == '{' ? 1U : 0U;
        if (pattern[i] == '}' && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

/// Whether `pattern` matches all of `text`.
///
/// `?` matches one character other than `separator`; `*` any run without it; `**` any run; `{a,b}`
/// either alternative. With the default, no separator, `*` and `**` are the same. An unclosed `{`
/// stands for itself.
/// Complexity: O(|pattern| * |text|) without braces; a `**` before a `*` adds another factor
/// |text|; each brace multiplies by its alternatives and the positions where it may end.
[[nodiscard, gnu::always_inline]] inline constexpr bool
glob_match(std::string_view pattern, std::string_view text, char separator = '\0') noexcept;

[[nodiscard]] constexpr bool any_alternative(std::string_view pattern, std::string_view text,
                                             std::size_t end, char separator) noexcept;

/// Whether a pattern character stands for itself everywhere.
[[nodiscard]] constexpr bool is_literal(char c) noexcept {
    return c != '*' && c != '?' && c != '{';
}

/// As `glob_match`; without `Separated` there is no separator.
template <bool Separated>
[[nodiscard]] constexpr bool match_whole(std::string_view pattern, std::string_view text,
                                         char separator) noexcept {
    std::size_t p = 0;
    std::size_t t = 0;
    // Where to resume after a mismatch: after the last `*` and the last `**` seen.
    struct retry {
        std::size_t pattern = std::string_view::npos;
        std::size_t text = 0;
    };
    retry run;
    retry deep_run;
    while (t < text.size() || p < pattern.size()) {
        if (p < pattern.size()) {
            if (pattern[p] == '*') {
                const bool deep = !Separated || (p + 1 < pattern.size() && pattern[p + 1] == '*');
                while (p < pattern.size() && pattern[p] == '*') {
                    ++p;
                }
                (deep ? deep_run : run) = {p, t};
                if (deep) {
                    run = {};
                }
                continue;
            }
            if (pattern[p] == '{') {
                if (const auto end = end_of_braces(pattern.substr(p)); end != 0) {
                    if (any_alternative(pattern.substr(p), text.substr(t), end, separator)) {
                        return true;
                    }
                } else if (t < text.size() && text[t] == '{') {
                    ++p;
                    ++t;
                    continue;
                }
            } else if (t < text.size() &&
                       (pattern[p] == text[t] ||
                        (pattern[p] == '?' && (!Separated || text[t] != separator)))) {
                ++p;
                ++t;
                continue;
            }
        }
        if (Separated && run.pattern != std::string_view::npos && run.text < text.size() &&
            text[run.text] != separator) {
            p = run.pattern;
            ++run.text;
            if (p < pattern.size() && is_literal(pattern[p])) {
                while (run.text < text.size() && text[run.text] != pattern[p] &&
                       text[run.text] != separator) {
                    ++run.text;
                }
            }
            t = run.text;
        } else if (deep_run.pattern != std::string_view::npos && deep_run.text < text.size()) {
            p = deep_run.pattern;
            ++deep_run.text;
            if (p < pattern.size() && is_literal(pattern[p])) {
                deep_run.text = std::min(text.find(pattern[p], deep_run.text), text.size());
            }
            t = deep_run.text;
            run = {};
        } else {
            return false;
        }
    }
    return true;
}

constexpr bool glob_match(std::string_view pattern, std::string_view text,
                          char separator) noexcept {
    // Most texts differ from most patterns in the first character: checked without a call.
    const bool differs = !pattern.empty() && detail::is_literal(pattern.front()) &&
                         (text.empty() || text.front() != pattern.front());
    return !differs && (separator == '\0' ? detail::match_whole<false>(pattern, text, separator)
                                          : detail::match_whole<true>(pattern, text, separator));
}

/// Matches braces and everything after them, one alternative at a time.
constexpr bool any_alternative(std::string_view pattern, std::string_view text, std::size_t end,
                               char separator) noexcept {
    const auto rest = pattern.substr(end);
    std::size_t depth = 0;
    std::size_t begin = 1;
    for (std::size_t i = 0; i < end; ++i) {
        const bool closes = pattern[i] == '}' && --depth == 0;
        if (closes || (pattern[i] == ',' && depth == 1)) {
            const auto alternative = pattern.substr(begin, i - begin);
            begin = i + 1;
            for (std::size_t length = 0; length <= text.size(); ++length) {
                if (glob_match(alternative, text.substr(0, length), separator) &&
                    glob_match(rest, text.substr(length), separator)) {
                    return true;
                }
            }
        }
        depth += pattern[i] == '{' ? 1U : 0U;
    }
    return false;
}

} // namespace detail

/// A pattern to be matched against many texts, as by `glob_match`, but parsed once.
///
/// Requires: the pattern's text outlives it.
class glob {
public:
    /// Complexity: O(|pattern|).
    constexpr explicit glob(std::string_view pattern, char separator = '\0') noexcept
        : separator_(separator) {
        const auto is_special = [](char c) { return !detail::is_literal(c) || c == '}'; };
        const auto first = std::find_if(pattern.begin(), pattern.end(), is_special);
        const auto last = std::find_if(pattern.rbegin(), pattern.rend(), is_special);
        const auto front = static_cast<std::size_t>(first - pattern.begin());
        const auto back =
            first == pattern.end() ? 0 : static_cast<std::size_t>(last - pattern.rbegin());
        front_ = pattern.substr(0, front);
        back_ = pattern.substr(pattern.size() - back);
        middle_ = pattern.substr(front, pattern.size() - front - back);
        fits_any_ = middle_ == "**" || (middle_ == "*" && separator == '\0');
    }

    /// Whether it matches all of `text`. Complexity: as `glob_match`.
    [[nodiscard, gnu::always_inline]] constexpr bool matches(std::string_view text) const noexcept {
        if (middle_.empty()) {
            return detail::is_same_text(text, front_);
        }
        // Most texts differ at either end: checked without a call.
        return text.size() >= front_.size() + back_.size() &&
               (front_.empty() || front_.front() == text.front()) && may_end_in(text) &&
               matches_inside(text);
    }

    /// Whether some text ending in `text` may match: false where the last character rules it out.
    /// Complexity: constant.
    [[nodiscard]] constexpr bool may_end_in(std::string_view text) const noexcept {
        const auto end = middle_.empty() ? front_ : back_;
        return end.empty() || text.empty() || end.back() == text.back();
    }

private:
    [[nodiscard]] constexpr bool matches_inside(std::string_view text) const noexcept {
        if (!detail::is_same_text(text.substr(0, front_.size()), front_) ||
            !detail::is_same_text(text.substr(text.size() - back_.size()), back_)) {
            return false;
        }
        text.remove_prefix(front_.size());
        text.remove_suffix(back_.size());
        return fits_any_ ||
               (separator_ == '\0' ? detail::match_whole<false>(middle_, text, separator_)
                                   : detail::match_whole<true>(middle_, text, separator_));
    }

    std::string_view front_;  ///< the literal prefix
    std::string_view middle_; ///< begins and ends with a wildcard
    std::string_view back_;   ///< the literal suffix
    char separator_;
    bool fits_any_ = false; ///< whether the middle matches any text
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_GLOB_HPP
