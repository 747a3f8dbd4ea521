// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/part_facts.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <cstdint>
#include <string>

namespace test::types_detail_part_facts {

namespace {

test::inference_scene scene() {
    return test::inference_scene()
        .input("x", {2, 3, 4})
        .numbers("zero", {0})
        .numbers("1", {1})
        .numbers("2", {2});
}

/// Returns: the types of the parts into which `x` is split.
std::string split(test::inference_scene s, const test::names& inputs, std::size_t count,
                  const std::vector<test::message>& attributes, std::uint64_t opset = 17) {
    test::names outputs;
    for (std::size_t i = 0; i < count; ++i) {
        outputs.push_back("y" + std::to_string(i));
    }
    s.node(test::owner_node("Split", inputs, outputs, attributes));
    std::string types;
    for (const auto& output : outputs) {
        types.append(s.type_of(output, opset)).append(" ");
    }
    return types;
}

} // namespace

TEST_CASE("part_facts: a slice has the extents that its constants tell", "[detail][part_facts]") {
    auto s = scene()
                 .numbers("last", {static_cast<std::uint64_t>(-1)})
                 .numbers("rest", {static_cast<std::uint64_t>(-1)})
                 .input("open", {1}, 7);
    CHECK(test::inferred(s, "Slice", {"x", "zero", "2"}) == "float32[2,3,4]");
    CHECK(test::inferred(s, "Slice", {"x", "zero", "last", "2"}) == "float32[2,3,3]");
    CHECK(test::inferred(s, "Slice", {"x", "1", "last", "2", "2"}) == "float32[2,3,1]");
    CHECK(test::inferred(s, "Slice", {"x", "open", "last", "2"}) == "float32[2,3,?]");
    CHECK(test::inferred(s, "Slice", {"x", "zero", "last", "open"}) == "float32[?,?,?]");
    CHECK(test::inferred(s, "Slice", {"x", "zero", "last", "2", "open"}) == "float32[2,3,?]");
    CHECK(
        test::inferred(s, "Slice", {"x"},
                       {test::ints_attribute("starts", {0, 1}),
                        test::ints_attribute("ends", {1, 9}), test::ints_attribute("axes", {0, 2})},
                       9) == "float32[1,3,3]");
    s.node(test::node("Shape", {"x"}, {"shape"}));
    s.node(test::node("Slice", {"shape", "zero", "last", "zero"}, {"front"}));
    s.node(test::owner_node("Concat", {"front", "rest"}, {"target"},
                            {test::int_attribute("axis", 0)}));
    CHECK(test::inferred(s, "Reshape", {"x", "target"}) == "float32[2,3,?]");
}

TEST_CASE("part_facts: parts have the sizes that are asked for, or equal ones",
          "[detail][part_facts]") {
    const auto axis = test::int_attribute("axis", 2);
    const auto s = scene().numbers("sizes", {1, 3}).input("open", {2}, 7);
    CHECK(split(s, {"x", "sizes"}, 2, {axis}) == "float32[2,3,1] float32[2,3,3] ");
    CHECK(split(s, {"x"}, 2, {axis, test::ints_attribute("split", {3, 1})}, 11) ==
          "float32[2,3,3] float32[2,3,1] ");
    CHECK(split(s, {"x"}, 2, {axis}) == "float32[2,3,2] float32[2,3,2] ");
    CHECK(split(s, {"x"}, 3, {axis}, 18) == "float32[2,3,2] float32[2,3,2] float32[2,3,0] ");
    CHECK(split(s, {"x", "open"}, 2, {axis}) == "float32[2,3,?] float32[2,3,?] ");
    CHECK(split(s, {"x", "sizes"}, 3, {axis}) == "float32[2,3,?] float32[2,3,?] float32[2,3,?] ");
}

TEST_CASE("part_facts: the numbers of a shape are split with it", "[detail][part_facts]") {
    auto s = scene().numbers("sizes", {1, 2});
    s.node(test::node("Shape", {"x"}, {"shape"}));
    s.node(test::node("Split", {"shape", "sizes"}, {"front", "back"}));
    CHECK(test::inferred(s, "ConstantOfShape", {"front"}) == "float32[2]");
    CHECK(test::inferred(s, "ConstantOfShape", {"back"}) == "float32[3,4]");
}

} // namespace test::types_detail_part_facts
