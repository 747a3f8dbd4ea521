// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/attribute_values.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/detail/tensor_content.hpp>

#include <string>

namespace test::onnx_detail_attribute_values {

namespace {

/// Returns: name and value of a node's attribute as one text, with the data of tensors.
std::string text_of(const test::message& attribute) {
    const test::built_model model({test::owner_node("Op", {"x"}, {"y"}, {attribute})}, {"x"},
                                  {"y"});
    stemma::detail::tensor_content_reader tensors(model);
    std::string text;
    auto fields = model.reader(model.message(0));
    for (stemma::detail::wire_field field; fields.next(field);) {
        if (field.is_bytes(5)) {
            const auto value = stemma::detail::read_attribute_value(fields.inner(field), tensors);
            text.append(value.name).append("=").append(value.text);
            for (const auto& tensor : value.tensors) {
                text.append("<").append(tensor.bytes_or_place()).append(">");
            }
        }
    }
    return text;
}

} // namespace

TEST_CASE("read_attribute_value: packed numbers are like others") {
    const auto list = [] { return test::message().text(1, "a").number(20, 7); };
    CHECK(text_of(list().number(8, 1).number(8, 300)) == text_of(list().packed(8, {1, 300})));
    CHECK(text_of(list().number(8, 1).number(8, 300)) != text_of(list().packed(8, {300, 1})));
    CHECK(text_of(list().fixed32(7, "abcd").fixed32(7, "efgh")) ==
          text_of(list().text(7, "abcdefgh")));
}

TEST_CASE("read_attribute_value: tensors are their data") {
    const auto with = [](const test::message& tensor) {
        return text_of(test::message().text(1, "a").inner(5, tensor));
    };
    CHECK(with(test::tensor("t", {1}, "abcd")) == "a=<abcd>");
    CHECK(with(test::message().number(1, 1).number(2, 1).fixed32(4, "abcd")) == "a=<abcd>");
    const auto external = test::message()
                              .number(1, 1)
                              .number(2, 1)
                              .inner(13, test::entry("location", "no such file"))
                              .number(14, 1);
    CHECK(with(external) == "a=<no such file@0+0>");
}

TEST_CASE("read_attribute_value: documentation, type and bodies are left out, other fields not") {
    const auto plain = test::text_attribute("a", "1");
    CHECK(text_of(plain) == text_of(test::message(plain).text(13, "documented")));
    CHECK(text_of(plain) == text_of(test::message().text(1, "a").text(4, "1")));
    CHECK(text_of(test::graph_attribute("a", test::graph())) == "a=");
    CHECK(text_of(test::message().text(1, "a").text(21, "ref")) !=
          text_of(test::message().text(1, "a").text(21, "other")));
}

} // namespace test::onnx_detail_attribute_values
