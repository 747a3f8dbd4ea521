// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/parse_query.hpp>

#include "../catch.hpp"
#include "../refusal.hpp"

#include <stemma/error.hpp>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace test::query_parse_query {

namespace {

using stemma::parse_query;
using stemma::query;
using stemma::query_kind;

/// A query as one text with all brackets, to compare how it was understood.
std::string shape_of(const query& asked) {
    const auto list = [&](const std::string& word) {
        std::string text;
        for (const auto& part : asked.parts) {
            text += (text.empty() ? "(" : " " + word + " ") + shape_of(part);
        }
        return text + ")";
    };
    switch (asked.kind) {
    case query_kind::everything:
        return "all";
    case query_kind::all_of:
        return list("and");
    case query_kind::any_of:
        return list("or");
    case query_kind::negation:
        return "not " + shape_of(asked.parts.front());
    case query_kind::module:
        return "in " + shape_of(asked.parts.front());
    case query_kind::path:
        return "path'" + asked.pattern + "'";
    case query_kind::tag:
        return "tag'" + asked.pattern + "'";
    case query_kind::class_name:
        return "class'" + asked.pattern + "'";
    case query_kind::op_type:
        return "op'" + asked.pattern + "'";
    case query_kind::name:
        return "name'" + asked.pattern + "'";
    case query_kind::source:
        return "from'" + asked.pattern + "'";
    case query_kind::like:
        return "like'" + asked.pattern + "'";
    case query_kind::position:
        return "position'" + asked.pattern + "'";
    case query_kind::line:
        return "line'" + asked.pattern + "'";
    case query_kind::reads:
        return "reads'" + asked.pattern + "'";
    case query_kind::depth:
    case query_kind::confidence:
        return "number";
    case query_kind::leaf:
        return "leaf";
    case query_kind::selected:
        return "selected";
    case query_kind::conflict:
        return "conflict";
    case query_kind::nodes:
    case query_kind::parameters:
    case query_kind::weights:
    case query_kind::rank:
    case query_kind::bytes:
        return "number";
    case query_kind::attribute:
        return "attr'" + asked.word + "'" + asked.pattern;
    case query_kind::weight:
        return "weight'" + asked.pattern + "'";
    case query_kind::type:
        return "type'" + asked.pattern + "'";
    case query_kind::shape:
        return "shape'" + asked.pattern + "'";
    case query_kind::has:
        return "has " + list("");
    case query_kind::feeds:
    case query_kind::before:
        return "to " + list("");
    case query_kind::fed_by:
    case query_kind::after:
        return "from " + list("");
    case query_kind::between:
        return "between " + list("and");
    }
    return "";
}

std::string shape_of(const std::string& text) {
    return shape_of(parse_query(text));
}

/// What is said about a query that cannot be read.
std::string refusal_of(const std::string& text) {
    const auto refused = test::find_refusal([&] { return parse_query(text); });
    CHECK((!refused || refused->code() == stemma::error_code::refused));
    return refused ? refused->what() : "accepted";
}

} // namespace

TEST_CASE("parse_query: lines of a file") {
    const auto lines = [](const char* text) {
        const auto asked = stemma::parse_query(text);
        CHECK(asked.kind == query_kind::line);
        CHECK(asked.asks_for_operators());
        return std::tuple(asked.pattern, asked.number, asked.last);
    };
    CHECK(lines("line:net.py") == std::tuple("net.py", 0.0, 0.0));
    CHECK(lines("line:net.py:12") == std::tuple("net.py", 12.0, 12.0));
    CHECK(lines("line:'my net.py:12-20'") == std::tuple("my net.py", 12.0, 20.0));
    CHECK(lines("line:'C:\\net.py'") == std::tuple("C:/net.py", 0.0, 0.0));
    CHECK(lines("line:C:/net.py:7") == std::tuple("C:/net.py", 7.0, 7.0));
    CHECK(lines("line:C:/net.py") == std::tuple("C:/net.py", 0.0, 0.0));
    for (const auto* text :
         {"line:", "line:12", "line:a.py:", "line:a.py:0", "line:a.py:b", "line:a.py:2-1",
          "line:a.py:1-", "line:a.py:1-2-3", "line:''", "line:a.py:99999999999", "line>a.py"}) {
        INFO(text);
        CHECK_THROWS_AS(stemma::parse_query(text), stemma::error);
    }
}

