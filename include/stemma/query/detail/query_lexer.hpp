// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_DETAIL_QUERY_LEXER_HPP
#define STEMMA_QUERY_DETAIL_QUERY_LEXER_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/real_text.hpp>
#include <stemma/query/query.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// The kind of argument after a term's keyword.
enum class query_operand : std::uint8_t {
    pattern,    ///< a glob
    value,      ///< a glob, or a list in brackets
    depth,      ///< an integer, compared
    confidence, ///< a number from 0 to 1, compared
    count,      ///< a number with an optional unit, compared
    size,       ///< the same, of bytes
    weights,    ///< a glob after `:`, else a size
    attribute,  ///< a name, and optionally a value
    place,      ///< another query
    two_places, ///< two queries
    lines,      ///< a glob of files, optionally with lines: `net.py:12`, `net.py:12-20`
};

struct query_key {
    std::string_view name;
    query_kind kind;
    query_operand operand;
};

inline constexpr std::array<query_key, 26> query_keys{
    {{"after", query_kind::after, query_operand::place},
     {"attr", query_kind::attribute, query_operand::attribute},
     {"before", query_kind::before, query_operand::place},
     {"between", query_kind::between, query_operand::two_places},
     {"bytes", query_kind::bytes, query_operand::size},
     {"class", query_kind::class_name, query_operand::pattern},
     {"confidence", query_kind::confidence, query_operand::confidence},
     {"depth", query_kind::depth, query_operand::depth},
     {"fed-by", query_kind::fed_by, query_operand::place},
     {"feeds", query_kind::feeds, query_operand::place},
     {"from", query_kind::source, query_operand::pattern},
     {"has", query_kind::has, query_operand::place},
     {"like", query_kind::like, query_operand::pattern},
     {"line", query_kind::line, query_operand::lines},
     {"name", query_kind::name, query_operand::pattern},
     {"nodes", query_kind::nodes, query_operand::count},
     {"op", query_kind::op_type, query_operand::pattern},
     {"parameters", query_kind::parameters, query_operand::count},
     {"path", query_kind::path, query_operand::pattern},
     {"rank", query_kind::rank, query_operand::count},
     {"reads", query_kind::reads, query_operand::pattern},
     {"shape", query_kind::shape, query_operand::value},
     {"tag", query_kind::tag, query_operand::pattern},
     {"type", query_kind::type, query_operand::pattern},
     {"weight", query_kind::weight, query_operand::pattern},
     {"weights", query_kind::weights, query_operand::weights}}};

inline constexpr std::array<query_key, 3> query_flags{
    {{"conflict", query_kind::conflict, query_operand::pattern},
     {"leaf", query_kind::leaf, query_operand::pattern},
     {"selected", query_kind::selected, query_operand::pattern}}};

/// Tokenizes a query.
class query_lexer {
public:
    explicit query_lexer(std::string_view text) : text_(text), limit_(text.size()) {}

    [[noreturn]] void fail(std::size_t at, const std::string& reason) const {
        STEMMA_THROW(
            error(error_code::refused, "query", "column " + std::to_string(column(at)), reason));
    }

