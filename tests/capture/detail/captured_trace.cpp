// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/detail/captured_trace.hpp>

#include "../../catch.hpp"
#include "../../parsed_json.hpp"
#include "../../refusal.hpp"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <nlohmann/json.hpp>
#include <range/v3/algorithm/count.hpp>
#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace test::capture_detail_captured_trace {

using nlohmann::json;
using stemma::id;
using stemma::module_tree;
using stemma::detail::captured_trace;

namespace {

/// The root, `a` with `a.x` and `a.y`, and `b`, which is also reachable as `c`.
module_tree some_modules() {
    stemma::module_tree_builder builder;
    const auto a = builder.child(0, "a");
    builder.child(a, "x");
    builder.child(a, "y");
    builder.add_alias("c", builder.child(0, "b"));
    return builder.build();
}

std::string enter(const std::string& module, std::initializer_list<std::string> stack) {
    return json{{"kind", "enter"}, {"module", module}, {"call", 0}, {"stack", stack}}.dump();
}

std::string leave(const std::string& module) {
    return json{{"kind", "exit"}, {"module", module}}.dump();
}

void add(captured_trace& trace, std::string_view event) {
    trace.read_event(test::parsed_json(event).part(), "file");
}

stemma::captured_operations read(std::initializer_list<std::string> events) {
    captured_trace trace;
    for (const auto& one : events) {
        add(trace, one);
    }
    const auto modules = some_modules();
    return trace.finish(modules);
}

} // namespace

TEST_CASE("captured_trace: a call and what ran below it are one operation") {
    const auto modules = some_modules();
    const auto operations =
        read({enter("", {}), enter("a", {""}),
              R"({"seq":2,"kind":"func","op":"linear","stack":["","a"],
                   "in_ids":["i0","p:a.weight"],"input_shapes":[[2,8],[4,8]],"out_ids":["t1"]})",
              R"({"seq":3,"kind":"op","op":"aten.t","stack":["","a"],"func":2,
                   "in_ids":["p:a.weight"],"out_ids":["t0"]})",
              R"({"seq":4,"kind":"op","op":"aten.mm","stack":["","a"],"func":2,
                   "in_ids":["i0","t0"],"out_ids":["t1"]})",
              leave("a"), R"({"seq":6,"kind":"func","op":"relu","stack":[""],"in_ids":["t1"]})",
              leave("")});
    REQUIRE(operations.size() == 2);
    CHECK(operations.names_of(0).size() == 3);
    CHECK(modules.path(operations[0].module) == "a");
    CHECK(operations[0].call == 0);
    CHECK(operations[0].varies);
    REQUIRE(operations.parameters_of(0).size() == 1);
    CHECK(operations.parameter_names()[operations.parameters_of(0)[0].name] == "a.weight");
    CHECK(operations.parameters_of(0)[0].shape == std::vector<std::int64_t>{4, 8});
    CHECK(ranges::equal(operations.sources_of(1), std::vector<id>{0}));
    CHECK(operations[1].module == 0);
    CHECK(operations.faults().empty());
}

TEST_CASE("captured_trace: an operator seen as a call and below is one") {
    const auto operations = read(
        {enter("", {}), R"({"seq":1,"kind":"func","op":"aten.sum","stack":[""],"in_ids":["i0"]})",
         R"({"seq":2,"kind":"func","op":"shape","stack":[""],"in_ids":["t1"]})",
         R"({"seq":3,"kind":"op","op":"aten.sum","stack":[""],"func":null,
                        "in_ids":["i0"],"out_ids":["t1"]})",
         R"({"seq":4,"kind":"op","op":"aten.sum","stack":[""],"func":null,
                        "in_ids":["t1"],"out_ids":["t2"]})",
         leave("")});
    REQUIRE(operations.size() == 3);
    CHECK(ranges::equal(operations.sources_of(2), std::vector<id>{0}));
}

