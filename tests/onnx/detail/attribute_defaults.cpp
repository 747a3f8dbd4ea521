// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/attribute_defaults.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/detail/wire_reader.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace test::onnx_detail_attribute_defaults {

namespace {

bool says_nothing(std::string_view type, const test::message& attribute) {
    const auto bytes = attribute.bytes();
    return stemma::detail::is_default(
        type, {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "test"});
}

} // namespace

TEST_CASE("default_of: looks up a type and a name") {
    CHECK(stemma::detail::default_of("Gather", "axis") == "0");
    CHECK(stemma::detail::default_of("ReduceMax", "keepdims") == "1");
    CHECK(stemma::detail::default_of("LayerNormalization", "axis") == "-1");
    CHECK(stemma::detail::default_of("Concat", "axis").empty());
    CHECK(stemma::detail::default_of("Gather", "").empty());
    CHECK(stemma::detail::default_of(":", "axis").empty());
}

TEST_CASE("is_default: compares numbers and texts") {
    const auto whole = [](std::string_view name, std::uint64_t value) {
        return test::message().text(1, name).number(3, value).number(20, 2);
    };
    CHECK(says_nothing("Gather", whole("axis", 0)));
    CHECK(!says_nothing("Gather", whole("axis", 1)));
    CHECK(says_nothing("LayerNormalization", whole("axis", ~std::uint64_t{0})));
    CHECK(says_nothing("Conv", test::text_attribute("auto_pad", "NOTSET")));
    CHECK(!says_nothing("Conv", test::text_attribute("auto_pad", "VALID")));
    const auto one = test::message().text(1, "alpha").fixed32(2, std::string("\0\0\x80\x3f", 4));
    CHECK(says_nothing("Gemm", one));
    CHECK(!says_nothing("LeakyRelu", one));
    const auto wrong = test::message().text(1, "auto_pad").fixed32(2, std::string(4, '\0'));
    CHECK(!says_nothing("Conv", wrong)); // whose default is a text
}

TEST_CASE("default_attributes: tells operators and contents apart") {
    const auto bytes = test::message().text(1, "axis").number(3, 0).number(20, 2).bytes();
    const stemma::detail::wire_reader axis(bytes.data(), 0,
                                           static_cast<std::uint32_t>(bytes.size()), "test");
    stemma::detail::default_attributes defaults;
    for (int round = 0; round < 2; ++round) {
        CHECK(defaults.holds(0, "Gather", 5, axis));
        CHECK(!defaults.holds(1, "Concat", 5, axis));
    }
}

} // namespace test::onnx_detail_attribute_defaults
