// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/detail/readers.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../query_scene.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace test::query_detail_readers {

namespace {

using test::node;

struct positions {
    const stemma::wire_model* model;
    [[nodiscard]] std::string position(stemma::id v) const {
        return stemma::position_text(*model, v);
    }
};

/// A weight `a.w` that Identities pass on, one after the other; inputs `x` and `a.x`.
struct model {
    std::string bytes = test::model(test::graph({node("Identity", {"a.w"}, {"b.w"}), // 0
                                                 node("Identity", {"b.w"}, {"c.w"}), // 1
                                                 node("Mul", {"x", "a.w"}, {"h"}),   // 2
                                                 node("Mul", {"h", "b.w"}, {"i"}),   // 3
                                                 node("Mul", {"i", "c.w"}, {"j"}),   // 4
                                                 node("Add", {"j", "v"}, {"k"}),     // 5
                                                 node("Add", {"k", "a.x"}, {"y"})},  // 6
                                                {"x", "a.x"}, {"y"}, {"a.w", "v"}))
                            .bytes();
    stemma::wire_model read{bytes};
    stemma::onnx_operators<stemma::wire_model> ops{read};
};

std::vector<stemma::id> readers_of(std::string_view pattern) {
    const model network;
    const auto reads = stemma::detail::find_readers(network.ops, pattern);
    std::vector<stemma::id> readers;
    for (stemma::id v = 0; v < reads.size(); ++v) {
        if (reads[v] != 0) {
            readers.push_back(v);
        }
    }
    return readers;
}

using ids = std::vector<stemma::id>;

} // namespace

TEST_CASE("readers: a parameter passed on by an Identity keeps its name") {
    STATIC_REQUIRE(stemma::detail::reads_values<stemma::onnx_operators<stemma::wire_model>>);
    CHECK(readers_of("b.w") == ids{1, 3, 4});
    CHECK(readers_of("c.w") == ids{4});
    CHECK(readers_of("a.w") == ids{0, 1, 2, 3, 4});
    CHECK(readers_of("*.w") == readers_of("a.w"));
    CHECK(readers_of("v") == ids{5});
}

TEST_CASE("readers: a parameter that is dequantized keeps its name, unlike the scale") {
    const test::built_model model(
        test::model(test::graph({node("DequantizeLinear", {"a.w", "a.s"}, {"d"}), // 0
                                 node("Mul", {"x", "d"}, {"y"})},                 // 1
                                {"x"}, {"y"}, {"a.w", "a.s"})));
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    using marks = stemma::detail::vertex_marks;
    CHECK(stemma::detail::find_readers(ops, "a.w") == marks{1, 1});
    CHECK(stemma::detail::find_readers(ops, "a.s") == marks{1, 0});
    CHECK(stemma::detail::find_readers(ops, "d") == marks{0, 0});
}

TEST_CASE("readers: the inputs of the model have readers, results have none") {
    CHECK(readers_of("x") == ids{2});
    CHECK(readers_of("a.x") == ids{6});
    CHECK(readers_of("h").empty());
}

TEST_CASE("readers: other operators read parameters only") {
    const test::query_scene scene;
    STATIC_REQUIRE_FALSE(stemma::detail::reads_values<test::query_scene>);
    const auto reads = stemma::detail::find_readers(scene, "head.*");
    for (stemma::id v = 0; v < reads.size(); ++v) {
        CHECK((reads[v] != 0) == (scene.nodes[v].name == "head"));
    }
}

TEST_CASE("readers: other values are explained") {
    const model network;
    const positions facts{&network.read};
    CHECK(stemma::detail::explain_value(network.ops, facts, "a.x") ==
          "; 'a.x' is an input: 'reads:a.x' matches the nodes that read it");
    CHECK(stemma::detail::explain_value(network.ops, facts, "i") ==
          "; node #3 makes 'i': 'fed-by:#3' matches the nodes that read it");
    CHECK(stemma::detail::explain_value(network.ops, facts, "nothing").empty());
    CHECK(stemma::detail::explain_value(network.ops, facts, "").empty());
}

TEST_CASE("readers: of the weight that a Constant holds") {
    const auto tensor = test::message().text(1, "value").inner(5, test::tensor("", {2}));
    const test::built_model read(test::model(test::graph(
        {node("Constant", {}, {"a.w"}).inner(5, tensor), node("Mul", {"x", "a.w"}, {"y"})}, {"x"},
        {"y"})));
    const stemma::onnx_operators<stemma::wire_model> ops(read);
    const auto reads = stemma::detail::find_readers(ops, "a.w");
    CHECK(reads[0] == 0);
    CHECK(reads[1] == 1);
}

} // namespace test::query_detail_readers
