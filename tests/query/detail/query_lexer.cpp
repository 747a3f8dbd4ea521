// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/detail/query_lexer.hpp>

#include "../../catch.hpp"

#include <stemma/error.hpp>
#include <stemma/query/parse_query.hpp>

#include <algorithm>
#include <string>

namespace test::query_detail_query_lexer {

namespace {

using stemma::detail::query_lexer;

} // namespace

TEST_CASE("query_lexer: sizes may have units") {
    const auto size = [](const char* text) { return query_lexer(text).take_size("wanted"); };
    CHECK(size("10") == 10);
    CHECK(size("1.5k") == 1500);
    CHECK(size("10MB") == 1e7);
    CHECK(size("2M") == 2e6);
    CHECK(size("4KiB") == 4096);
    CHECK(size("1GiB") == 1024.0 * 1024 * 1024);
    CHECK(size("7B") == 7);
    for (const auto* text : {"", "k", "-1", "1x", "1MM", "1i", "1iB", "nan", "1Bk"}) {
        INFO(text);
        CHECK_THROWS_AS(size(text), stemma::error);
    }
}

TEST_CASE("query_lexer: lists lose their spaces, and words end at dots on request") {
    query_lexer list("[2, 2] and");
    CHECK(list.take_value() == "[2,2]");
    query_lexer both("a.b..c");
    CHECK(both.up_to_dots([&] { return both.take_pattern(); }) == "a.b");
    CHECK(both.take(".."));
    CHECK(both.take_pattern() == "c");
    CHECK(both.at_end());
}

TEST_CASE("query_lexer: patterns with very many braces are refused") {
    const std::string few(1000, '{');
    CHECK(query_lexer(few).take_pattern() == few);
    for (const auto& many : {few + "{", '\'' + few + "{'"}) {
        CHECK_THROWS_AS(query_lexer(many).take_pattern(), stemma::error);
    }
}

TEST_CASE("query_lexer: positions include the numbers of bodies") {
    CHECK(query_lexer("0/bodies[12]#3 and").position() == "0/bodies[12]#3");
    CHECK(query_lexer("#3").position() == "#3");
    for (const auto* text : {"0/bodies[#3", "0/bodies[]#3", "0/bodies[a]#3", "a[1]#3", "#", ""}) {
        INFO(text);
        CHECK(query_lexer(text).position().empty());
    }
}

TEST_CASE("query_lexer: columns count characters") {
    query_lexer text("\xc3\xa4\xc3\xa4 b");
    text.pass(5);
    CHECK(text.column(text.at()) == 4);
}

TEST_CASE("query_keys: are sorted, unique and usable") {
    using stemma::detail::query_keys;
    using stemma::detail::query_operand;
    CHECK(std::is_sorted(query_keys.begin(), query_keys.end(),
                         [](const auto& a, const auto& b) { return a.name < b.name; }));
    for (const auto& key : query_keys) {
        const bool number =
            key.operand >= query_operand::depth && key.operand <= query_operand::weights;
        const auto text =
            std::string(key.name) + (number                                     ? ">=0"
                                     : key.operand == query_operand::two_places ? ":a..b"
                                                                                : ":a");
        INFO(text);
        const auto asked = stemma::parse_query(text);
        const bool of_module = asked.kind == stemma::query_kind::module;
        CHECK((of_module ? asked.parts.front().kind : asked.kind) == key.kind);
    }
}

} // namespace test::query_detail_query_lexer