TEST_CASE("query: keywords and patterns are distinguished") {
    CHECK(shape_of("") == "all");
    CHECK(shape_of("  ") == "all");
    CHECK(shape_of("encoder.layer.{0,1}") == "in path'encoder.layer.{0,1}'");
    CHECK(shape_of("/Net/Block.*") == "in tag'/Net/Block.*'");
    CHECK(shape_of("class:Linear") == "in class'Linear'");
    CHECK(shape_of("class=Linear") == "in class'Linear'");
    CHECK(shape_of("path:x") == "in path'x'");
    CHECK(shape_of("tag:x") == "in tag'x'");
    CHECK(shape_of("op:MatMul") == "op'MatMul'");
    CHECK(shape_of("op:com.microsoft::Gelu") == "op'com.microsoft::Gelu'");
    CHECK(shape_of("name:/a/b:0") == "name'/a/b:0'");
    CHECK(shape_of("from:scope") == "from'scope'");
    CHECK(shape_of("reads:**.weight") == "reads'**.weight'");
    CHECK(shape_of("is:leaf") == "in leaf");
    CHECK(shape_of("is:selected") == "in selected");
    CHECK(shape_of("is:conflict") == "conflict");
    // Words only count whole, and not in quotes.
    CHECK(shape_of("order and nothing") == "(in path'order' and in path'nothing')");
    CHECK(shape_of("'not' and \"a b(\"") == "(in path'not' and in path'a b(')");
    CHECK(shape_of("name:'it is'") == "name'it is'");
    CHECK(shape_of("'op:x'") == "in path'op:x'");
    CHECK(shape_of("onnx::MatMul_3") == "in path'onnx::MatMul_3'");
}

TEST_CASE("query: not binds closer than and, and closer than or") {
    CHECK(shape_of("a and b or c and d") ==
          "((in path'a' and in path'b') or (in path'c' and in path'd'))");
    CHECK(shape_of("not a and b") == "(not in path'a' and in path'b')");
    CHECK(shape_of("not (a or b)") == "not (in path'a' or in path'b')");
    CHECK(shape_of("not not a") == "not not in path'a'");
    CHECK(shape_of("a or b or c") == "(in path'a' or in path'b' or in path'c')");
    CHECK(shape_of("((a))and(b)") == "(in path'a' and in path'b')");
}

TEST_CASE("query: brackets contain conditions on the same module") {
    CHECK(shape_of("a[class:B]") == "in (path'a' and class'B')");
    CHECK(shape_of("a[ class:B and not is:leaf ] or c") ==
          "(in (path'a' and (class'B' and not leaf)) or in path'c')");
    CHECK(shape_of("class:B[a or (b)]") == "in (class'B' and (path'a' or path'b'))");
}

TEST_CASE("query: numbers compare as they are written") {
    const std::vector<std::pair<std::string, query::relation_kind>> signs{
        {":", query::relation_kind::equal},   {"=", query::relation_kind::equal},
        {"<", query::relation_kind::less},    {"<=", query::relation_kind::at_most},
        {">", query::relation_kind::greater}, {">=", query::relation_kind::at_least}};
    for (const auto& [sign, relation] : signs) {
        const auto asked = parse_query("confidence" + sign + "0.5");
        CHECK(asked.relation == relation);
        CHECK(asked.number == 0.5);
        const auto below =
            relation == query::relation_kind::less || relation == query::relation_kind::at_most;
        const auto above =
            relation == query::relation_kind::greater || relation == query::relation_kind::at_least;
        const auto equal =
            relation != query::relation_kind::less && relation != query::relation_kind::greater;
        CHECK(asked.compares(0.25) == below);
        CHECK(asked.compares(0.5) == equal);
        CHECK(asked.compares(0.75) == above);
    }
    CHECK(parse_query("depth>=12").parts.front().number == 12);
    CHECK(parse_query("confidence:0.7").compares(static_cast<double>(0.7F)));
}

TEST_CASE("query: comparisons may be surrounded by spaces") {
    for (const auto* text : {"nodes>10", "nodes > 10", "nodes >10", "nodes> 10"}) {
        INFO(text);
        const auto asked = stemma::parse_query(text);
        CHECK(asked.kind == stemma::query_kind::nodes);
        CHECK(asked.relation == stemma::query::relation_kind::greater);
        CHECK(asked.number == 10);
    }
    CHECK(stemma::parse_query("weights >= 10MB").kind == stemma::query_kind::weights);
    // Words of the language that nothing is compared with are paths.
    CHECK(stemma::parse_query("nodes and x").parts.front().kind == stemma::query_kind::module);
    CHECK_THROWS(stemma::parse_query("op > 1"));
}

TEST_CASE("query: a position is neither a path nor a tag") {
    for (const auto* text : {"#7", "5/body#2", "0/bodies[1]/2/b[0]#3", "@domain::f#0"}) {
        INFO(text);
        CHECK(stemma::parse_query(text).kind == stemma::query_kind::position);
        CHECK(stemma::parse_query(text).pattern == text);
    }
    for (const auto* text : {"/Net/Block#3", "a#b", "#", "'#7'"}) {
        INFO(text);
        CHECK(stemma::parse_query(text).kind == stemma::query_kind::module);
    }
    CHECK(stemma::parse_query("between:#7..#9").parts.back().pattern == "#9");
    CHECK(stemma::parse_query("between:0/b[1]#7..0/b[1]#9").parts.front().pattern == "0/b[1]#7");
    CHECK(stemma::parse_query("feeds:#20").kind == stemma::query_kind::feeds);
    CHECK(stemma::parse_query("feeds:#20").parts.front().kind == stemma::query_kind::position);
}

