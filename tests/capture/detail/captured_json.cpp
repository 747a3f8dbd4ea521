// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/detail/captured_json.hpp>

#include "../../catch.hpp"
#include "../../parsed_json.hpp"

#include <stemma/align/captured_operations.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::capture_detail_captured_json {

using stemma::no_id;
using stemma::detail::captured_json;

TEST_CASE("captured_json: reads members, with defaults for missing ones") {
    const auto object = test::parsed_json(
        R"({"text":"a","number":7,"list":["b","c"],"shapes":[[1,2],null,["n"]],"nothing":null})");
    const captured_json at(object.part(), "file", "thing", 3);
    CHECK(at.text("text") == "a");
    CHECK(at.number("number") == 7);
    CHECK(at.number("text") == no_id);
    CHECK(at.number("gone") == no_id);
    CHECK(at.strings("list") == std::vector<std::string>{"b", "c"});
    CHECK(at.strings("gone").empty());
    CHECK(at.strings("nothing").empty());
    CHECK(at.shapes("shapes") == std::vector<std::vector<std::int64_t>>{{1, 2}, {}, {-1}});
    CHECK(at.is_text("text"));
    CHECK_FALSE(at.is_text("number"));
    CHECK(at.has("nothing"));
    CHECK_FALSE(at.has("gone"));
}

TEST_CASE("captured_json: errors name file, part and number") {
    const auto object = test::parsed_json(R"({"text":7,"list":"a","mixed":["a",7]})");
    const captured_json at(object.part(), "file", "thing", 3);
    CHECK_THROWS_AS(at.text("text"), stemma::error);
    CHECK_THROWS_AS(at.text("gone"), stemma::error);
    CHECK_THROWS_AS(at.strings("list"), stemma::error);
    CHECK_THROWS_AS(at.strings("mixed"), stemma::error);
    const auto list = test::parsed_json("[]");
    CHECK_THROWS_AS(captured_json(list.part(), "file", "thing", 3), stemma::error);
    CHECK_THROWS_WITH(at.fail("is odd"), "file: thing 3: is odd");
}

TEST_CASE("find_path: finds modules by path and alias, and nothing else") {
    stemma::module_tree_builder builder;
    const auto a = builder.child(0, "a");
    const auto b = builder.child(a, "0");
    builder.add_alias("c.d", b);
    const auto modules = builder.build();
    CHECK(stemma::detail::find_path(modules, "") == 0);
    CHECK(stemma::detail::find_path(modules, "a") == a);
    CHECK(stemma::detail::find_path(modules, "a.0") == b);
    CHECK(stemma::detail::find_path(modules, "c.d") == b);
    CHECK(stemma::detail::find_path(modules, "c") == no_id);
    CHECK(stemma::detail::find_path(modules, "a.1") == no_id);
}

TEST_CASE("find_parameter: finds parameters by path and alias, with shapes") {
    stemma::module_tree_builder builder;
    const std::vector<std::int64_t> shape = {2, 3};
    const auto a = builder.child(0, "a");
    builder.add_parameter(0, {"own", "float32", shape, true});
    builder.add_parameter(a, {"weight", "float32", shape, true});
    builder.add_buffer(a, {"mean", "float32", shape, false});
    builder.add_alias("c", a);
    const auto modules = builder.build();
    for (const char* path : {"own", "a.weight", "c.weight"}) {
        const auto parameter = stemma::detail::find_parameter(modules, path);
        REQUIRE(parameter.has_value());
        CHECK(std::vector<std::int64_t>(parameter->shape.begin(), parameter->shape.end()) == shape);
    }
    for (const char* path : {"", "a", "weight", "a.mean", "a.bias", "b.weight", "a.weight."}) {
        CHECK_FALSE(stemma::detail::find_parameter(modules, path).has_value());
    }
}

TEST_CASE("place_operations: a path that leads nowhere has the module of its longest known part") {
    stemma::module_tree_builder builder;
    const auto a = builder.child(0, "a");
    const auto b = builder.child(a, "b");
    builder.add_alias("a.c.d", b);
    builder.add_alias("e", a);
    const auto modules = builder.build();
    // The length of the last one is that of a file of some megabytes.
    std::string deep = "a";
    for (int i = 0; i < 1'000'000; ++i) {
        deep += ".q";
    }
    stemma::detail::string_pool paths;
    const std::vector<std::string> tree_paths = {"", "a.b", "a.c.d"};
    const std::vector<std::pair<std::string, stemma::id>> lost = {
        {"x.y", 0}, {"a.x", a}, {"a.c", a}, {"a.c.d.x.y", b}, {"e.b.x", a}, {"e.b", a}, {deep, a}};
    for (const auto& path : tree_paths) {
        static_cast<void>(paths.intern(path));
    }
    for (const auto& [path, module] : lost) {
        static_cast<void>(paths.intern(path));
    }
    stemma::captured_operations operations;
    for (stemma::id p = 0; p < paths.size(); ++p) {
        operations[operations.add({}, "add")].module = p;
    }
    stemma::detail::place_operations(modules, paths, operations, "trace");
    for (stemma::id p = 0; p < paths.size(); ++p) {
        CHECK(operations[p].exact == (p < tree_paths.size()));
        CHECK(operations[p].module == (p == 0 ? 0
                                       : p < tree_paths.size()
                                           ? b
                                           : lost[p - tree_paths.size()].second));
    }
    REQUIRE(operations.faults().size() == 1);
    CHECK(operations.faults()[0] ==
          "7 of 10 modules in the trace are not in the tree, such as 'x.y'");
}

TEST_CASE("place_operations: the example is one that fits a line") {
    stemma::detail::string_pool paths;
    static_cast<void>(paths.intern(std::string(1'000'000, 'q')));
    stemma::captured_operations operations;
    stemma::detail::place_operations(stemma::module_tree(), paths, operations, "trace");
    REQUIRE(operations.faults().size() == 1);
    CHECK(operations.faults()[0].size() < 1200);
}

} // namespace test::capture_detail_captured_json
