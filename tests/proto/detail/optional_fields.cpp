// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/detail/optional_fields.hpp>

#include "../../catch.hpp"
#include "../models.hpp"

#include <string>

namespace test::proto_detail_optional_fields {

TEST_CASE("optional_fields: an overload is found whether or not the schema has it", "[onnx]") {
    newer_onnx::NodeProto newer;
    newer.set_overload("of floats");
    constexpr unsigned number = 8;
    CHECK(stemma::detail::overload_of(newer, number) == "of floats");
    onnx::NodeProto unknown;
    REQUIRE(unknown.ParseFromString(test::bytes_of(newer)));
    CHECK(stemma::detail::overload_of(unknown, number) == "of floats");
    CHECK(stemma::detail::overload_of(onnx::NodeProto(), number).empty());
}

TEST_CASE("optional_fields: the floats of a tensor are its bytes", "[onnx]") {
    onnx::TensorProto tensor;
    CHECK(stemma::detail::float_data_of(tensor).empty());
    tensor.add_float_data(1.0F);
    CHECK(stemma::detail::float_data_of(tensor) == std::string("\0\0\x80\x3f", 4));
}

} // namespace test::proto_detail_optional_fields
