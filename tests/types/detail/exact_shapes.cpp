// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/exact_shapes.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <cstdint>
#include <string>

namespace test::types_detail_exact_shapes {

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

TEST_CASE("exact_shapes: only quotients of whole numbers are rounded down", "[types]") {
    for (const std::uint64_t whole : {6U, 7U}) {
        CHECK(halved({"N", "5", "6"}, 1, whole) == "[floor(N/2),2,3]");
        CHECK(halved({"N", "5", "6"}, 4, whole) == "[2*N,10,12]");
    }
    for (const std::uint64_t real : {1U, 11U}) {
        CHECK(halved({"N", "5", "6"}, 1, real) == "[?,?,3]");
        CHECK(halved({"N", "5", "6"}, 4, real) == "[2*N,10,12]");
    }
}

TEST_CASE("exact_shapes: Where replaces what its condition looks for", "[types]") {
    CHECK(replaced({"0", "4"}, {0}, {3, 3}) == "[3,4]");
    CHECK(replaced({"0", "4"}, {4}, {3, 3}) == "[0,3]");
    CHECK(replaced({"0", "4"}, {4, 0}, {3, 3}) == "[0,4]");
    CHECK(replaced({"N", "4"}, {0}, {3, 3}) == "[?,4]");
    CHECK(replaced({"N", "4"}, {minus_one}, {3, 3}) == "[N,4]");
}

TEST_CASE("exact_shapes: Where knows what it is given, not what depends on data", "[types]") {
    const auto scene = test::inference_scene()
                           .open_input("x", {"N", "4"})
                           .input("sought", {2}, 7)
                           .numbers("others", {3, 3})
                           .node(test::node("Shape", {"x"}, {"shape"}))
                           .node(test::node("Equal", {"shape", "sought"}, {"found"}))
                           .node(test::node("Where", {"found", "others", "shape"}, {"asked"}));
    CHECK(filled(scene) == "[?,?]");
}

TEST_CASE("exact_shapes: a computed -1 stands for another extent", "[types]") {
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

TEST_CASE("exact_shapes: a -1 among computed extents stands for another, also if reshaped",
          "[types]") {
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

} // namespace test::types_detail_exact_shapes
