// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/detail/shape_arithmetic.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <set>
#include <string>
#include <vector>

namespace test::report_detail_shape_arithmetic {

namespace {

using stemma::id;

std::set<std::string> quiet_in(const test::message& graph) {
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes, "model");
    const auto quiet = stemma::detail::find_shape_arithmetic(model);
    REQUIRE(quiet.size() == model.node_count());
    std::set<std::string> names;
    for (id node = 0; node < model.node_count(); ++node) {
        if (quiet[node]) {
            names.insert(std::string(model.name(node)));
        }
    }
    return names;
}

using names = std::set<std::string>;

} // namespace

TEST_CASE(
    "find_shape_arithmetic: what comes of shapes and constants alone, up to where data come") {
    CHECK(quiet_in(test::graph({test::node("Shape", {"x"}, {"s"}, "shape"),
                                test::node("Constant", {}, {"i"}, "index"),
                                test::node("Gather", {"s", "i"}, {"n"}, "pick"),
                                test::node("Mul", {"n", "x"}, {"d"}, "data"),
                                test::node("Reshape", {"d", "n"}, {"r"}, "reshape"),
                                test::node("MatMul", {"n", "n"}, {"p"}, "product"),
                                test::node("Add", {"r", "p"}, {"y"}, "sum")},
                               {"x"}, {"y"})) == names{"shape", "index", "pick"});
}

TEST_CASE("find_shape_arithmetic: excludes outputs of the graph, and operators of other domains") {
    CHECK(quiet_in(test::graph({test::node("Shape", {"x"}, {"s"}, "last")}, {"x"}, {"s"})).empty());
    auto other = test::node("Add", {"s", "s"}, {"t"}, "other");
    other.text(7, "com.example");
    CHECK(quiet_in(test::graph({test::node("Shape", {"x"}, {"s"}, "shape"), other,
                                test::node("Relu", {"t"}, {"y"}, "relu")},
                               {"x"}, {"y"})) == names{"shape"});
}

TEST_CASE("find_shape_arithmetic: excludes readers of matrices, in any exported model") {
    const auto bytes = test::read_bytes(test::fixture("gpt2_tiny/model.onnx"));
    const stemma::wire_model model(bytes, "model");
    const auto quiet = stemma::detail::find_shape_arithmetic(model);
    std::size_t count = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        const auto type = model.op_type(node);
        count += quiet[node] ? 1U : 0U;
        if (type == "Shape") {
            CHECK(quiet[node]);
        }
        if (type == "MatMul" || type == "Softmax" || type == "Tanh" || type == "Transpose") {
            CHECK_FALSE(quiet[node]);
        }
        for (const auto value : model.inputs(node)) {
            if (value != stemma::no_id && model.kind(value) == stemma::value_kind::input) {
                CHECK((type == "Shape" || !quiet[node]));
            }
        }
    }
    CHECK(count > 100);
}

} // namespace test::report_detail_shape_arithmetic
