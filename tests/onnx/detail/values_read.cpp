// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/values_read.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <string>
#include <vector>

namespace test::onnx_detail_values_read {

TEST_CASE("values_read: lists inputs by slot, then captures of bodies at any depth, each once") {
    const auto innermost = test::graph({test::node("Add", {"a", "c"}, {"d"})}, {}, {"d"});
    const auto inner = test::graph(
        {test::node("Mul", {"a", "b"}, {"c"}),
         test::owner_node("If", {"c"}, {"e"}, {test::graph_attribute("then_branch", innermost)})},
        {}, {"e", "x"});
    const test::built_model model(
        {test::node("Relu", {"x"}, {"a"}), test::node("Relu", {"x"}, {"b"}),
         test::owner_node("If", {"b", ""}, {"y"}, {test::graph_attribute("then_branch", inner)})},
        {"x"}, {"y"});
    const stemma::graph_contents contents(model);
    std::vector<std::string> names;
    for (auto value : stemma::detail::values_read(model, contents, model.node_count() - 1)) {
        names.push_back(value == stemma::no_id ? "-" : std::string(model.value_name(value)));
    }
    CHECK(names == std::vector<std::string>{"b", "-", "a", "b", "x"});
    CHECK(stemma::detail::values_read(model, contents, 0).size() == 1);
}

} // namespace test::onnx_detail_values_read