    /// Returns: the column of a position, from 1.
    [[nodiscard]] std::size_t column(std::size_t at) const {
        return 1 + static_cast<std::size_t>(std::count_if(
                       text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
    }

    [[nodiscard]] std::size_t at() const noexcept { return at_; }
    [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }
    [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    [[nodiscard]] std::string_view left() const { return text_.substr(at_); }
    void pass(std::size_t count) { at_ += count; }

    void skip_spaces() {
        while (at_ < text_.size() && is_space(text_[at_])) {
            ++at_;
        }
    }

    /// Returns: the run of characters that need no quotes.
    [[nodiscard]] std::string_view word() const {
        auto end = at_;
        while (end < limit_ && !is_space(text_[end]) && !is_quote(text_[end]) &&
               std::string_view("()[]").find(text_[end]) == std::string_view::npos) {
            ++end;
        }
        return text_.substr(at_, end - at_);
    }

    /// Returns: the position of a node, if one is next: `#7`, `5/body#2`, `0/bodies[1]#2`,
    /// `@domain::function#0`; else "".
    [[nodiscard]] std::string_view position() const {
        constexpr std::string_view digits = "0123456789";
        if (std::string_view("#@0123456789").find(next()) == std::string_view::npos) {
            return {};
        }
        auto ahead = *this;
        for (auto size = ahead.word().size(); size != 0; size = ahead.word().size()) {
            ahead.pass(size);
            const auto close = ahead.left().find_first_not_of(digits, 1);
            if (ahead.next() == '[' && close > 1 && close < ahead.left().size() &&
                ahead.left()[close] == ']') {
                ahead.pass(close + 1); // the number of a body
            }
        }
        const auto taken = text_.substr(at_, ahead.at_ - at_);
        const auto hash = taken.rfind('#');
        return hash != taken.npos && hash + 1 < taken.size() &&
                       taken.find_first_not_of(digits, hash + 1) == taken.npos
                   ? taken
                   : std::string_view();
    }

    /// Consumes the word `wanted`, if it is next.
    bool take_word(std::string_view wanted) {
        if (word() != wanted) {
            return false;
        }
        at_ += wanted.size();
        skip_spaces();
        return true;
    }

    /// Consumes `wanted`, if the rest starts with it.
    bool take(std::string_view wanted) {
        const bool stands = left().starts_with(wanted);
        at_ += stands ? wanted.size() : 0;
        return stands;
    }

    void close(char bracket, std::size_t opened) {
        if (next() != bracket) {
            fail(at_ < text_.size() ? at_ : opened, at_ < text_.size()
                                                        ? "expected 'and' or 'or'"
                                                        : std::string("missing '") + bracket + "'");
        }
        ++at_;
        skip_spaces();
    }

    /// Calls `f()`, during which words end at `..`.
    template <class Function>
    auto up_to_dots(Function f) {
        const auto dots = left().substr(0, left().find_first_of(" \t\n\v\f\r()'\"")).find("..");
        limit_ = dots == std::string_view::npos ? text_.size() : at_ + dots;
        auto result = f();
        limit_ = text_.size();
        return result;
    }

    [[nodiscard]] bool at_relation() const {
        return at_ < text_.size() &&
               std::string_view(":=<>").find(next()) != std::string_view::npos;
    }

    /// Skips some characters and spaces if a comparison follows.
    bool pass_to_relation(std::size_t count) {
        auto behind = *this;
        behind.pass(count);
        behind.skip_spaces();
        const bool compares = behind.at_relation() && behind.next() != ':';
        at_ = compares ? behind.at_ : at_;
        return compares;
    }

    query::relation_kind take_relation() {
        const char sign = text_[at_++];
        const bool or_equal = (sign == '<' || sign == '>') && next() == '=';
        at_ += or_equal ? 1U : 0U;
        return sign == '<' ? (or_equal ? query::relation_kind::at_most : query::relation_kind::less)
               : sign == '>'
                   ? (or_equal ? query::relation_kind::at_least : query::relation_kind::greater)
                   : query::relation_kind::equal;
    }

    std::string take_pattern() {
        const auto start = at_;
        std::string pattern;
        const bool quoted = is_quote(next());
        if (quoted) {
            const auto end = text_.find(next(), at_ + 1);
            if (end == std::string_view::npos) {
                fail(start, "unterminated quote");
            }
            pattern = text_.substr(at_ + 1, end - at_ - 1);
            at_ = end + 1;
        } else {
            pattern = word();
            at_ += pattern.size();
        }
        constexpr std::ptrdiff_t most_braces = 1000; // matching recurses
        if (std::count(pattern.begin(), pattern.end(), '{') > most_braces) {
            fail(start, "has more than 1000 braces");
        }
        if (pattern.empty() && !quoted) {
            fail(start, at_ == text_.size() ? "expected a term at the end" : "expected a term");
        }
        return pattern;
    }

    /// As above, or a list in brackets, without its spaces: `[2, 2]`.
    std::string take_value() {
        if (next() != '[') {
            return take_pattern();
        }
        const auto start = at_;
        const auto end = text_.find(']', at_);
        if (end == std::string_view::npos) {
            fail(start, "missing ']'");
        }
        std::string list;
        for (; at_ <= end; ++at_) {
            list.append(is_space(text_[at_]) ? 0 : 1, text_[at_]);
        }
        return list;
    }

    /// Takes a number that satisfies `fits`; otherwise fails with `wanted`.
    template <class Fits>
    double take_number(Fits fits, const std::string& wanted) {
        const auto text = word();
        const auto end = text.data() + text.size();
        double number = 0;
        const auto parsed = detail::read_real(text.data(), end, number);
        if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end || !fits(number)) {
            fail(at_, wanted);
        }
        at_ += text.size();
        return number;
    }

    /// Takes a number with an optional unit: `10`, `1.5k`, `10MB`, `4GiB`.
    double take_size(const std::string& wanted) {
        const auto text = word();
        const auto end = text.data() + text.size();
        double number = 0;
        const auto parsed = detail::read_real(text.data(), end, number);
        std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
        if (unit.ends_with('B')) {
            unit.remove_suffix(1);
        }
        const bool binary = unit.ends_with('i');
        unit.remove_suffix(binary ? 1 : 0);
        constexpr std::string_view units = "kMGTP";
        const auto power = unit.empty()       ? 0
                           : unit == "K"      ? 1
                           : unit.size() == 1 ? units.find(unit[0]) + 1
                                              : 0;
        if (text.empty() || parsed.ec != std::errc() || !(number >= 0) || unit.size() > 1 ||
            (power == 0 && !unit.empty()) || (binary && unit.empty()) || power > units.size()) {
            fail(at_, wanted);
        }
        for (std::size_t i = 0; i < power; ++i) {
            number *= binary ? 1024 : 1000;
        }
        at_ += text.size();
        return number;
    }

private:
    [[nodiscard]] static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
    [[nodiscard]] static bool is_quote(char c) { return c == '"' || c == '\''; }

    std::string_view text_;
    std::size_t limit_; // of words
    std::size_t at_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_QUERY_DETAIL_QUERY_LEXER_HPP
