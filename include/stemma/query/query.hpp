// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_QUERY_HPP
#define STEMMA_QUERY_QUERY_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// What one part of a query asks.
enum class query_kind : std::uint8_t {
    everything, ///< always holds
    all_of,     ///< all parts hold
    any_of,     ///< some part holds
    negation,   ///< the only part does not hold
    module,     ///< is, or lies in, a module for which the only part holds
    path,       ///< of one module: the path fits the pattern
    tag,        ///< of one module: the tag fits the pattern
    class_name, ///< of one module: class or qualified class fits the pattern
    depth,      ///< of one module: edges from the root
    leaf,       ///< of one module: nothing lies below it
    selected,   ///< of one module: it has a tag of its own
    op_type,    ///< of one operator: its type fits the pattern
    name,       ///< of one operator: its name fits the pattern
    source,     ///< of one operator: the provenance fits the pattern
    confidence, ///< of one operator
    conflict,   ///< of one operator: some claim disagrees
    reads,      ///< of one operator: it reads a parameter whose name fits the pattern
};

/// How a number is compared with the one in a query.
enum class query_relation : std::uint8_t {
    equal,    ///< `:` or `=`
    less,     ///< `<`
    at_most,  ///< `<=`
    greater,  ///< `>`
    at_least, ///< `>=`
};

/// A question about modules and operators, as a tree; see docs/query.md for how it is written.
struct query {
    query_kind kind = query_kind::everything;        ///< what this part asks
    std::string pattern;                             ///< a glob
    query_relation relation = query_relation::equal; ///< of `depth` and `confidence`
    double number = 0;                               ///< of `depth` and `confidence`
    std::size_t column = 1;                          ///< where it is written, from 1
    std::vector<query> parts{}; ///< what it is made of: one of `negation` and `module`, any number
                                ///< of `all_of` and `any_of`

    /// Whether `x` is to `number` as the query says.
    [[nodiscard]] bool compares(double x) const noexcept {
        switch (relation) {
        case query_relation::equal:
            return x == number;
        case query_relation::less:
            return x < number;
        case query_relation::at_most:
            return x <= number;
        case query_relation::greater:
            return x > number;
        case query_relation::at_least:
            return x >= number;
        }
        return false;
    }

    /// Whether some part asks about operators rather than modules.
    [[nodiscard]] bool asks_for_operators() const noexcept {
        return kind >= query_kind::op_type ||
               std::any_of(parts.begin(), parts.end(),
                           [](const query& part) { return part.asks_for_operators(); });
    }
};

namespace detail {

struct query_key {
    std::string_view name;
    query_kind kind;
};

inline constexpr std::array<query_key, 9> query_keys{{{"class", query_kind::class_name},
                                                      {"confidence", query_kind::confidence},
                                                      {"depth", query_kind::depth},
                                                      {"from", query_kind::source},
                                                      {"name", query_kind::name},
                                                      {"op", query_kind::op_type},
                                                      {"path", query_kind::path},
                                                      {"reads", query_kind::reads},
                                                      {"tag", query_kind::tag}}};

inline constexpr std::array<query_key, 3> query_flags{{{"conflict", query_kind::conflict},
                                                       {"leaf", query_kind::leaf},
                                                       {"selected", query_kind::selected}}};

/// Reads a query from left to right.
class query_parser {
public:
    explicit query_parser(std::string_view text) : text_(text) {}

    [[nodiscard]] query parse() {
        skip_spaces();
        if (at_ == text_.size()) {
            return {};
        }
        auto result = parse_any();
        if (at_ < text_.size()) {
            fail(at_, next() == ')'   ? "nothing was opened that ')' closes"
                      : next() == ']' ? "nothing was opened that ']' closes"
                                      : "'and' or 'or' is missing here");
        }
        return result;
    }

private:
    static constexpr std::size_t max_nesting = 100;

    [[noreturn]] void fail(std::size_t at, const std::string& reason) const {
        STEMMA_THROW(
            error(error_code::refused, "query", "column " + std::to_string(column(at)), reason));
    }

