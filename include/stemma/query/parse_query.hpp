// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_PARSE_QUERY_HPP
#define STEMMA_QUERY_PARSE_QUERY_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/query/detail/query_lexer.hpp>
#include <stemma/query/query.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// A recursive-descent parser for queries.
class query_parser {
public:
    explicit query_parser(std::string_view text) : in_(text) {}

    [[nodiscard]] query parse() {
        in_.skip_spaces();
        if (in_.at_end()) {
            return {};
        }
        auto result = parse_any();
        if (!in_.at_end()) {
            in_.fail(in_.at(), in_.next() == ')'   ? "unmatched ')'"
                               : in_.next() == ']' ? "unmatched ']'"
                                                   : "expected 'and' or 'or'");
        }
        return result;
    }

private:
    static constexpr std::size_t max_nesting = 100;

    /// Returns: a part of the query that begins at a position.
    [[nodiscard]] query part_at(std::size_t start, query_kind kind) const {
        query part;
        part.kind = kind;
        part.column = in_.column(start);
        return part;
    }

    /// Reads operands separated by `word`.
    template <class Operand>
    query parse_list(query_kind kind, std::string_view word, Operand operand) {
        const auto start = in_.at();
        auto first = operand();
        if (!in_.take_word(word)) {
            return first;
        }
        auto list = part_at(start, kind);
        list.parts.push_back(std::move(first));
        do {
            list.parts.push_back(operand());
        } while (in_.take_word(word));
        return list;
    }

    query parse_any() {
        return parse_list(query_kind::any_of, "or", [&] {
            return parse_list(query_kind::all_of, "and", [&] { return parse_operand(); });
        });
    }

    query parse_operand() {
        if (++nesting_ > max_nesting) {
            in_.fail(in_.at(), "nested too deeply");
        }
        const auto start = in_.at();
        query result;
        if (in_.take_word("not")) {
            result = part_at(start, query_kind::negation);
            result.parts.push_back(parse_operand());
        } else if (in_.next() == '(') {
            result = parse_group();
        } else {
            result = parse_term();
        }
        --nesting_;
        return result;
    }

    query parse_group() {
        const auto start = in_.at();
        in_.pass(1);
        in_.skip_spaces();
        auto result = parse_any();
        in_.close(')', start);
        return result;
    }

    query parse_term() {
        const auto start = in_.at();
        const auto word = in_.word();
        if (word == "and" || word == "or") {
            in_.fail(start, "expected a term before '" + std::string(word) + "'");
        }
        if (word == "leaf") {
            in_.pass(word.size());
            return finish_term(part_at(start, query_kind::leaf), start);
        }
        if (const auto position = in_.position(); !position.empty()) {
            in_.pass(position.size());
            auto asked = part_at(start, query_kind::position);
            asked.pattern = position;
            return finish_term(std::move(asked), start);
        }
        const auto key_end = std::find_if(word.begin(), word.end(),
                                          [](char c) { return (c < 'a' || c > 'z') && c != '-'; });
        const auto key = word.substr(0, static_cast<std::size_t>(key_end - word.begin()));
        const auto rest = word.substr(key.size());
        // A hyphenated word is a name unless it is a keyword.
        const bool spelled = key.find('-') == key.npos || find_key(key) != nullptr;
        if (!key.empty() && spelled && !rest.empty() && !rest.starts_with("::") &&
            std::string_view(":=<>").find(rest.front()) != std::string_view::npos) {
            in_.pass(key.size());
            return parse_keyed(key, start);
        }
        if (rest.empty() && is_compared(find_key(key)) && in_.pass_to_relation(key.size())) {
            return parse_keyed(key, start);
        }
        auto asked = part_at(start, query_kind::path);
        asked.pattern = in_.take_pattern();
        asked.kind = asked.pattern.starts_with('/') ? query_kind::tag : query_kind::path;
        return finish_term(std::move(asked), start);
    }

    /// Whether a word is followed by a comparison with a number.
    [[nodiscard]] static bool is_compared(const query_key* key) {
        return key != nullptr && key->operand >= query_operand::depth &&
               key->operand <= query_operand::weights;
    }

    [[nodiscard]] static const query_key* find_key(std::string_view word) {
        const auto* key = std::find_if(query_keys.begin(), query_keys.end(),
                                       [&](const query_key& one) { return one.name == word; });
        return key == query_keys.end() ? nullptr : key;
    }

