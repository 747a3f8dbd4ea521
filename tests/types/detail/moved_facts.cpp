// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/moved_facts.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

namespace test::types_detail_moved_facts {

namespace {

test::inference_scene scene() {
    return test::inference_scene()
        .input("x", {2, 3, 4})
        .input("i", {5}, 7)
        .numbers("two", {1})
        .numbers("zero", {0});
}

} // namespace

TEST_CASE("moved_facts: shapes of what is moved", "[detail][moved_facts]") {
    CHECK(test::inferred(scene(), "Transpose", {"x"}, {test::ints_attribute("perm", {2, 0, 1})}) ==
          "float32[4,2,3]");
    CHECK(test::inferred(scene(), "Transpose", {"x"}) == "float32[4,3,2]");
    CHECK(test::inferred(scene(), "Flatten", {"x"}) == "float32[?,?]");
    CHECK(test::inferred(scene(), "Concat", {"x", "x"}, {test::int_attribute("axis", 1)}) ==
          "float32[2,6,4]");
    CHECK(test::inferred(scene(), "Gather", {"x", "i"}, {test::int_attribute("axis", 1)}) ==
          "float32[2,5,4]");
    CHECK(test::inferred(scene(), "Unsqueeze", {"x", "two"}) == "float32[2,1,3,4]");
    CHECK(test::inferred(scene(), "Unsqueeze", {"x"}, {test::ints_attribute("axes", {0})}, 11) ==
          "float32[1,2,3,4]");
    CHECK(test::inferred(test::inference_scene().input("x", {2, 1, 4}).numbers("one", {1}),
                         "Squeeze", {"x", "one"}) == "float32[2,4]");
    CHECK(test::inferred(scene(), "Shape", {"x"}) == "int64[3]");
}

TEST_CASE("moved_facts: a shape that is computed is followed", "[detail][moved_facts]") {
    auto s = scene().numbers("rest", {static_cast<std::uint64_t>(-1)});
    s.node(test::node("Shape", {"x"}, {"shape"}));
    s.node(
        test::owner_node("Gather", {"shape", "two"}, {"second"}, {test::int_attribute("axis", 0)}));
    s.node(test::owner_node("Concat", {"second", "rest"}, {"target"},
                            {test::int_attribute("axis", 0)}));
    CHECK(test::inferred(s, "Reshape", {"x", "target"}) == "float32[3,?]");
    CHECK(test::inferred(s, "ConstantOfShape", {"shape"}) == "float32[2,3,4]");
    CHECK(test::inferred(s, "Expand", {"two", "shape"}) == "int64[2,3,4]");
}

TEST_CASE("moved_facts: an axis or shape that does not fit says nothing wrong",
          "[detail][moved_facts]") {
    CHECK(test::inferred(scene(), "Concat", {"x", "x"}, {test::int_attribute("axis", 9)})
              .find("[2") == std::string::npos);
    CHECK(test::inferred(scene(), "Transpose", {"x"}, {test::ints_attribute("perm", {0, 9, 9})})
              .find("[2,3") == std::string::npos);
}

} // namespace test::types_detail_moved_facts
