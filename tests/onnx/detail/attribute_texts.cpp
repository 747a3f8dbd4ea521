// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/attribute_texts.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <string>

namespace test::onnx_detail_attribute_texts {

namespace {

stemma::detail::wire_reader reader(const std::string& bytes) {
    return {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "attribute"};
}

/// Returns: the content of a node's only attribute.
std::string content_of(const std::string& node) {
    stemma::detail::wire_field field;
    auto fields = reader(node);
    REQUIRE(fields.next(field));
    CHECK(field.is_bytes(stemma::detail::onnx_fields::node::attribute));
    CHECK(field.end == node.size());
    return std::string(fields.text(field));
}

std::string renamed(const std::string& bytes, const char* name) {
    stemma::detail::message_tree node;
    stemma::detail::append_renamed_attribute(node, reader(bytes), name);
    return content_of(node.text(bytes));
}

} // namespace

TEST_CASE("attribute_texts: a renamed attribute is otherwise unchanged, and can be renamed back") {
    for (const auto& attribute :
         {test::message().text(1, "value").number(3, 7).number(20, 2),
          test::message().number(20, 2).number(3, 7).text(1, "value"),
          test::message().number(3, 7).text(1, "value").text(99, "unknown").number(20, 2)}) {
        const auto bytes = attribute.bytes();
        const auto longer = renamed(bytes, "constant_0");
        CHECK(stemma::detail::read_attribute_names(reader(longer)).name == "constant_0");
        CHECK(longer.size() == bytes.size() + 5);
        CHECK(renamed(longer, "value") == bytes);
    }
}

TEST_CASE("attribute_texts: a reference has the name, the type, and no value") {
    const auto bytes = test::message().number(3, 7).number(20, 2).text(1, "value").bytes();
    stemma::detail::message_tree node;
    stemma::detail::append_attribute_reference(node, reader(bytes), "value", "of_call");
    const auto reference = content_of(node.text(bytes));
    CHECK(reference == test::message().text(1, "value").number(20, 2).text(21, "of_call").bytes());
    const auto names = stemma::detail::read_attribute_names(reader(reference));
    CHECK(names.name == "value");
    CHECK(names.reference == "of_call");
}

} // namespace test::onnx_detail_attribute_texts