    query parse_keyed(std::string_view key, std::size_t start) {
        auto asked = part_at(start, query_kind::everything);
        if (key == "is") {
            in_.pass(1);
            asked.kind = find_flag(in_.take_pattern(), start);
            return finish_term(std::move(asked), start);
        }
        const auto* named = find_key(key);
        if (named == nullptr) {
            fail_unknown(key, start);
        }
        asked.kind = named->kind;
        read_operand(named->operand, asked);
        return finish_term(std::move(asked), start);
    }

    void read_operand(query_operand operand, query& asked) {
        const auto sign = in_.at();
        const auto relation = in_.take_relation();
        const bool compared = operand >= query_operand::depth && operand <= query_operand::weights;
        if (relation != query::relation_kind::equal && !compared) {
            in_.fail(sign, "only numbers can be compared: attr, bytes, confidence, depth, nodes, "
                           "parameters, rank, weights");
        }
        asked.relation = relation;
        if (compared &&
            (operand != query_operand::weights || relation != query::relation_kind::equal)) {
            in_.skip_spaces();
        }
        switch (operand) {
        case query_operand::pattern:
            asked.pattern = in_.take_pattern();
            break;
        case query_operand::value:
            asked.pattern = in_.take_value();
            break;
        case query_operand::depth:
            asked.number =
                in_.take_number([](double x) { return x >= 0 && x < 1e9 && std::floor(x) == x; },
                                "a depth is an integer, 0 for the root");
            break;
        case query_operand::confidence:
            // Confidences are stored as `float`.
            asked.number = static_cast<float>(in_.take_number(
                [](double x) { return x >= 0 && x <= 1; }, "a confidence is a number from 0 to 1"));
            break;
        case query_operand::count:
            asked.number = in_.take_size("expected a number, such as 10, 1.5k or 2M");
            break;
        case query_operand::weights:
            if (relation == query::relation_kind::equal) {
                asked.kind = query_kind::weight;
                asked.pattern = in_.take_pattern();
                break;
            }
            [[fallthrough]];
        case query_operand::size:
            asked.number = in_.take_size("expected a size, such as 4096, 10MB or 2GiB");
            break;
        case query_operand::attribute:
            read_attribute(asked);
            break;
        case query_operand::lines:
            read_lines(asked);
            break;
        case query_operand::two_places:
            asked.parts.push_back(in_.up_to_dots([&] { return parse_place(); }));
            if (!in_.take("..")) {
                in_.fail(in_.at(), "missing '..': between:FROM..TO");
            }
            asked.parts.push_back(parse_place());
            break;
        case query_operand::place:
            asked.parts.push_back(parse_place());
            break;
        }
    }

    /// `net.py`, `net.py:12`, `net.py:12-20`, with either slash.
    void read_lines(query& asked) {
        const auto start = in_.at();
        asked.pattern = in_.take_pattern();
        std::replace(asked.pattern.begin(), asked.pattern.end(), '\\', '/');
        const auto colon = asked.pattern.rfind(':');
        const auto wanted =
            std::string_view(asked.pattern).substr(std::min(colon, asked.pattern.size() - 1) + 1);
        const bool bare =
            colon == asked.pattern.npos && (asked.pattern.empty() || is_number(asked.pattern));
        if (bare || colon == 0) {
            in_.fail(start, "missing file before the line: line:FILE:LINE");
        }
        if (colon == asked.pattern.npos || (colon == 1 && wanted.starts_with('/'))) {
            return; // all lines of a file; the name may be `C:\net.py`
        }
        const auto number = [&](std::string_view text) {
            std::uint32_t line = 0;
            const auto* end = text.data() + text.size();
            const bool reads = text.size() < 10 && is_number(text) &&
                               std::from_chars(text.data(), end, line).ptr == end && line >= 1;
            if (!reads) {
                in_.fail(start,
                         "'" + std::string(wanted) +
                             "' is not a line: line:FILE:LINE or line:FILE:FIRST-LAST, from 1");
            }
            return line;
        };
        const auto dash = wanted.find('-');
        asked.number = number(wanted.substr(0, dash));
        asked.last = dash == wanted.npos ? asked.number : number(wanted.substr(dash + 1));
        if (asked.last < asked.number) {
            in_.fail(start, "'" + std::string(wanted) + "' ends before it begins");
        }
        asked.pattern.resize(colon);
    }

