// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/elementwise_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <vector>

namespace test::types_detail_elementwise_rules {

TEST_CASE("elementwise_rules: types and extents of elementwise operators", "[detail]") {
    const auto scene = test::inference_scene()
                           .input("x", {2, 3})
                           .input("b", {3})
                           .input("i", {3}, 7)
                           .input("c", {2, 1}, 9);
    CHECK(test::inferred(scene, "Relu", {"x"}) == "float32[2,3]");
    CHECK(test::inferred(scene, "Add", {"x", "b"}) == "float32[2,3]");
    CHECK(test::inferred(scene, "Less", {"x", "b"}) == "bool[2,3]");
    CHECK(test::inferred(scene, "IsNaN", {"x"}) == "bool[2,3]");
    CHECK(test::inferred(scene, "Where", {"c", "b", "b"}) == "float32[2,3]");
    CHECK(test::inferred(scene, "Cast", {"x"}, test::attributes("to=7")) == "int64[2,3]");
    CHECK(test::inferred(scene, "CastLike", {"x", "i"}) == "int64[2,3]");
}

TEST_CASE("elementwise_rules: old operators fit the second input to the first", "[detail]") {
    const auto scene = test::inference_scene().open_input("x", {"N", "3", "H"}).input("b", {3});
    const auto fits = test::attributes("broadcast=1 axis=1");
    CHECK(test::inferred(scene, "Add", {"x", "b"}, fits, 6) == "float32[N,3,H]");
    CHECK(test::inferred(scene, "Less", {"x", "b"}, fits, 6) == "bool[N,3,H]");
    CHECK(test::inferred(scene, "Add", {"x", "b"}, {}, 7) == "float32[N,3,3]");
}

TEST_CASE("elementwise_rules: numbers stay in a cast as far as the type holds them", "[detail]") {
    const auto cast_shape = [](std::uint64_t to) {
        auto scene = test::inference_scene().open_input("x", {"N", "300", "0", "4", "70000"});
        scene.node(test::node("Shape", {"x"}, {"shape"}));
        scene.node(test::owner_node("Cast", {"shape"}, {"cast"}, {test::int_attribute("to", to)}));
        scene.node(test::owner_node("Cast", {"cast"}, {"back"}, test::attributes("to=7")));
        return test::inferred(scene, "ConstantOfShape", {"back"});
    };
    CHECK(cast_shape(9) == "float32[?,1,0,1,1]");    // bool
    CHECK(cast_shape(3) == "float32[?,?,0,4,?]");    // int8
    CHECK(cast_shape(10) == "float32[?,300,0,4,?]"); // float16
    CHECK(cast_shape(8) == "float32[?,?,0,?,?]");    // string
    for (const std::uint64_t wide : {1U, 6U, 7U, 11U, 12U, 13U}) {
        CHECK(cast_shape(wide) == "float32[N,300,0,4,70000]");
    }
}

TEST_CASE("elementwise_rules: sums and products of shapes are shapes", "[detail]") {
    auto scene = test::inference_scene().input("x", {24}).numbers("a", {2, 3}).numbers("b", {1, 4});
    scene.node(test::node("Mul", {"a", "b"}, {"shape"}));
    CHECK(test::inferred(scene, "Reshape", {"x", "shape"}) == "float32[2,12]");
}

} // namespace test::types_detail_elementwise_rules
