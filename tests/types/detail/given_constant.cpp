// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/given_constant.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <array>
#include <string_view>

namespace test::types_detail_given_constant {

namespace {

/// A node with one attribute that refers to one of the function around it.
test::message referring(const char* op, std::string_view name, std::string_view reference) {
    return test::node(op, {}, {"c"}, "", op == std::string_view("Constant") ? "" : "f")
        .inner(5, test::message().text(1, name).text(21, reference));
}

/// What a Constant in the inner function has in its call by the outer one, which the main graph
/// calls with an attribute `given`.
stemma::detail::tensor_facts constant(std::string_view kind, const test::message& given) {
    const test::built_model model(
        test::model(test::graph({test::node("Outer", {}, {"y"}, "", "f").inner(5, given)}))
            .inner(25, test::function("f", "Outer", {}, {"c"}, {referring("Inner", "a", "given")}))
            .inner(25,
                   test::function("f", "Inner", {}, {"c"}, {referring("Constant", kind, "a")})));
    const std::array<stemma::id, 2> calls{0, 1};
    return stemma::detail::given_constant(model, 2, calls);
}

} // namespace

TEST_CASE("given_constant: has the attribute that the calls around it give", "[given_constant]") {
    const auto tensor = constant(
        "value", test::message().text(1, "given").inner(5, test::whole_numbers("", {4, 5, 6})));
    CHECK(tensor.data_type == stemma::detail::int64_type);
    CHECK(tensor.dims == stemma::detail::extents{3});
    CHECK(tensor.numbers == stemma::detail::extents{4, 5, 6});
    const auto whole = constant("value_int", test::int_attribute("given", 7));
    CHECK(whole.dims == stemma::detail::extents{});
    CHECK(whole.numbers == stemma::detail::extents{7});
}

TEST_CASE("given_constant: has only its kind if no call gives the attribute", "[given_constant]") {
    const auto whole = constant("value_int", test::int_attribute("another", 7));
    CHECK(whole.dims == stemma::detail::extents{});
    CHECK_FALSE(whole.numbers);
    const auto tensor = constant("value", test::int_attribute("another", 7));
    CHECK(tensor.data_type == 0);
    CHECK_FALSE(tensor.ranked());
}

} // namespace test::types_detail_given_constant
