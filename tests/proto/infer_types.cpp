// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/infer_types.hpp>

#include "../catch.hpp"
#include "../wire_builder.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace test::proto_infer_types {

namespace {

using types = std::map<std::pair<std::uint32_t, std::string>, onnx::TypeProto>;

onnx::ModelProto parse(const test::message& message) {
    onnx::ModelProto model;
    REQUIRE(model.ParseFromString(message.bytes()));
    for (auto* info : {model.mutable_graph()->mutable_input(0)}) {
        auto* tensor = info->mutable_type()->mutable_tensor_type();
        tensor->set_elem_type(onnx::TensorProto::FLOAT);
        tensor->mutable_shape()->add_dim()->set_dim_value(2);
        tensor->mutable_shape()->add_dim()->set_dim_value(3);
    }
    return model;
}

std::string infer(onnx::ModelProto& model, types& inferred) {
    return stemma::infer_types(
        model, [&](std::uint32_t graph, const std::string& name, const std::string& type) {
            onnx::TypeProto parsed;
            REQUIRE(parsed.ParseFromString(type));
            inferred[{graph, name}] = parsed;
        });
}

test::message two_nodes(const char* second, std::uint64_t opset) {
    return test::model(
        test::graph({test::node("Transpose", {"x"}, {"y"}), test::node(second, {"y"}, {"z"})},
                    {"x"}, {}),
        8, opset);
}

} // namespace

TEST_CASE("infer_types: values between operators get types") {
    auto model = parse(two_nodes("Relu", 15));
    types inferred;
    CHECK(infer(model, inferred).empty());
    REQUIRE(inferred.count({0, "y"}) == 1);
    const auto& shape = inferred[{0, "y"}].tensor_type().shape();
    REQUIRE(shape.dim_size() == 2);
    CHECK(shape.dim(0).dim_value() == 3);
    CHECK(shape.dim(1).dim_value() == 2);
    CHECK(inferred[{0, "z"}].tensor_type().elem_type() == onnx::TensorProto::FLOAT);
}

TEST_CASE("infer_types: treats a newer model as an older one if its operators are unchanged") {
    auto same = parse(two_nodes("Relu", 18));
    same.set_ir_version(onnx::Version::IR_VERSION + 2);
    types inferred;
    CHECK(infer(same, inferred).empty());
    CHECK(inferred.count({0, "z"}) == 1);
}

TEST_CASE("infer_types: does not infer operators that changed since") {
    auto changed = parse(two_nodes("ReduceMax", 22));
    types inferred;
    CHECK_FALSE(infer(changed, inferred).empty());
    CHECK(inferred.empty());
}

TEST_CASE("infer_types: ignores new versions of unused domains") {
    auto model = parse(two_nodes("Relu", 15));
    auto& opset = *model.add_opset_import();
    opset.set_domain("ai.onnx.ml");
    opset.set_version(1000);
    auto used = model;
    types inferred;
    CHECK(infer(model, inferred).empty());
    CHECK(inferred.count({0, "z"}) == 1);
    used.mutable_graph()->mutable_node(0)->set_domain("ai.onnx.ml");
    CHECK_FALSE(infer(used, inferred).empty());
}

TEST_CASE("infer_types: accepts newer function bodies with unchanged operators") {
    const auto calling = [](const char* operation) {
        auto model = parse(two_nodes("Relu", 15));
        model.mutable_graph()->mutable_node(0)->set_op_type("Mine");
        model.mutable_graph()->mutable_node(0)->set_domain("own");
        auto& own = *model.add_opset_import();
        own.set_domain("own");
        own.set_version(1);
        auto& function = *model.add_functions();
        function.set_name("Mine");
        function.set_domain("own");
        function.add_input("a");
        function.add_output("b");
        auto& opset = *function.add_opset_import();
        opset.set_version(22);
        auto& node = *function.add_node();
        node.set_op_type(operation);
        node.add_input("a");
        node.add_output("b");
        return model;
    };
    types inferred;
    auto same = calling("Relu");
    CHECK(infer(same, inferred).empty());
    auto changed = calling("ReduceMax");
    CHECK_FALSE(infer(changed, inferred).empty());
}

TEST_CASE("infer_types: treats a sparse initializer as dense") {
    auto model = parse(two_nodes("Relu", 15));
    auto& node = *model.mutable_graph()->mutable_node(0);
    node.set_op_type("MatMul");
    node.add_input("s");
    auto& sparse = *model.mutable_graph()->add_sparse_initializer();
    sparse.mutable_values()->set_name("s");
    sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
    sparse.mutable_values()->add_dims(1);
    sparse.mutable_values()->add_float_data(1);
    sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
    sparse.mutable_indices()->add_dims(1);
    sparse.mutable_indices()->add_int64_data(3);
    sparse.add_dims(3);
    sparse.add_dims(5);
    types inferred;
    CHECK(infer(model, inferred).empty());
    REQUIRE(inferred.count({0, "y"}) == 1);
    const auto& shape = inferred[{0, "y"}].tensor_type().shape();
    REQUIRE(shape.dim_size() == 2);
    CHECK(shape.dim(1).dim_value() == 5);
}

TEST_CASE("infer_types: reports values in bodies with the number of their graph") {
    const auto body = [](const char* result) {
        return test::graph({test::node("Relu", {"x"}, {result})}, {}, {result});
    };
    auto model = parse(test::model(
        test::graph({test::owner_node("If", {"c"}, {"z"},
                                      {test::graph_attribute("then_branch", body("a")),
                                       test::graph_attribute("else_branch", body("b"))})},
                    {"x", "c"}, {"z"}),
        8, 15));
    model.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(
        onnx::TensorProto::BOOL);
    types inferred;
    CHECK(infer(model, inferred).empty());
    CHECK(inferred.count({1, "a"}) == 1);
    CHECK(inferred.count({2, "b"}) == 1);
    CHECK(inferred.count({0, "a"}) == 0);
}

} // namespace test::proto_infer_types
