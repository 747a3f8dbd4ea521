// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/onnx_nodes.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::onnx_onnx_nodes {

using stemma::id;
using test::node;
using nodes_of_file = stemma::onnx_nodes<stemma::wire_model>;
using operators = stemma::onnx_operators<stemma::wire_model>;

TEST_CASE("onnx_nodes: are an operator view without edges") {
    STATIC_REQUIRE(stemma::named_operators<nodes_of_file>);
    STATIC_REQUIRE(stemma::parameter_readers<nodes_of_file>);
    STATIC_REQUIRE(stemma::described_operators<nodes_of_file>);
    STATIC_REQUIRE(stemma::folded_operators<nodes_of_file>);
    STATIC_REQUIRE_FALSE(stemma::steered_operators<nodes_of_file>);
    STATIC_REQUIRE(stemma::operator_view<stemma::onnx_nodes<>>);
}

TEST_CASE("onnx_nodes: become operators with a graph built separately") {
    const test::built_model model(
        {node("MatMul", {"x", "w"}, {"y"}, "first"), node("Relu", {"y"}, {"z"}, "second")}, {"x"},
        {"z"}, {"w"});
    nodes_of_file nodes(model);
    CHECK(num_vertices(nodes.graph()) == 2);
    CHECK(nodes.name(1) == "second");
    REQUIRE(nodes.parameter_count() == 1);
    CHECK(nodes.parameter_name(0) == "w");
    const operators separate(std::move(nodes), stemma::detail::flat_graph(model));
    const operators whole(model);
    CHECK(num_edges(separate.graph()) == 1);
    CHECK(num_edges(whole.graph()) == 1);
    for (id v = 0; v < model.node_count(); ++v) {
        CHECK(separate.name(v) == whole.name(v));
        std::vector<id> read;
        separate.for_each_parameter(v, [&](id p) { read.push_back(p); });
        CHECK(read.size() == (v == 0 ? 1 : 0));
    }
}

TEST_CASE("onnx_nodes: a fused normalization may also return a sum") {
    const auto sum_of = [](const char* type, const char* domain) {
        const test::built_model model({node(type, {"x"}, {"y", "", "", "sum"}, "", domain),
                                       node("SkipLayerNormalization", {"y"}, {"z"}, "", domain)},
                                      {"x"}, {"z", "sum"});
        const nodes_of_file nodes(model);
        CHECK(nodes.sum_name(1).empty());
        return std::string(nodes.sum_name(0));
    };
    CHECK(sum_of("SkipSimplifiedLayerNormalization", "com.microsoft") == "sum");
    CHECK(sum_of("Split", "com.microsoft").empty());
    CHECK(sum_of("SkipLayerNormalization", "other").empty());
}

TEST_CASE("onnx_nodes: metadata are those before tagging, with or without a record") {
    const auto plain = node("Relu", {"x"}, {"y"});
    const auto foreign = test::message(plain).inner(9, test::entry("namespace", "theirs"));
    const auto tagged = test::message(plain)
                            .inner(9, test::entry("pkg.stemma.saved.namespace", "theirs"))
                            .inner(9, test::entry("pkg.stemma.module", "a"))
                            .inner(9, test::entry("namespace", "a"));
    for (const auto& one : {foreign, tagged}) {
        const test::built_model model({one}, {"x"}, {"y"});
        std::vector<std::string> read;
        nodes_of_file(model).for_each_metadata(
            0, [&](std::string_view key, std::string_view value) {
                read.push_back(std::string(key) + "=" + std::string(value));
            });
        CHECK(read == std::vector<std::string>{"namespace=theirs"});
    }
}

TEST_CASE("onnx_nodes: Constants that hold weights called by a path are parameters") {
    const auto constant = [](std::string_view result, const test::message& tensor) {
        return test::node("Constant", {}, {std::string(result)})
            .inner(5, test::message().text(1, "value").inner(5, tensor).number(20, 4));
    };
    const auto integers = test::message().number(1, 2).number(2, 7);
    const test::built_model model(
        {constant("fc.weight", test::tensor("", {2, 2})), constant("fc.scale", test::tensor("")),
         constant("fc.shape", integers), constant("/fc/Constant_output_0", test::tensor("", {2})),
         constant("12", test::tensor("", {2}))},
        {}, {});
    const nodes_of_file nodes(model);
    REQUIRE(nodes.parameter_count() == 1);
    CHECK(nodes.parameter_name(0) == "fc.weight");
    std::vector<bool> marked{true};
    nodes.keep_matrices(marked);
    CHECK(marked[0]);
}

TEST_CASE("onnx_nodes: a convolution is fused with a sum if it reads a fourth input") {
    const auto joins = [](const char* type) {
        auto conv = node(type, {"x", "w", "b", "z"}, {"y"}, "conv");
        conv.text(7, "com.microsoft");
        const test::built_model model({conv}, {"x", "z"}, {"y"}, {"w", "b"});
        return nodes_of_file(model).joins_sum(0);
    };
    CHECK(joins("FusedConv"));
    CHECK(joins("NhwcFusedConv"));
    CHECK_FALSE(joins("QLinearConv")); // reads scales and zero points
}

} // namespace test::onnx_onnx_nodes
