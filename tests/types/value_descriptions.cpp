// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/value_descriptions.hpp>

#include "../catch.hpp"
#include "../find_in_model.hpp"
#include "../model_files.hpp"
#include "../wire_builder.hpp"

#include <string>

namespace test::types_value_descriptions {

namespace {

using stemma::describe_value_type;
using test::message;

message tensor_type(unsigned element, const message& shape) {
    return message().inner(1, message().number(1, element).inner(2, shape));
}

std::string text_of(const message& type) {
    const auto bytes = type.bytes();
    return describe_value_type(bytes).type_and_shape();
}

} // namespace

TEST_CASE("describe_value_type: extents are numbers, names, or unknown", "[value_descriptions]") {
    const auto shape = message()
                           .inner(1, message().number(1, 3))
                           .inner(1, message().text(2, "batch"))
                           .inner(1, message())
                           .inner(1, message().number(1, ~std::uint64_t{0}));
    CHECK(text_of(tensor_type(1, shape)) == "float32[3,batch,?,?]");
    CHECK(text_of(tensor_type(7, message())) == "int64[]");
    CHECK(text_of(message().inner(1, message().number(1, 9))) == "bool");
    CHECK(text_of(message().inner(1, message().number(1, 99))) == "type 99");
    CHECK(text_of(message()).empty());
}

TEST_CASE("describe_value_type: what holds tensors says of which kind", "[value_descriptions]") {
    const auto tensor = tensor_type(1, message().inner(1, message().number(1, 2)));
    CHECK(text_of(message().inner(4, message().inner(1, tensor))) == "sequence(float32[2])");
    CHECK(text_of(message().inner(9, message().inner(1, tensor))) == "optional(float32[2])");
    CHECK(text_of(message().inner(5, message().number(1, 7).inner(2, tensor))) ==
          "map(int64,float32[2])");
    CHECK(text_of(message().inner(8, message().number(1, 1).inner(2, message()))) ==
          "sparse(float32)[]");
    auto deep = tensor;
    for (int i = 0; i < 1000; ++i) {
        deep = message().inner(4, message().inner(1, deep));
    }
    CHECK_FALSE(text_of(deep).empty());
}

TEST_CASE("value_descriptions: knows declared, inferred and stored values",
          "[value_descriptions]") {
    const auto bytes = test::model(test::graph({test::node("Relu", {"x"}, {"y"}),
                                                test::node("Mystery", {"y"}, {"z"}, "", "far")},
                                               {"x"}, {}, {})
                                       .inner(5, test::tensor("w", {2, 3})))
                           .bytes();
    const stemma::wire_model model(bytes);
    const stemma::value_descriptions describe(model);
    const auto told = [&](const char* name) {
        const auto value = describe(test::value_called(model, name));
        CHECK(value.name == name);
        return value.type_and_shape();
    };
    CHECK(told("x") == "float32[]");
    CHECK(told("y") == "float32[]");
    CHECK(told("z").empty());
    CHECK(told("w") == "float32[2,3]");
}

TEST_CASE("value_descriptions: most values of exported models have a shape",
          "[value_descriptions]") {
    for (const auto* name : {"bert_micro", "bert_mlm", "unet_tiny"}) {
        CAPTURE(name);
        const auto bytes = test::read_bytes(test::fixture(std::string(name) + "/model.onnx"));
        const stemma::wire_model model(bytes);
        const stemma::value_descriptions describe(model);
        std::size_t known = 0;
        for (stemma::id value = 0; value < model.value_count(); ++value) {
            known += describe(value).shape.empty() ? 0U : 1U;
        }
        CHECK(known * 10 > model.value_count() * 9U);
    }
}

} // namespace test::types_value_descriptions