    /// Returns: the characters before a place, and one.
    [[nodiscard]] std::size_t column(std::size_t at) const {
        return 1 + static_cast<std::size_t>(std::count_if(
                       text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
    }

    [[nodiscard]] static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
    [[nodiscard]] static bool is_quote(char c) { return c == '"' || c == '\''; }
    [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void skip_spaces() {
        while (at_ < text_.size() && is_space(text_[at_])) {
            ++at_;
        }
    }

    /// Returns: the end of a run of characters that need no quotes.
    [[nodiscard]] std::size_t end_of_word(std::size_t from) const {
        while (from < text_.size() && !is_space(text_[from]) && !is_quote(text_[from]) &&
               std::string_view("()[]").find(text_[from]) == std::string_view::npos) {
            ++from;
        }
        return from;
    }

    /// Passes over `word` when it stands here as a whole.
    bool take_word(std::string_view word) {
        if (text_.substr(at_, end_of_word(at_) - at_) != word) {
            return false;
        }
        at_ += word.size();
        skip_spaces();
        return true;
    }

    /// Reads operands with `word` between them.
    template <class Operand>
    query parse_list(query_kind kind, std::string_view word, Operand operand) {
        const auto start = at_;
        auto first = operand();
        if (!take_word(word)) {
            return first;
        }
        query list;
        list.kind = kind;
        list.column = column(start);
        list.parts.push_back(std::move(first));
        do {
            list.parts.push_back(operand());
        } while (take_word(word));
        return list;
    }

    query parse_any() {
        return parse_list(query_kind::any_of, "or", [&] {
            return parse_list(query_kind::all_of, "and", [&] { return parse_operand(); });
        });
    }

    query parse_operand() {
        if (++nesting_ > max_nesting) {
            fail(at_, "nested too deeply");
        }
        const auto start = at_;
        query result;
        if (take_word("not")) {
            result.kind = query_kind::negation;
            result.column = column(start);
            result.parts.push_back(parse_operand());
        } else if (next() == '(') {
            ++at_;
            skip_spaces();
            result = parse_any();
            close(')', start);
        } else {
            result = parse_term();
        }
        --nesting_;
        return result;
    }

    void close(char bracket, std::size_t opened) {
        if (next() != bracket) {
            fail(at_ < text_.size() ? at_ : opened,
                 at_ < text_.size() ? "'and' or 'or' is missing here"
                                    : std::string("'") + bracket + "' is missing");
        }
        ++at_;
        skip_spaces();
    }

    query parse_term() {
        const auto start = at_;
        const auto word = text_.substr(at_, end_of_word(at_) - at_);
        if (word == "and" || word == "or") {
            fail(at_, "something to ask for is missing before '" + std::string(word) + "'");
        }
        const auto key_end =
            std::find_if(word.begin(), word.end(), [](char c) { return c < 'a' || c > 'z'; });
        const auto key = word.substr(0, static_cast<std::size_t>(key_end - word.begin()));
        const auto rest = word.substr(key.size());
        if (!key.empty() && !rest.empty() && !rest.starts_with("::") &&
            std::string_view(":=<>").find(rest.front()) != std::string_view::npos) {
            at_ += key.size();
            return parse_keyed(key, start);
        }
        query asked;
        asked.pattern = take_pattern();
        asked.kind = asked.pattern.starts_with('/') ? query_kind::tag : query_kind::path;
        asked.column = column(start);
        return finish_term(std::move(asked), start);
    }

    query parse_keyed(std::string_view key, std::size_t start) {
        query asked;
        asked.column = column(start);
        if (key == "is") {
            ++at_;
            const auto word = take_pattern();
            asked.kind = look_up(query_flags, word, start, "'is:' takes ");
            return finish_term(std::move(asked), start);
        }
        asked.kind = look_up(query_keys, key, start, "known are is:, ");
        if (asked.kind == query_kind::depth || asked.kind == query_kind::confidence) {
            asked.relation = take_relation();
            asked.number = take_number(asked.kind == query_kind::depth);
        } else {
            if (next() != ':' && next() != '=') {
                fail(at_, "only depth and confidence can be compared");
            }
            ++at_;
            asked.pattern = take_pattern();
        }
        return finish_term(std::move(asked), start);
    }

    template <std::size_t Count>
    [[nodiscard]] query_kind look_up(const std::array<query_key, Count>& known,
                                     std::string_view word, std::size_t at,
                                     std::string names) const {
        for (const auto& [name, kind] : known) {
            if (name == word) {
                return kind;
            }
        }
        const bool keys = Count == query_keys.size();
        for (const auto& [name, kind] : known) {
            names.append(name)
                .append(keys ? ":" : "")
                .append(name == known.back().name ? "" : ", ");
        }
        fail(at, "'" + std::string(word) + (keys ? ":" : "") + "' is not known; " + names);
    }

    query_relation take_relation() {
        const char sign = text_[at_++];
        const bool or_equal = (sign == '<' || sign == '>') && next() == '=';
        at_ += or_equal ? 1U : 0U;
        return sign == '<'   ? (or_equal ? query_relation::at_most : query_relation::less)
               : sign == '>' ? (or_equal ? query_relation::at_least : query_relation::greater)
                             : query_relation::equal;
    }

    double take_number(bool whole) {
        const auto word = text_.substr(at_, end_of_word(at_) - at_);
        const auto end = word.data() + word.size();
        double number = 0;
        unsigned depth = 0;
        const auto parsed = whole ? std::from_chars(word.data(), end, depth)
                                  : std::from_chars(word.data(), end, number);
        if (word.empty() || parsed.ec != std::errc() || parsed.ptr != end ||
            !(number >= 0 && number <= 1)) {
            fail(at_, whole ? "a depth is a whole number, 0 for the root"
                            : "a confidence is a number from 0 to 1");
        }
        at_ += word.size();
        // Confidences are kept as `float`.
        return whole ? depth : static_cast<double>(static_cast<float>(number));
    }

    std::string take_pattern() {
        const auto start = at_;
        std::string pattern;
        if (is_quote(next())) {
            const auto end = text_.find(next(), at_ + 1);
            if (end == std::string_view::npos) {
                fail(start, "the quote is not closed");
            }
            pattern = text_.substr(at_ + 1, end - at_ - 1);
            at_ = end + 1;
        } else {
            const auto end = end_of_word(at_);
            pattern = text_.substr(at_, end - at_);
            at_ = end;
            if (pattern.empty()) {
                fail(start, at_ == text_.size() ? "something to ask for is missing at the end"
                                                : "something to ask for is missing here");
            }
        }
        return pattern;
    }

    /// What is asked of one module holds, outside of brackets, for all that lies in it.
    query finish_term(query asked, std::size_t start) {
        const bool of_module = asked.kind < query_kind::op_type;
        const auto bracket = at_;
        if (in_brackets_) {
            if (!of_module) {
                fail(start, "asks about a node; in brackets stands what is asked about a module");
            }
            skip_spaces();
            return asked;
        }
        if (!of_module) {
            skip_spaces();
            return asked;
        }
        query inside;
        inside.kind = query_kind::module;
        inside.column = asked.column;
        if (next() == '[') {
            ++at_;
            skip_spaces();
            in_brackets_ = true;
            query both;
            both.kind = query_kind::all_of;
            both.column = asked.column;
            both.parts.push_back(std::move(asked));
            both.parts.push_back(parse_any());
            in_brackets_ = false;
            close(']', bracket);
            inside.parts.push_back(std::move(both));
            return inside;
        }
        if (asked.kind == query_kind::depth &&
            (asked.relation == query_relation::less || asked.relation == query_relation::at_most)) {
            fail(start, "everything lies in a module of so small a depth; write 'not depth>...'");
        }
        skip_spaces();
        inside.parts.push_back(std::move(asked));
        return inside;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t nesting_ = 0;
    bool in_brackets_ = false;
};

} // namespace detail

/// Reads a query as it is written, such as `class:Block and op:MatMul`.
///
/// Throws: `error` of `error_code::refused` that names the column.
/// Complexity: O(length).
[[nodiscard]] inline query parse_query(std::string_view text) {
    return detail::query_parser(text).parse();
}

} // namespace stemma

#endif // STEMMA_QUERY_QUERY_HPP
