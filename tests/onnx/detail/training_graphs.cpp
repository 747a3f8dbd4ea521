// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/training_graphs.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string>

namespace test::onnx_detail_training_graphs {

TEST_CASE("training_graphs: all of a model, and the values of its graph that they name") {
    const auto reads = [](const std::string& in, const std::string& out) {
        return test::graph({test::node("Neg", {in}, {out})}, {}, {out});
    };
    const auto body = test::graph_attribute("body", reads("inner", "deep"));
    const auto own = test::graph_attribute("body", reads("a", "hidden"));
    const auto bytes =
        test::model(test::graph({test::node("Neg", {"x"}, {"a"}), test::node("Neg", {"a"}, {"b"}),
                                 test::owner_node("If", {"b"}, {"y"}, {own})},
                                {"x"}, {"y"}))
            .inner(20, test::message().inner(1, reads("x", "")).inner(2, reads("b", "new")))
            .inner(20, test::message().inner(
                           2, test::graph({test::owner_node("If", {"hidden"}, {"y2"}, {body})})))
            .bytes();
    const stemma::wire_model model(bytes);
    int count = 0;
    stemma::detail::for_each_training_graph(model, [&](auto) { ++count; });
    CHECK(count == 3);
    test::names names;
    for (auto value : stemma::detail::values_in_training(model)) {
        names.emplace_back(model.value_name(value));
    }
    CHECK(names == test::names{"b", "x"});
    const auto without = test::model(test::graph({test::node("Neg", {"x"}, {"y"})})).bytes();
    CHECK(stemma::detail::values_in_training(stemma::wire_model(without)).empty());
}

TEST_CASE("training_graphs: bodies nested more deeply than in any model are an error") {
    auto graph = test::graph({test::node("Neg", {"x"}, {"y"})});
    for (int i = 0; i < 40; ++i) {
        graph = test::graph(
            {test::owner_node("If", {"x"}, {"y"}, {test::graph_attribute("body", graph)})});
    }
    const test::built_model model(test::model(test::graph({test::node("Neg", {"x"}, {"y"})}))
                                      .inner(20, test::message().inner(1, graph)));
    CHECK_THROWS_AS(stemma::detail::values_in_training(model), stemma::error);
}

} // namespace test::onnx_detail_training_graphs
