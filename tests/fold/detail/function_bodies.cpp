// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/function_bodies.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <set>
#include <string>
#include <vector>

namespace test::fold_detail_function_bodies {

TEST_CASE("read_function_bodies: functions by domain, name and overload, field by field") {
    auto function =
        test::function("d", "F", {"a", "b"}, {"c"}, {test::node("Add", {"a", "b"}, {"c"})}, "o");
    function.inner(9, test::opset("ai.onnx", 17)).inner(11, test::text_attribute("mode", "x"));
    const test::built_model model(test::message()
                                      .inner(7, test::graph())
                                      .inner(25, function)
                                      .inner(25, test::function("d", "F", {}, {}, {})));
    const auto bodies = stemma::detail::read_function_bodies(model);
    REQUIRE(bodies.size() == 2);
    const auto& body = bodies.at({"d", "F", "o"});
    CHECK(body.inputs == std::vector<std::string_view>{"a", "b"});
    CHECK(body.outputs == std::vector<std::string_view>{"c"});
    CHECK(body.nodes.size() == 1);
    CHECK(body.values == std::set<std::string_view>{"a", "b", "c"});
    CHECK(body.defaults.count("mode") == 1);
    REQUIRE(body.imports.size() == 1);
    CHECK(body.imports[0].domain.empty());
    CHECK(body.imports[0].version == 17);
    CHECK(bodies.at({"d", "F", ""}).nodes.empty());
}

TEST_CASE("read_operator_name: the standard domain has one name") {
    const auto read = [](const test::message& node) {
        const auto bytes = node.bytes();
        const auto name = stemma::detail::read_operator_name(
            {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "test"});
        return std::string(name.domain) + ":" + std::string(name.type);
    };
    CHECK(read(test::node("Add", {}, {}, "", "ai.onnx")) == ":Add");
    CHECK(read(test::node("Add", {}, {})) == ":Add");
    CHECK(read(test::node("Add", {}, {}, "", "d")) == "d:Add");
}

TEST_CASE("for_each_operator: those in bodies, too") {
    const auto inner = test::graph_attribute(
        "then_branch",
        test::graph({test::node("Add", {}, {}), test::node("F", {}, {}, "", "d")}, {}, {}));
    const auto outer = test::graphs_attribute(
        "cases", {test::graph({test::owner_node("If", {}, {}, {inner})}), test::graph()});
    const auto bytes = test::owner_node("Own", {}, {}, {outer}).bytes();
    std::string operators;
    stemma::detail::for_each_operator(
        {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "test"}, [&](const auto& name) {
            operators.append(name.domain).append(":").append(name.type).append(" ");
        });
    CHECK(operators == ":Own :If :Add d:F ");
}

TEST_CASE("for_each_inner_name: what bodies define, at any depth") {
    const auto inner = test::graph_attribute(
        "body", test::graph({test::node("Neg", {"b"}, {"c"})}, {"b"}, {"c"}, {"d"}));
    const auto outer = test::graphs_attribute(
        "cases", {test::graph({test::owner_node("If", {"q"}, {"e"}, {inner})}, {}, {"r"}),
                  test::graph().inner(15, test::sparse_tensor("s"))});
    const auto bytes = test::owner_node("Own", {"x"}, {"y"}, {outer}).bytes();
    std::set<std::string> names;
    stemma::detail::for_each_inner_name(
        {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "test"},
        [&](auto name) { names.emplace(name); });
    CHECK(names == std::set<std::string>{"b", "c", "d", "e", "s"});
}

} // namespace test::fold_detail_function_bodies