TEST_CASE("captured_trace: a tensor changed in place comes from the last change") {
    const auto operations = read(
        {enter("", {}),
         R"({"seq":1,"kind":"func","op":"add","stack":[""],"in_ids":["i0"],"out_ids":["t1"]})",
         R"({"seq":2,"kind":"func","op":"mul_","stack":[""],"in_ids":["t1"],"out_ids":["t1"]})",
         R"({"seq":3,"kind":"func","op":"exp","stack":[""],"in_ids":["t1"],"out_ids":["t2"]})",
         leave("")});
    CHECK(ranges::equal(operations.sources_of(2), std::vector<id>{1}));
}

TEST_CASE("captured_trace: repeated and unused operations may leave nothing") {
    const auto operations = read(
        {enter("", {}),
         R"({"seq":1,"kind":"func","op":"exp","stack":[""],"in_ids":["i0"],"out_ids":["t1"]})",
         R"({"seq":2,"kind":"func","op":"exp","stack":[""],"in_ids":["i0"],"out_ids":["t2"]})",
         R"({"seq":3,"kind":"func","op":"abs","stack":[""],"in_ids":["i0"],"out_ids":["t3"]})",
         R"({"seq":4,"kind":"func","op":"add","stack":[""],"in_ids":["t1","t2"],"out_ids":["t4"]})",
         R"({"kind":"exit","module":"","out_ids":["t4"]})"});
    REQUIRE(operations.size() == 4);
    CHECK_FALSE(operations[0].optional);
    CHECK(operations[1].optional);
    CHECK(operations[2].optional);
    CHECK_FALSE(operations[3].optional);
    CHECK(ranges::equal(operations.results(), std::vector<id>{3}));
    // Its results may be those of the earlier one.
    CHECK(ranges::count(operations.sources_of(3), id(0)) == 2);
}

TEST_CASE("captured_trace: a parameter of another shape than in the tree is a fault") {
    stemma::module_tree_builder builder;
    const std::vector<std::int64_t> shape = {4, 8};
    const auto a = builder.child(0, "a");
    builder.add_parameter(a, {"weight", "float32", shape, true});
    builder.add_parameter(a, {"unknown", "float32", {}, true});
    builder.add_alias("b", a);
    const auto modules = builder.build();
    const auto faults_of = [&](const std::string& name, const std::string& extents) {
        captured_trace trace;
        add(trace, enter("", {}));
        add(trace, R"({"seq":1,"kind":"func","op":"linear","stack":[""],"in_ids":["p:)" + name +
                       R"("],"input_shapes":[)" + extents + "]}");
        add(trace, leave(""));
        const auto operations = trace.finish(modules);
        return std::vector<std::string>(operations.faults().begin(), operations.faults().end());
    };
    CHECK(faults_of("a.weight", "[4,8]").empty());
    CHECK(faults_of("a.weight", "null").empty());
    CHECK(faults_of("a.unknown", "[3]").empty());
    CHECK(faults_of("a.buffer", "[3]").empty());
    CHECK(faults_of("b.weight", "[4,8]").empty());
    for (const char* extents : {"[8,4]", "[4]", "[4,8,1]"}) {
        for (const char* name : {"a.weight", "b.weight"}) {
            REQUIRE(faults_of(name, extents).size() == 1);
            CHECK(faults_of(name, extents)[0].find(name) != std::string::npos);
        }
    }
}

TEST_CASE("captured_trace: events out of balance are faults") {
    const auto cut = read({enter("", {}), enter("a", {""})});
    REQUIRE(cut.faults().size() == 1);
    CHECK(cut.faults()[0].find("is truncated") != std::string::npos);
    const auto deep = read({enter(std::string(1'000'000, 'q'), {})});
    REQUIRE(deep.faults().size() == 1);
    CHECK(deep.faults()[0].size() < 1200);
    const auto crossed = read({enter("", {}), enter("a", {""}), leave("b"), leave("a"), leave("")});
    CHECK(crossed.faults().size() == 1);
    const auto left_two = read({enter("", {}), enter("a", {""}), enter("b", {"", "a"}), leave("a"),
                                leave("b"), leave("")});
    REQUIRE(left_two.faults().size() == 1);
    CHECK(left_two.faults()[0].find("2 events") == 0);
    const auto elsewhere =
        read({enter("", {}), R"({"seq":1,"kind":"func","op":"add","stack":["","b"],"in_ids":[]})",
              leave("")});
    CHECK(elsewhere.faults().size() == 1);
    const auto balanced = read({enter("", {}), enter("a", {""}), leave("a"), leave("")});
    CHECK(balanced.faults().empty());
}

