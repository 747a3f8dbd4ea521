// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/elementwise_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <cstdint>
#include <string>

namespace test::types_detail_elementwise_rules {

namespace {

constexpr auto minus_one = ~std::uint64_t{0};

/// Returns: the extents of a tensor filled with the shape `asked`.
std::string filled(test::inference_scene scene) {
    scene.node(test::node("ConstantOfShape", {"asked"}, {"y"}));
    return test::exact_extents(scene.model_with("y"), "y");
}

/// Returns: the same, where `asked` is the shape of x times `factor`, divided by two, all as
/// numbers of a type.
std::string halved(const test::names& x, std::uint64_t factor, std::uint64_t type) {
    auto scene = test::inference_scene()
                     .open_input("x", x)
                     .numbers("factor", {factor})
                     .numbers("two", {2})
                     .node(test::node("Shape", {"x"}, {"shape"}));
    const auto cast = [&](const char* from, const char* to, std::uint64_t as) {
        scene.node(test::owner_node("Cast", {from}, {to}, {test::int_attribute("to", as)}));
    };
    cast("shape", "a", type);
    cast("factor", "b", type);
    cast("two", "c", type);
    scene.node(test::node("Mul", {"a", "b"}, {"product"}));
    scene.node(test::node("Div", {"product", "c"}, {"half"}));
    cast("half", "asked", 7);
    return filled(scene);
}

/// Returns: the same, where `asked` is the shape of x with `others` in place of `sought`.
std::string replaced(const test::names& x, const test::dims& sought, const test::dims& others) {
    return filled(test::inference_scene()
                      .open_input("x", x)
                      .numbers("sought", sought)
                      .numbers("others", others)
                      .node(test::node("Shape", {"x"}, {"shape"}))
                      .node(test::node("Equal", {"shape", "sought"}, {"found"}))
                      .node(test::node("Where", {"found", "others", "shape"}, {"asked"})));
}

} // namespace

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

TEST_CASE("elementwise_rules: only quotients of whole numbers are rounded down", "[detail]") {
    for (const std::uint64_t whole : {6U, 7U}) {
        CHECK(halved({"N", "5", "6"}, 1, whole) == "[floor(N/2),2,3]");
        CHECK(halved({"N", "5", "6"}, 4, whole) == "[2*N,10,12]");
    }
    for (const std::uint64_t real : {1U, 11U}) {
        CHECK(halved({"N", "5", "6"}, 1, real) == "[?,?,3]");
        CHECK(halved({"N", "5", "6"}, 4, real) == "[2*N,10,12]");
    }
}

TEST_CASE("elementwise_rules: Where replaces what its condition looks for", "[detail]") {
    CHECK(replaced({"0", "4"}, {0}, {3, 3}) == "[3,4]");
    CHECK(replaced({"0", "4"}, {4}, {3, 3}) == "[0,3]");
    CHECK(replaced({"0", "4"}, {4, 0}, {3, 3}) == "[0,4]");
    CHECK(replaced({"N", "4"}, {0}, {3, 3}) == "[?,4]");
    CHECK(replaced({"N", "4"}, {minus_one}, {3, 3}) == "[N,4]");
}

TEST_CASE("elementwise_rules: Where knows what it is given, not what depends on data", "[detail]") {
    const auto scene = test::inference_scene()
                           .open_input("x", {"N", "4"})
                           .input("sought", {2}, 7)
                           .numbers("others", {3, 3})
                           .node(test::node("Shape", {"x"}, {"shape"}))
                           .node(test::node("Equal", {"shape", "sought"}, {"found"}))
                           .node(test::node("Where", {"found", "others", "shape"}, {"asked"}));
    CHECK(filled(scene) == "[?,?]");
}

TEST_CASE("elementwise_rules: a computed -1 stands for another extent", "[detail]") {
    // As PyTorch's exporter writes the shape for Expand.
    const auto one = test::message().text(1, "value").inner(5, test::whole_numbers("", {1}));
    const auto scene = test::inference_scene()
                           .numbers("given", {minus_one, 4})
                           .numbers("two", {2})
                           .numbers("minus_one", {minus_one})
                           .node(test::owner_node("ConstantOfShape", {"two"}, {"ones"}, {one}))
                           .node(test::node("Mul", {"ones", "minus_one"}, {"sought"}))
                           .node(test::node("Equal", {"given", "sought"}, {"found"}))
                           .node(test::node("Where", {"found", "ones", "given"}, {"asked"}));
    CHECK(filled(scene) == "[1,4]");
}

TEST_CASE("elementwise_rules: a -1 among computed extents stands for another, also if reshaped",
          "[detail]") {
    auto scene = test::inference_scene()
                     .open_input("x", {"N", "4"})
                     .numbers("first", {0})
                     .numbers("minus_one", {minus_one})
                     .numbers("ones", {1, 1})
                     .node(test::node("Shape", {"x"}, {"shape"}))
                     .node(test::node("Gather", {"shape", "first"}, {"batch"}))
                     .node(test::owner_node("Concat", {"batch", "minus_one"}, {"parts"},
                                            test::attributes("axis=0")))
                     .node(test::node("Reshape", {"parts", "minus_one"}, {"given"}));
    scene.node(test::node("Equal", {"given", "minus_one"}, {"found"}))
        .node(test::node("Where", {"found", "ones", "given"}, {"asked"}));
    CHECK(filled(scene) == "[N,1]");
}

} // namespace test::types_detail_elementwise_rules