TEST_CASE("query: knows whether it is about operators") {
    for (const auto* text : {"", "a", "not class:B", "a[is:leaf] or /T", "depth>2"}) {
        CHECK_FALSE(parse_query(text).asks_for_operators());
    }
    for (const auto* text : {"op:A", "a and not op:A", "(a or (b and is:conflict))", "reads:x"}) {
        CHECK(parse_query(text).asks_for_operators());
    }
}

TEST_CASE("query: errors name the column, counted in characters") {
    const auto refuses = [](const std::string& text, std::size_t column, const std::string& why) {
        const auto said = refusal_of(text);
        INFO(text << " -> " << said);
        CHECK(said.starts_with("query: column " + std::to_string(column) + ": "));
        CHECK(said.find(why) != std::string::npos);
    };
    refuses("a b", 3, "expected 'and' or 'or'");
    refuses("(a b)", 4, "expected 'and' or 'or'");
    refuses("(a", 1, "missing ')'");
    refuses("a[class:B", 2, "missing ']'");
    refuses("a)", 2, "unmatched ')'");
    refuses("a]", 2, "unmatched ']'");
    refuses("a and", 6, "expected a term at the end");
    refuses("not", 4, "expected a term at the end");
    refuses("and a", 1, "expected a term before 'and'");
    refuses("()", 2, "expected a term");
    refuses("op:", 4, "expected a term at the end");
    refuses("'a", 1, "unterminated quote");
    refuses("a and klass:B", 7, "'klass:' is unknown");
    refuses("op<B", 3, "can be compared");
    refuses("is:red", 1, "'red' is unknown");
    refuses("clas:B", 1, "similar: 'class:'");
    refuses("attr:", 6, "name of an attribute");
    refuses("attr:axis>x", 11, "expected a number");
    refuses("bytes>10QB", 7, "expected a size");
    refuses("between:a", 10, "missing '..'");
    refuses("feeds:", 7, "expected a term at the end");
    refuses("a[op:B]", 3, "is a node term");
    refuses("depth:x", 7, "is an integer");
    refuses("depth>-1", 7, "is an integer");
    refuses("confidence>2", 12, "0 to 1");
    refuses("confidence>nan", 12, "0 to 1");
    refuses("depth<3", 1, "not depth>");
    refuses("'\xc3\xa4\xc3\xb6' x", 6, "expected 'and' or 'or'");
    refuses(std::string(200, '('), 101, "nested too deeply");
    CHECK(refusal_of("a[depth<3]") == "accepted");
}

TEST_CASE("query: any text is parsed or rejected") {
    const std::vector<std::string> pieces{"a",  "and", "or",  "not", "(",      ")",    "[",
                                          "]",  "'",   "op:", "is:", "depth>", "3",    " ",
                                          "/T", "\"",  "<",   "=",   "leaf",   "\xff", "{a,"};
    std::uint32_t state = 1;
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (std::uint32_t i = 0; i < 1 + state % 9; ++i) {
            state = state * 1664525U + 1013904223U;
            text += pieces[(state >> 16U) % pieces.size()];
        }
        const auto said = refusal_of(text);
        INFO(text);
        CHECK((said == "accepted" || said.starts_with("query: column ")));
    }
}

TEST_CASE("query: places take a term, a group, or the name of a module or node") {
    CHECK(shape_of("feeds:a.b") == "to ((in path'a.b' or name'a.b'))");
    CHECK(shape_of("after:/a/B") == "from ((in tag'/a/B' or name'/a/B'))");
    CHECK(shape_of("fed-by:op:Add and b") == "(from (op'Add') and in path'b')");
    CHECK(shape_of("has:(op:A and not name:b)") == "has ((op'A' and not name'b'))");
    CHECK(shape_of("between:op:A..op:B") == "between (op'A' and op'B')");
    CHECK(shape_of("between:(a or b)..class:C[depth:1] or c") ==
          "(between ((in path'a' or in path'b') and in (class'C' and number)) or in path'c')");
    CHECK(shape_of("class:A[has:op:B and leaf]") == "in (class'A' and (has (op'B') and leaf))");
    CHECK(shape_of("fed-up:x") == "in path'fed-up:x'"); // no word of the language
    CHECK(shape_of("'leaf'") == "in path'leaf'");
}

TEST_CASE("query: attributes and shapes have lists in brackets") {
    CHECK(shape_of("attr:pads=[1, 1] and a") == "(attr'pads'[1,1] and in path'a')");
    CHECK(shape_of("attr:axis") == "attr'axis'");
    CHECK(shape_of("shape:[1,*,768]") == "shape'[1,*,768]'");
    CHECK(shape_of("weights:int8 or weights>1MB") == "(weight'int8' or number)");
}

} // namespace test::query_parse_query
