// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/call_attributes.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/detail/splices.hpp>

#include <optional>
#include <string>
#include <vector>

namespace test::fold_detail_call_attributes {

namespace {

using test::message;

message reference(const char* name, const char* to) {
    return message().text(1, name).number(20, 3).text(21, to);
}

} // namespace

TEST_CASE("call_attributes: what refers to an attribute has the value of the call, at any depth") {
    const auto given = test::text_attribute("constant_1", "x");
    const auto bytes =
        test::model(
            test::graph({test::node("Outer", {"x"}, {"a"}).inner(5, given),
                         test::node("Inner", {"a"}, {"b"}).inner(5, reference("c", "constant_1")),
                         test::node("Constant", {}, {"y"})
                             .inner(5, reference("value_string", "c"))
                             .inner(5, reference("other", "nothing")),
                         test::node("Inner", {"b"}, {"z"}).inner(5, reference("c", "nowhere"))},
                        {"x"}, {"y"}))
            .bytes();
    const stemma::wire_model model(bytes, "model");
    stemma::call_attributes outer;
    stemma::call_attributes inner;
    REQUIRE(outer.read(model, 0, nullptr));
    REQUIRE(inner.read(model, 1, &outer));
    CHECK(!stemma::call_attributes().read(model, 3, &outer));

    std::vector<std::optional<std::string>> found;
    auto fields = model.reader(model.message(2));
    for (stemma::wire_field field; fields.next(field);) {
        if (const auto made = inner.given(model, fields, field)) {
            stemma::string_splice splice(bytes);
            made->write(splice);
            found.emplace_back(splice.text);
        }
    }
    REQUIRE(found.size() == 1); // the other one refers to nothing that is there
    CHECK(found[0] == test::text_attribute("value_string", "x").bytes());
}

} // namespace test::fold_detail_call_attributes
