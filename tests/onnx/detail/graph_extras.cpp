// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/graph_extras.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <string>

namespace test::onnx_detail_graph_extras {

TEST_CASE("read_graph_extras: reads name, docs, metadata and annotations of every graph") {
    const auto note = test::message()
                          .text(1, "x")
                          .inner(2, test::entry("SCALE_TENSOR", "scale"))
                          .inner(2, test::entry("ZERO_POINT_TENSOR", "zero"));
    const auto body = test::graph({test::node("Relu", {"x"}, {"r"})}, {}, {"r"}).text(10, "inside");
    auto graph = test::graph(
        {test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)})},
        {"x", "c"}, {"y"}, {"scale", "zero"});
    graph.text(10, "docs").inner(14, note).inner(16, test::entry("key", "value"));
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes);
    const auto extras = stemma::detail::read_graph_extras(model);
    REQUIRE(extras.size() == model.graph_count());

    std::string main;
    for (auto [begin, end] : extras[0].fields) {
        main.append(bytes.substr(begin, end - begin));
    }
    CHECK(main == test::message()
                      .text(2, "graph")
                      .text(10, "docs")
                      .inner(16, test::entry("key", "value"))
                      .bytes());
    REQUIRE(extras[0].annotations.count("x") == 1);
    const auto& annotation = extras[0].annotations.at("x");
    CHECK(bytes.substr(annotation.message.begin, annotation.message.size) == note.bytes());
    CHECK(annotation.parameters == std::vector<std::string_view>{"scale", "zero"});
    CHECK(model.value_name(extras[0].initializers.at("scale")) == "scale");

    REQUIRE(extras[1].fields.size() == 2);
    CHECK(extras[1].annotations.empty());
    CHECK(extras[1].initializers.empty());
}

} // namespace test::onnx_detail_graph_extras