TEST_CASE("captured_trace: a module that is not in the tree is a fault; an alias is not") {
    const auto modules = some_modules();
    const auto operations =
        read({enter("", {}), enter("a.x.deeper", {""}),
              R"({"seq":1,"kind":"func","op":"add","stack":["","a.x.deeper"],"in_ids":[]})",
              leave("a.x.deeper"), enter("c", {""}),
              R"({"seq":2,"kind":"func","op":"add","stack":["","c"],"in_ids":[]})", leave("c"),
              leave("")});
    CHECK(modules.path(operations[0].module) == "a.x");
    CHECK_FALSE(operations[0].exact);
    CHECK(modules.path(operations[1].module) == "b");
    CHECK(operations[1].exact);
    REQUIRE(operations.faults().size() == 1);
    CHECK(operations.faults()[0].find("a.x.deeper") != std::string::npos);
}

TEST_CASE("captured_trace: below an unhooked module, parameters show the module") {
    captured_trace trace;
    trace.read_unhooked(test::parsed_json(R"(["a", "is scripted"])").part(), "file");
    trace.read_unhooked(test::parsed_json("\"a.x\"").part(), "file");
    add(trace, enter("", {}));
    for (const char* inputs :
         {R"(["i0"])", R"(["p:a.x.weight"])", R"(["t1"])", R"(["p:b.weight"])"}) {
        add(trace,
            std::string(R"({"kind":"op","op":"aten.mm","stack":[""],"in_ids":)") + inputs + "}");
    }
    add(trace, leave(""));
    const auto modules = some_modules();
    const auto operations = trace.finish(modules);
    REQUIRE(operations.size() == 4);
    CHECK(modules.path(operations[0].module) == "a");
    CHECK(modules.path(operations[1].module) == "a.x");
    CHECK(modules.path(operations[2].module) == "a");
    for (id i = 0; i < 3; ++i) {
        CHECK_FALSE(operations[i].exact);
    }
}

TEST_CASE("captured_trace: rejects anything but an event, naming which one") {
    captured_trace trace;
    add(trace, enter("", {}));
    for (const char* damaged :
         {"7", "[]", "{}", R"({"kind":7})", R"({"kind":"enter"})", R"({"kind":"op"})",
          R"({"kind":"op","op":"add","in_ids":7})", R"({"kind":"op","op":"add","in_ids":[7]})"}) {
        INFO(damaged);
        const auto refusal = test::refusal([&] { add(trace, damaged); });
        CHECK(refusal.code() == stemma::error_code::malformed);
        CHECK(std::string(refusal.what()).find("file: event ") == 0);
    }
    add(trace, R"({"kind":"of the future"})");
    CHECK_THROWS_AS(trace.read_unhooked(test::parsed_json("7").part(), "file"), stemma::error);
}

TEST_CASE("captured_trace: operations may be given without events") {
    captured_trace trace;
    trace.read_operation(
        test::parsed_json(
            R"({"op":"aten::linear","module":"a.x","call":1,"in_ids":["i0"],"out_ids":["t"]})")
            .part(),
        "file");
    trace.read_operation(
        test::parsed_json(R"({"op":"aten::relu","module":"a","in_ids":["t"]})").part(), "file");
    const auto modules = some_modules();
    const auto operations = trace.finish(modules);
    REQUIRE(operations.size() == 2);
    CHECK(modules.path(operations[0].module) == "a.x");
    CHECK(operations[0].call == 1);
    CHECK(operations.sources_of(1).size() == 1);
    CHECK(operations.faults().empty());
}

} // namespace test::capture_detail_captured_trace
