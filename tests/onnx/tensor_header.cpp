// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/tensor_header.hpp>

#include "../catch.hpp"
#include "../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace test::onnx_tensor_header {

using stemma::tensor_header;
using extents = std::vector<std::int64_t>;

namespace {

/// The header of a model's only initializer.
struct read_header {
    explicit read_header(const test::message& tensor)
        : bytes(test::model(test::graph().inner(5, tensor)).bytes())
        , model(bytes)
        , header(stemma::read_tensor_header(model, model.tensors()[0])) {}

    std::string bytes;
    stemma::wire_model model;
    tensor_header header;
};

} // namespace

TEST_CASE("tensor_header: elements are the product of the extents") {
    tensor_header header;
    CHECK(header.elements() == 1);
    header.dims = {2, 3, 5};
    CHECK(header.elements() == 30);
    header.dims = {2, 0};
    CHECK(header.elements() == 0);
    header.dims = {2, -1};
    CHECK(header.elements() == 0);
    header.dims = {std::numeric_limits<std::int64_t>::max(), 3};
    CHECK(header.elements() == 0);
}

TEST_CASE("data_type_name: names every known type, and no other") {
    CHECK(stemma::data_type_name(1) == "float32");
    CHECK(stemma::data_type_name(7) == "int64");
    CHECK(stemma::data_type_name(23) == "float4_e2m1");
    CHECK(stemma::data_type_name(26) == "int2");
    for (std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{27},
                                std::numeric_limits<std::int64_t>::min()}) {
        CHECK(stemma::data_type_name(number).empty());
    }
}

TEST_CASE("is_floating_type: accepts weight types") {
    for (std::int64_t number : {1, 10, 11, 16, 17, 23}) {
        CHECK(stemma::detail::is_floating_type(number));
    }
    for (std::int64_t number : {0, 2, 7, 8, 9, 14, 21}) {
        CHECK_FALSE(stemma::detail::is_floating_type(number));
    }
}

TEST_CASE("read_tensor_header: reads extents unpacked, packed, and mixed") {
    const auto one = test::message().number(1, 2).number(1, 300).text(8, "w").number(2, 1);
    const auto packed = test::message().packed(1, {2, 300}).text(8, "w").number(2, 7);
    const auto mixed = test::message().number(1, 4).packed(1, {2, 300}).number(1, 5).text(8, "w");
    CHECK(read_header(one).header.dims == extents{2, 300});
    CHECK(read_header(one).header.data_type == 1);
    CHECK(read_header(packed).header.dims == extents{2, 300});
    CHECK(read_header(packed).header.data_type == 7);
    CHECK(read_header(mixed).header.dims == extents{4, 2, 300, 5});
    const auto negative = test::message().number(1, ~std::uint64_t{0}).text(8, "w");
    CHECK(read_header(negative).header.dims == extents{-1});
}

TEST_CASE("read_tensor_header: reads the location of external data") {
    const auto tensor = test::message()
                            .text(8, "w")
                            .number(14, 1)
                            .inner(13, test::entry("location", "weights.bin"))
                            .inner(13, test::entry("offset", "4096"))
                            .inner(13, test::entry("length", "128"))
                            .inner(13, test::entry("checksum", "x"));
    const read_header read(tensor);
    CHECK(read.header.external);
    CHECK(read.header.location == "weights.bin");
    CHECK(read.header.offset == 4096);
    CHECK(read.header.length == 128);
    CHECK_FALSE(read_header(test::tensor("w", {2}, "data")).header.external);
}

TEST_CASE("read_tensor_header: invalid numbers are beyond the end of any file") {
    for (const auto* number : {"-4", "99999999999999999999999", "x12", "12 ", ""}) {
        const auto tensor = test::message()
                                .text(8, "w")
                                .number(14, 1)
                                .inner(13, test::entry("offset", number))
                                .inner(13, test::entry("length", number));
        CHECK(read_header(tensor).header.offset == stemma::tensor_header::unreadable);
        CHECK(read_header(tensor).header.length == stemma::tensor_header::unreadable);
    }
}

} // namespace test::onnx_tensor_header
