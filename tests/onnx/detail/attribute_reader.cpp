// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/attribute_reader.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_detail_attribute_reader {

using stemma::detail::attribute_reader;

namespace {

/// The bytes of an attribute, and what reads them.
struct read {
    explicit read(const test::message& attribute)
        : bytes(attribute.bytes())
        , of({bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "test"}) {}
    read(const read&) = delete;
    read& operator=(const read&) = delete;

    std::string bytes;
    attribute_reader of;
};

test::message named(std::string_view name, unsigned type) {
    return test::message().text(1, name).number(20, type);
}

std::string float_bytes(float number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
}

} // namespace

TEST_CASE("attribute_reader: reads name, type and value") {
    CHECK(read(named("axis", 2).number(3, ~std::uint64_t{0})).of.name() == "axis");
    CHECK(read(named("axis", 2).number(3, ~std::uint64_t{0})).of.whole() == -1);
    CHECK(read(named("alpha", 1).fixed32(2, float_bytes(0.5F))).of.real() == 0.5F);
    const std::string bytes("S\0E", 3);
    CHECK(read(named("mode", 3).text(4, bytes)).of.text() == bytes);
    CHECK(read(named("pads", 7).number(8, 1).text(8, std::string("\x02\x80\x01", 3))).of.wholes() ==
          std::vector<std::int64_t>{1, 2, 128});
    CHECK(read(named("scales", 6)
                   .fixed32(7, float_bytes(1))
                   .text(7, float_bytes(2) + float_bytes(0.25F)))
              .of.reals() == std::vector<float>{1, 2, 0.25F});
    CHECK(read(named("acts", 8).text(9, "Tanh").text(9, "")).of.texts() ==
          std::vector<std::string_view>{"Tanh", ""});
}

TEST_CASE("attribute_reader: a value that is 0 or empty need not be written") {
    CHECK(read(named("axis", 2)).of.whole() == 0);
    CHECK(read(named("alpha", 1)).of.real() == 0.0F);
    CHECK(read(named("mode", 3)).of.text() == "");
    CHECK(read(named("pads", 7)).of.wholes().empty());
}

TEST_CASE("attribute_reader: a value of another type is none, as is one of the outer function") {
    const read axis(named("axis", 2).number(3, 4));
    CHECK(axis.of.real() == std::nullopt);
    CHECK(axis.of.text() == std::nullopt);
    CHECK(axis.of.wholes().empty());
    CHECK(axis.of.reference().empty());
    const read passed(named("axis", 2).number(3, 4).text(21, "outer"));
    CHECK(passed.of.type() == "int");
    CHECK(passed.of.reference() == "outer");
    CHECK(passed.of.whole() == std::nullopt);
}

TEST_CASE("attribute_reader: a type that is not written follows from the value") {
    const std::vector<std::pair<unsigned, std::string_view>> fields{
        {4, "string"}, {5, "tensor"},  {6, "graph"},          {7, "floats"},
        {8, "ints"},   {9, "strings"}, {10, "tensors"},       {11, "graphs"},
        {14, "type"},  {15, "types"},  {22, "sparse_tensor"}, {23, "sparse_tensors"}};
    for (const auto& [field, type] : fields) {
        CAPTURE(field);
        CHECK(read(test::message().text(1, "a").text(field, "")).of.type() == type);
    }
    CHECK(read(test::message().number(3, 5)).of.type() == "int");
    CHECK(read(test::message().number(3, 5)).of.whole() == 5);
    CHECK(read(test::message().fixed32(2, float_bytes(1))).of.type() == "float");
    CHECK(read(test::message().text(13, "documentation")).of.type().empty());
    CHECK(read(named("a", 99)).of.type().empty());
}

TEST_CASE("attribute_reader: bytes that are no message are an error") {
    const std::string cut("\x0a\x7f", 2);
    CHECK_THROWS_AS(attribute_reader({cut.data(), 0, 2, "test"}), stemma::error);
}

} // namespace test::onnx_detail_attribute_reader
