// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/describe_type.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>

#include <cstdint>
#include <string>

namespace test::types_detail_describe_type {

namespace {

test::message tensor_type(std::uint64_t data_type, const test::message& shape) {
    return test::message().number(1, data_type).inner(2, shape);
}

std::string text_of(const test::message& type) {
    const auto bytes = type.bytes();
    return stemma::to_text(stemma::detail::describe_type(bytes));
}

} // namespace

TEST_CASE("describe_type: tensors with numbers, names and unknown extents",
          "[onnx][describe_type]") {
    auto shape = test::message();
    shape.inner(1, test::message().number(1, 2));
    shape.inner(1, test::message().text(2, "batch"));
    shape.inner(1, test::message());
    shape.inner(1, test::message().number(1, ~std::uint64_t{0}));
    CHECK(text_of(test::message().inner(1, tensor_type(1, shape))) == "float32[2,batch,?,?]");
    CHECK(text_of(test::message().inner(1, tensor_type(7, test::message()))) == "int64[]");
    CHECK(text_of(test::message().inner(1, test::message().number(1, 9))) == "bool");
    CHECK(text_of(test::message().inner(1, test::message().number(1, 99))) == "type 99");
    CHECK(text_of(test::message()).empty());
}

TEST_CASE("describe_type: sequences, maps, optional and sparse ones", "[onnx][describe_type]") {
    const auto shape = test::message().inner(1, test::message().number(1, 2));
    const auto tensor = test::message().inner(1, tensor_type(1, shape));
    const auto sequence = test::message().inner(4, test::message().inner(1, tensor));
    CHECK(text_of(sequence) == "sequence(float32[2])");
    CHECK(text_of(test::message().inner(9, test::message().inner(1, sequence))) ==
          "optional(sequence(float32[2]))");
    CHECK(text_of(test::message().inner(5, test::message().number(1, 8).inner(2, tensor))) ==
          "map(string,float32[2])");
    CHECK(text_of(test::message().inner(8, tensor_type(1, test::message()))) ==
          "sparse(float32)[]");
    CHECK(text_of(test::message().inner(4, test::message())) == "sequence(?)");
    CHECK(text_of(test::message().inner(5, test::message())) == "map(?,?)");
}

TEST_CASE("contradict: only what is known can") {
    using stemma::detail::contradict;
    using type = stemma::described_type;
    const type some{"float32", {2, "batch", -1}, true};
    CHECK_FALSE(contradict(some, some));
    CHECK_FALSE(contradict(some, {"float32", {"n", 3, 4}, true}));
    CHECK_FALSE(contradict(some, {"float32", {}, false}));
    CHECK(contradict(some, {"float32", {3, "batch", -1}, true}));
    CHECK(contradict(some, {"float32", {2, "batch"}, true}));
    CHECK(contradict(some, {"float16", {2, "batch", -1}, true}));
    CHECK(contradict(some, {"float16", {}, false}));
}

TEST_CASE("describe_type: handles endlessly nested types", "[onnx][describe_type]") {
    auto type = test::message().inner(1, tensor_type(1, test::message()));
    for (int i = 0; i < 1000; ++i) {
        type = test::message().inner(4, test::message().inner(1, type));
    }
    CHECK(text_of(type).size() < 1000);
    CHECK_THROWS_AS(stemma::detail::describe_type("\x0a\x7f"), stemma::error);
}

} // namespace test::types_detail_describe_type
