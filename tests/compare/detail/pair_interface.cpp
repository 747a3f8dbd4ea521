// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/pair_interface.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <string>

namespace test::compare_detail_pair_interface {

namespace {

/// Returns: the inputs that correspond: `a=b c=d`.
std::string paired(const test::names& first, const test::names& second,
                   const test::names& weights = {}) {
    const auto model = [&](const test::names& inputs) {
        return test::model(test::graph({}, inputs, {}, weights)).bytes();
    };
    const auto from = model(first);
    const auto to = model(second);
    const stemma::wire_model a(from, "a");
    const stemma::wire_model b(to, "b");
    std::string text;
    for (const auto& [x, y] :
         stemma::detail::pair_interface(a, b, &stemma::onnx_model::graph_record::inputs)) {
        text.append(text.empty() ? "" : " ").append(a.value_name(x));
        text.append("=").append(b.value_name(y));
    }
    return text;
}

} // namespace

TEST_CASE("pair_interface: values correspond by name, others in their order") {
    CHECK(paired({"a", "b"}, {"a", "b"}) == "a=a b=b");
    CHECK(paired({"a", "b"}, {"b", "a"}) == "a=a b=b");
    CHECK(paired({"a", "b"}, {"c", "d"}) == "a=c b=d");
    CHECK(paired({"a", "b", "c"}, {"d", "a", "e"}) == "a=a b=d c=e");
    CHECK(paired({"a"}, {"b", "a"}) == "a=a");
    CHECK(paired({"a", "b"}, {"a"}) == "a=a");
    CHECK(paired({}, {"a"}).empty());
}

TEST_CASE("pair_interface: inputs that initializers provide do not count") {
    CHECK(paired({"w", "a"}, {"b", "w"}, {"w"}) == "a=b");
}

} // namespace test::compare_detail_pair_interface
