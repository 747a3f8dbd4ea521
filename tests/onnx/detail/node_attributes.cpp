// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/node_attributes.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::onnx_detail_node_attributes {

using numbers = std::vector<std::int64_t>;

namespace {

/// The attributes of a model's only node.
struct scene {
    explicit scene(const std::vector<test::message>& attributes)
        : bytes(bytes_of(attributes)), model(bytes), of(model, 0) {}

    static std::string bytes_of(const std::vector<test::message>& attributes) {
        auto node = test::node("Any", {"x"}, {"y"});
        for (const auto& attribute : attributes) {
            node.inner(5, attribute);
        }
        return test::model(test::graph({node}, {"x"}, {"y"})).bytes();
    }

    std::string bytes;
    stemma::wire_model model;
    stemma::detail::node_attributes of;
};

test::message named(const char* name) {
    return test::message().text(1, name);
}

/// The value of a tensor attribute.
stemma::detail::whole_numbers tensor_read(const test::message& tensor) {
    const scene s({named("value").inner(5, tensor)});
    const auto numbers = s.of.tensor("value");
    REQUIRE(numbers);
    return *numbers;
}

std::string little_endian(const numbers& values, int width) {
    std::string raw;
    for (auto value : values) {
        for (int byte = 0; byte < width; ++byte) {
            raw.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * byte)));
        }
    }
    return raw;
}

} // namespace

TEST_CASE("node_attributes: reads numbers and texts by name") {
    const std::string one("\0\0\x80\x3f", 4); // 1.0
    const scene s({named("axis").number(3, ~std::uint64_t{0}).number(20, 2),
                   test::text_attribute("mode", "edge"),
                   named("perm").number(8, 1).number(8, 0).packed(8, {2, 3}).number(20, 7),
                   named("empty").number(20, 7),
                   named("scales").fixed32(7, one).text(7, one + one).number(20, 6)});
    CHECK(s.of.whole("axis") == -1);
    CHECK_FALSE(s.of.whole("gone"));
    CHECK_FALSE(s.of.whole("mode"));
    CHECK(s.of.text("mode") == "edge");
    CHECK(s.of.text("gone").empty());
    CHECK(s.of.wholes("perm") == numbers{1, 0, 2, 3});
    CHECK(s.of.wholes("empty") == numbers{});
    CHECK_FALSE(s.of.wholes("gone"));
    CHECK(s.of.reals("scales") == std::vector<float>{1, 1, 1});
    CHECK_FALSE(s.of.reals("gone"));
    CHECK_FALSE(s.of.tensor("axis"));
}

TEST_CASE("node_attributes: lists all in order") {
    const scene s({named("b").number(3, 1), named("a").number(3, 2)});
    std::vector<std::string> names;
    s.of.for_each(
        [&](std::string_view name, stemma::detail::wire_reader) { names.emplace_back(name); });
    CHECK(names == std::vector<std::string>{"b", "a"});
}

TEST_CASE("node_attributes: know whether one refers to the function's") {
    CHECK_FALSE(scene({named("axis").number(3, 1)}).of.has_reference());
    CHECK_FALSE(scene({named("axis").text(21, "")}).of.has_reference());
    CHECK(scene({named("a").number(3, 1), named("axis").text(21, "axis")}).of.has_reference());
}

TEST_CASE("read_whole_numbers: reads raw data of every width") {
    for (const auto& [type, width] : {std::pair(7, 8), std::pair(6, 4)}) {
        const auto read = tensor_read(test::message()
                                          .number(1, 3)
                                          .number(2, static_cast<std::uint64_t>(type))
                                          .text(9, little_endian({1, -2, 300}, width)));
        CHECK(read.known);
        CHECK(read.values == numbers{1, -2, 300});
        CHECK(read.dims == numbers{3});
        CHECK(read.data_type == type);
    }
    CHECK(tensor_read(test::message().number(1, 2).number(2, 9).text(9, std::string("\1\0", 2)))
              .values == numbers{1, 0});
}

TEST_CASE("read_whole_numbers: reads typed fields, and scalars") {
    CHECK(tensor_read(test::message().number(1, 2).number(2, 7).packed(7, {5, 6})).values ==
          numbers{5, 6});
    CHECK(tensor_read(test::message().number(1, 1).number(2, 6).number(5, 9)).values == numbers{9});
    const auto scalar = tensor_read(test::message().number(2, 7).number(7, 4));
    CHECK(scalar.known);
    CHECK(scalar.values == numbers{4});
}

TEST_CASE("read_whole_numbers: missing data are unknown") {
    const auto unknown = [](const test::message& tensor) {
        const auto read = tensor_read(tensor);
        CHECK_FALSE(read.known);
        CHECK(read.values.empty());
    };
    unknown(test::message().number(1, 1).number(2, 1).text(9, "four"));                // floats
    unknown(test::message().number(1, 2).number(2, 7).text(9, little_endian({1}, 8))); // too few
    unknown(test::message().number(1, 2).number(2, 7).packed(7, {1, 2, 3}));           // too many
    unknown(test::message().number(1, 65).number(2, 7));                               // large
    unknown(test::message().number(1, ~std::uint64_t{0}).number(2, 7));                // negative
    unknown(test::message().number(1, 1).number(2, 7).number(14, 1).number(7, 1));     // elsewhere
}

TEST_CASE("read_whole_numbers: reads type and extents even if values are not read") {
    const auto read = tensor_read(test::message().packed(1, {1000, 1000}).number(2, 7));
    CHECK(read.dims == numbers{1000, 1000});
    CHECK(read.data_type == 7);
}

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

} // namespace test::onnx_detail_node_attributes