    /// `strides`, `strides=[2,2]`, `group>1`.
    void read_attribute(query& asked) {
        const auto word = in_.word();
        const auto end = std::min(word.find_first_of("=<>:"), word.size());
        asked.word = word.substr(0, end);
        if (asked.word.empty()) {
            in_.fail(in_.at(), "expected the name of an attribute");
        }
        in_.pass(end);
        asked.relation = query::relation_kind::equal;
        if (!in_.at_relation()) {
            return;
        }
        asked.relation = in_.take_relation();
        if (asked.relation == query::relation_kind::equal) {
            asked.pattern = in_.take_value();
        } else {
            asked.number =
                in_.take_number([](double) { return true; }, "expected a number to compare with");
        }
    }

    /// An operand of `feeds:` and the like: a term, a group, or the name of a module or node.
    query parse_place() {
        if (++nesting_ > max_nesting) {
            in_.fail(in_.at(), "nested too deeply");
        }
        const bool in_brackets = std::exchange(in_brackets_, false);
        const auto start = in_.at();
        query result;
        if (in_.next() == '(') {
            result = parse_group();
        } else {
            result = parse_term();
            const auto* asked = result.kind == query_kind::module ? &result.parts.front() : nullptr;
            if (asked != nullptr &&
                (asked->kind == query_kind::path || asked->kind == query_kind::tag)) {
                result = or_name(std::move(result), start);
            }
        }
        in_brackets_ = in_brackets;
        --nesting_;
        return result;
    }

    [[nodiscard]] query or_name(query module, std::size_t start) const {
        auto named = part_at(start, query_kind::name);
        named.pattern = module.parts.front().pattern;
        auto either = part_at(start, query_kind::any_of);
        either.parts = {std::move(module), std::move(named)};
        return either;
    }

    [[nodiscard]] query_kind find_flag(std::string_view word, std::size_t at) const {
        std::string names;
        for (const auto& flag : query_flags) {
            if (flag.name == word) {
                return flag.kind;
            }
            names.append(names.empty() ? "" : ", ").append(flag.name);
        }
        in_.fail(at, "'" + std::string(word) + "' is unknown; 'is:' takes " + names);
    }

    [[noreturn]] void fail_unknown(std::string_view word, std::size_t at) const {
        nearest_texts nearest(word, 2);
        std::string names = "is";
        for (const auto& key : query_keys) {
            nearest.offer(key.name);
            names.append(", ").append(key.name);
        }
        in_.fail(at, "'" + std::string(word) + ":' is unknown" + nearest.similar(":") +
                         "; known: " + names);
    }

    /// Outside brackets, a module term matches everything inside; a size term only the module
    /// itself.
    query finish_term(query asked, std::size_t start) {
        const bool of_module = asked.kind < query_kind::op_type;
        const auto bracket = in_.at();
        if (in_brackets_ && !of_module) {
            in_.fail(start, "is a node term; brackets take module terms");
        }
        if (in_brackets_ || !of_module) {
            in_.skip_spaces();
            return asked;
        }
        const bool passes_down = asked.kind < query_kind::nodes;
        auto inside = part_at(start, query_kind::module);
        if (in_.next() == '[') {
            in_.pass(1);
            in_.skip_spaces();
            in_brackets_ = true;
            auto both = part_at(start, query_kind::all_of);
            both.parts.push_back(std::move(asked));
            both.parts.push_back(parse_any());
            in_brackets_ = false;
            in_.close(']', bracket);
            if (!passes_down) {
                return both;
            }
            inside.parts.push_back(std::move(both));
            return inside;
        }
        if (asked.kind == query_kind::depth && (asked.relation == query::relation_kind::less ||
                                                asked.relation == query::relation_kind::at_most)) {
            in_.fail(start,
                     "matches everything, as the root is that shallow; write 'not depth>...'");
        }
        in_.skip_spaces();
        if (!passes_down) {
            return asked;
        }
        inside.parts.push_back(std::move(asked));
        return inside;
    }

    query_lexer in_;
    std::size_t nesting_ = 0;
    bool in_brackets_ = false;
};

} // namespace detail

/// Parses a query such as `class:Block and op:MatMul`.
///
/// Throws: `error` of `error_code::refused` that names the column.
/// Complexity: O(length).
[[nodiscard]] inline query parse_query(std::string_view text) {
    return detail::query_parser(text).parse();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_QUERY_PARSE_QUERY_HPP
