// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/attribute_texts.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/detail/splices.hpp>

#include <string>

namespace test::onnx_detail_attribute_texts {

namespace {

stemma::wire_reader reader(const std::string& bytes) {
    return {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "attribute"};
}

std::string renamed(const std::string& bytes, const char* name) {
    stemma::string_splice splice(bytes);
    stemma::renamed_attribute(reader(bytes), name).write(splice);
    return splice.text;
}

} // namespace

TEST_CASE(
    "attribute_texts: a renamed attribute has all else where it stood, and can be named back") {
    for (const auto& attribute :
         {test::message().text(1, "value").number(3, 7).number(20, 2),
          test::message().number(20, 2).number(3, 7).text(1, "value"),
          test::message().number(3, 7).text(1, "value").text(99, "unknown").number(20, 2)}) {
        const auto bytes = attribute.bytes();
        const auto made = renamed(bytes, "constant_0");
        CHECK(stemma::read_attribute_names(reader(made)).name == "constant_0");
        CHECK(made.size() == bytes.size() + 5);
        CHECK(renamed(made, "value") == bytes);
    }
}

TEST_CASE("attribute_texts: a reference has the name, the type, and no value") {
    const auto bytes = test::message().number(3, 7).number(20, 2).text(1, "value").bytes();
    const auto made = stemma::attribute_reference(reader(bytes), "value", "of_call");
    CHECK(made == test::message().text(1, "value").number(20, 2).text(21, "of_call").bytes());
    const auto names = stemma::read_attribute_names(reader(made));
    CHECK(names.name == "value");
    CHECK(names.reference == "of_call");
}

} // namespace test::onnx_detail_attribute_texts
