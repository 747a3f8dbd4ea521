// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/body_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <string>

namespace test::types_detail_body_rules {

namespace {

/// A body without inputs that gives back these values from around it.
test::message body(const test::names& results) {
    test::message graph;
    for (const auto& result : results) {
        graph.inner(1, test::node("Identity", {result}, {"inner_" + result}));
        graph.inner(12, test::message().text(1, "inner_" + result));
    }
    return graph;
}

test::inference_scene scene() {
    return test::inference_scene()
        .input("x", {2, 3})
        .input("y", {2, 5})
        .input("v", {3})
        .input("go", {}, 9)
        .input("n", {}, 7);
}

std::string type_of(const test::message& node, const char* output) {
    return scene().node(node).type_of(output);
}

} // namespace

TEST_CASE("branch: the common facts of both bodies") {
    const auto branches = [](const char* one, const char* other) {
        return test::owner_node("If", {"go"}, {"r"},
                                {test::graph_attribute("then_branch", body({one})),
                                 test::graph_attribute("else_branch", body({other}))});
    };
    CHECK(type_of(branches("x", "x"), "r") == "float32[2,3]");
    CHECK(type_of(branches("x", "y"), "r") == "float32[2,?]");
    CHECK(type_of(branches("x", "v"), "r").empty());
}

TEST_CASE("loop: states first, then scanned outputs; the condition is not an output") {
    const auto loop = test::owner_node("Loop", {"n", "go", "x"}, {"state", "rows"},
                                       {test::graph_attribute("body", body({"go", "x", "v"}))});
    CHECK(type_of(loop, "state") == "float32[?,?]");
    CHECK(type_of(loop, "rows") == "float32[?,?]");
    const auto longer = test::owner_node("Loop", {"n", "go", "x"}, {"state", "rows", "none"},
                                         {test::graph_attribute("body", body({"go", "v", "x"}))});
    CHECK(type_of(longer, "state") == "float32[?]");
    CHECK(type_of(longer, "rows") == "float32[?,?,?]");
    CHECK(type_of(longer, "none").empty());
}

TEST_CASE("scan: has as many states as unscanned formals") {
    auto inner = body({"x", "v"});
    inner.inner(11, test::typed_value("a", {2})).inner(11, test::typed_value("b", {2}));
    const auto scan = test::owner_node(
        "Scan", {"x", "y"}, {"state", "rows"},
        {test::graph_attribute("body", inner), test::int_attribute("num_scan_inputs", 1)});
    CHECK(type_of(scan, "state") == "float32[?,?]");
    CHECK(type_of(scan, "rows") == "float32[?,?]");
    CHECK(scene().node(scan).type_of("state", 8) == "float32[?,?,?]");
    CHECK(scene().node(scan).type_of("rows", 8) == "float32[?,?,?]");
}

} // namespace test::types_detail_body_rules
