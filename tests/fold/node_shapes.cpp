// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/node_shapes.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../wire_builder.hpp"

#include <string>
#include <vector>

namespace test::fold_node_shapes {

namespace {

using test::message;

/// Whether the first two nodes of a graph have one shape; then their hashes are equal, too.
bool alike(const message& a, const message& b) {
    const test::built_model model(test::model(test::graph({a, b}, {"x", "z"})));
    const stemma::graph_contents contents(model);
    const stemma::node_shapes shapes(model, contents);
    std::vector<stemma::id> nodes;
    for (auto node : contents.nodes(0)) {
        if (model.graph_of(node) == 0) {
            nodes.push_back(node);
        }
    }
    const bool same = shapes.equal(nodes.at(0), nodes.at(1));
    CHECK(same == shapes.equal(nodes[1], nodes[0]));
    CHECK(shapes.equal(nodes[0], nodes[0]));
    if (same) {
        CHECK(shapes.hash(nodes[0]) == shapes.hash(nodes[1]));
    }
    return same;
}

message owner(const char* captured, const char* inner, const char* output) {
    return test::owner_node(
        "If", {"x"}, {output},
        {test::graph_attribute(
            "then_branch",
            test::graph({test::node("Add", {captured, captured}, {inner})}, {}, {inner}))});
}

} // namespace

TEST_CASE("node_shapes: constants may differ on request, but not in name and type of the value") {
    const auto constant = [](const message& attribute) {
        return test::node("Constant", {}, {"c"}).inner(5, attribute);
    };
    const auto number = [](const char* name, std::uint64_t value) {
        return message().text(1, name).number(3, value).number(20, 2);
    };
    const auto alike_but_for_values = [](const message& a, const message& b) {
        const test::built_model model(test::model(test::graph({a, b}, {"x", "z"})));
        const stemma::graph_contents contents(model);
        const stemma::node_shapes shapes(model, contents);
        CHECK(!shapes.equal(0, 1));
        const bool same = shapes.equal(0, 1, true);
        CHECK((!same || shapes.hash(0, true) == shapes.hash(1, true)));
        return same;
    };
    const auto one = constant(number("value_int", 1));
    CHECK(alike_but_for_values(one, constant(number("value_int", 2))));
    CHECK(!alike_but_for_values(one, constant(number("value_ints", 1))));
    CHECK(!alike_but_for_values(one, constant(number("value_int", 1).text(21, "reference"))));
    CHECK(!alike_but_for_values(one, constant(number("value_int", 2)).inner(5, number("more", 1))));
    CHECK(!alike_but_for_values(test::node("Other", {}, {"c"}).inner(5, number("to", 1)),
                                test::node("Other", {}, {"c"}).inner(5, number("to", 2))));
}

TEST_CASE("node_shapes: only names, doc strings and metadata values do not count") {
    const auto add = [] { return test::node("Add", {"x", "z"}, {"a"}, "first"); };
    CHECK(alike(add(), test::node("Add", {"z", "x"}, {"b"}, "second")));
    CHECK(alike(add().text(6, "one"), test::node("Add", {"z", "x"}, {"b"}, "s").text(6, "two")));
    CHECK(alike(add().inner(9, test::entry("k", "1")),
                test::node("Add", {"x", "z"}, {"b"}, "s").inner(9, test::entry("k", "2"))));
    CHECK_FALSE(alike(add(), test::node("Add", {"x", "z"}, {"b"})));
    CHECK_FALSE(alike(add(), test::node("Sub", {"x", "z"}, {"b"}, "second")));
    CHECK_FALSE(alike(add(), test::node("Add", {"x"}, {"b"}, "second")));
    CHECK_FALSE(alike(add(), test::node("Add", {"x", "z"}, {"b"}, "second").text(6, "doc")));
    CHECK_FALSE(alike(add().inner(9, test::entry("k", "1")),
                      test::node("Add", {"x", "z"}, {"b"}, "s").inner(9, test::entry("l", "1"))));
    CHECK_FALSE(alike(
        add().inner(5, test::text_attribute("mode", "1")),
        test::node("Add", {"x", "z"}, {"b"}, "s").inner(5, test::text_attribute("mode", "2"))));
    CHECK_FALSE(alike(add().number(777, 1), test::node("Add", {"x", "z"}, {"b"}, "s")));
}

TEST_CASE("node_shapes: bodies may differ in what they capture only") {
    CHECK(alike(owner("x", "i", "a"), owner("z", "i", "b")));
    CHECK_FALSE(alike(owner("x", "i", "a"), owner("x", "j", "b")));
}

TEST_CASE("text_of: the value of a metadata entry") {
    const auto bytes = message().inner(9, test::entry("key", "value")).text(3, "name").bytes();
    stemma::detail::wire_reader fields(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()),
                                       "");
    stemma::detail::wire_field field;
    REQUIRE(fields.next(field));
    CHECK(stemma::detail::text_kind(field) == stemma::node_text::note);
    CHECK(stemma::detail::text_of(fields, field) == "value");
    REQUIRE(fields.next(field));
    CHECK(stemma::detail::text_kind(field) == stemma::node_text::name);
    CHECK(stemma::detail::text_of(fields, field) == "name");
}

} // namespace test::fold_node_shapes
