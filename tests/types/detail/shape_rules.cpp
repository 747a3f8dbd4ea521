// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/shape_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <cstdint>

namespace test::types_detail_shape_rules {

namespace {

test::inference_scene scene() {
    return test::inference_scene()
        .input("x", {2, 3, 4})
        .input("i", {5}, 7)
        .numbers("two", {1})
        .numbers("zero", {0});
}

} // namespace

TEST_CASE("shape_rules: a shape that is computed is followed", "[detail]") {
    auto s = scene().numbers("rest", {static_cast<std::uint64_t>(-1)});
    s.node(test::node("Shape", {"x"}, {"shape"}));
    s.node(test::owner_node("Gather", {"shape", "two"}, {"second"}, test::attributes("axis=0")));
    s.node(test::owner_node("Concat", {"second", "rest"}, {"target"}, test::attributes("axis=0")));
    CHECK(test::inferred(s, "Reshape", {"x", "target"}) == "float32[3,8]");
    CHECK(test::inferred(s, "ConstantOfShape", {"shape"}) == "float32[2,3,4]");
    CHECK(test::inferred(s, "Expand", {"two", "shape"}) == "int64[2,3,4]");
}

TEST_CASE("shape_rules: a Constant is known from any of its attributes", "[detail]") {
    const auto expanded = [](const test::message& attribute) {
        auto s = scene();
        s.node(test::owner_node("Constant", {}, {"c"}, {attribute}));
        s.node(test::owner_node("Concat", {"zero", "c"}, {"all"}, test::attributes("axis=0")));
        return test::inferred(s, "ConstantOfShape", {"all"});
    };
    CHECK(expanded(test::ints_attribute("value_ints", {4, 5})) == "float32[0,4,5]");
    auto s = scene();
    s.node(test::owner_node("Constant", {}, {"c"}, test::attributes("value_int=4")));
    s.node(test::node("Unsqueeze", {"c", "zero"}, {"all"}));
    CHECK(test::inferred(s, "ConstantOfShape", {"all"}) == "float32[4]");
    const auto sparse = test::sparse_tensor("").number(3, 6).number(3, 7);
    CHECK(test::inferred(scene(), "Constant", {},
                         {test::message().text(1, "sparse_value").inner(22, sparse)}) ==
          "float32[6,7]");
}

TEST_CASE("shape_rules: a zero copies the extent of the input, unless zeros are allowed",
          "[detail]") {
    auto s = test::inference_scene()
                 .open_input("x", {"B", "S", "8"})
                 .open_input("u", {"B", "0"})
                 .numbers("zero", {0})
                 .numbers("heads", {4, 2})
                 .numbers("literal", {0, 5});
    s.node(test::owner_node("Concat", {"zero", "zero", "heads"}, {"computed"},
                            test::attributes("axis=0")));
    const auto allowed = test::int_attribute("allowzero", 1);
    CHECK(test::inferred(s, "Reshape", {"x", "computed"}) == "float32[B,S,4,2]");
    CHECK(test::inferred(s, "Reshape", {"ghost", "computed"}).empty());
    CHECK(test::inferred(s, "Reshape", {"x", "computed"}, {allowed}) == "float32[0,0,4,2]");
    CHECK(test::inferred(s, "Reshape", {"u", "literal"}) == "float32[B,5]");
    CHECK(test::inferred(s, "Reshape", {"u", "literal"}, {allowed}) == "float32[0,5]");
}

} // namespace test::types_detail_shape_rules
