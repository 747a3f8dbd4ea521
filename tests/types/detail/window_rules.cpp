// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/window_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <string>
#include <vector>

namespace test::types_detail_window_rules {

namespace {

std::string blocked(const test::inference_scene& scene, const char* op, const test::names& inputs,
                    const std::vector<test::message>& attributes = {},
                    const char* domain = "com.microsoft.nchwc") {
    return test::inferred_in(domain, scene, op, inputs, attributes);
}

} // namespace

TEST_CASE("window_rules: windows rounded up begin in the image or in its left padding",
          "[detail]") {
    const auto scene = test::inference_scene().input("x", {1, 3, 8, 9});
    const auto rounded_up = [&](const test::dims& kernel, const test::dims& pads) {
        return test::inferred(
            scene, "MaxPool", {"x"},
            {test::int_attribute("ceil_mode", 1), test::ints_attribute("kernel_shape", kernel),
             test::ints_attribute("pads", pads), test::ints_attribute("strides", {2, 2})});
    };
    CHECK(rounded_up({2, 2}, {0, 0, 0, 0}) == "float32[1,3,4,5]");
    CHECK(rounded_up({2, 2}, {0, 1, 1, 1}) == "float32[1,3,4,5]"); // not in the right padding
}

TEST_CASE("window_rules: a transposed convolution undoes a convolution", "[detail]") {
    const auto scene = test::inference_scene().input("x", {1, 4, 8, 9}).weight("w", {4, 3, 3, 3});
    CHECK(test::inferred(
              scene, "ConvTranspose", {"x", "w"},
              test::attributes("strides=[2,2] group=2 pads=[1,1,1,1] output_padding=[1,0]")) ==
          "float32[1,6,16,17]");
    CHECK(test::inferred(scene, "ConvTranspose", {"x", "w"},
                         test::attributes("output_shape=[20,21]")) == "float32[1,3,20,21]");
}

TEST_CASE("window_rules: constant sizes or scales say how large an image becomes", "[detail]") {
    const auto scene = test::inference_scene()
                           .input("x", {1, 3, 8, 9})
                           .floats("none", {})
                           .floats("scales", {1, 1, 2.5F, 0.5F})
                           .floats("others", {1, 1, 2, 3})
                           .floats("two", {2, 0.3F})
                           .numbers("sizes", {1, 3, 5, 7});
    CHECK(test::inferred(scene, "Resize", {"x", "scales"}, {}, 10) == "float32[1,3,20,4]");
    CHECK(test::inferred(scene, "Resize", {"x", "none", "others"}) == "float32[1,3,16,27]");
    CHECK(test::inferred(scene, "Upsample", {"x", "others"}, {}, 9) == "float32[1,3,16,27]");
    CHECK(test::inferred(scene, "Upsample", {"x"},
                         {test::floats_attribute("scales", {1, 1, 2, 1.5F})},
                         7) == "float32[1,3,16,13]");
    CHECK(test::inferred(scene, "Resize", {"x", "", "", "sizes"}) == "float32[1,3,5,7]");
    auto joined = test::inference_scene()
                      .input("x", {1, 3, 8, 9})
                      .floats("image", {2, 3})
                      .floats("rest", {1, 1});
    joined.node(test::node("Identity", {"image"}, {"same"}))
        .node(test::node("Concat", {"rest", "same"}, {"four"}))
        .node(test::node("Identity", {"four"}, {"scales"}));
    CHECK(test::inferred(joined, "Resize", {"x", "", "scales"}) == "float32[1,3,16,27]");
    auto converted = test::inference_scene().input("x", {30, 10}).halves("by", {0x3e00, 0x3800});
    converted.node(test::node("Cast", {"by"}, {"scales"}));
    CHECK(test::inferred(converted, "Resize", {"x", "", "scales"}) == "float32[45,5]");
    // In float, as in runtimes: 10 * 0.7 is 7.
    auto rounded = test::inference_scene().input("x", {30, 10}).floats("by", {1.3F, 0.7F});
    CHECK(test::inferred(rounded, "Resize", {"x", "", "by"}) == "float32[39,7]");
    CHECK(test::inferred(scene, "Resize", {"x", "", "two"}, test::attributes("axes=[2,3]"), 18) ==
          "float32[1,3,16,2]");
    CHECK(test::inferred(scene, "Resize", {"x", "", "", "sizes"},
                         test::attributes("keep_aspect_ratio_policy='not_larger'"),
                         18) == "float32[?,?,?,?]");
    const auto crop = test::text_attribute("coordinate_transformation_mode", "tf_crop_and_resize");
    CHECK(test::inferred(scene, "Resize", {"x", "none", "others"}, {crop}) == "float32[?,?,?,?]");
    CHECK(test::inferred(scene, "Resize", {"x", "none", "", "sizes"}, {crop}) ==
          "float32[1,3,5,7]");
    // Only the scales tell these apart.
    auto both = scene;
    both.node(test::owner_node("Resize", {"x", "", "scales"}, {"z"}, {}));
    CHECK(test::inferred(both, "Resize", {"x", "", "others"}) == "float32[1,3,16,27]");
}

TEST_CASE("window_rules: blocks move between channels and the image", "[detail]") {
    const auto scene = test::inference_scene().input("x", {1, 12, 8, 6});
    const auto two = test::int_attribute("blocksize", 2);
    CHECK(test::inferred(scene, "DepthToSpace", {"x"}, {two}) == "float32[1,3,16,12]");
    CHECK(test::inferred(scene, "SpaceToDepth", {"x"}, {two}) == "float32[1,48,4,3]");
}

TEST_CASE(
    "window_rules: nothing is said of others, of such names elsewhere, nor of tensors without "
    "channels",
    "[detail]") {
    const auto scene = test::inference_scene().input("x", {2, 16, 8, 9}).input("v", {3});
    CHECK(blocked(scene, "Relu", {"x"}).empty());
    CHECK(blocked(scene, "ReorderInput", {"x"}, {}, "own").empty());
    CHECK(blocked(scene, "ReorderInput", {"v"}).empty());
}

TEST_CASE("window_rules: a grid has a place per place of the image", "[detail]") {
    const auto scene = test::inference_scene()
                           .input("t", {2, 2, 3})
                           .numbers("flat", {2, 3, 8, 9})
                           .numbers("deep", {2, 3, 5, 8, 9});
    CHECK(test::inferred(scene, "AffineGrid", {"t", "flat"}) == "float32[2,8,9,2]");
    CHECK(test::inferred(scene, "AffineGrid", {"t", "deep"}) == "float32[2,5,8,9,3]");
}

TEST_CASE("window_rules: columns become an image with fewer channels", "[detail]") {
    const auto scene = test::inference_scene()
                           .input("x", {1, 12, 15})
                           .input("any", {2}, 7)
                           .numbers("image", {5, 6})
                           .numbers("block", {2, 3});
    CHECK(test::inferred(scene, "Col2Im", {"x", "image", "block"}) == "float32[1,2,5,6]");
    CHECK(test::inferred(scene, "Col2Im", {"x", "image", "any"}) == "float32[1,?,5,6]");
    CHECK(test::inferred(scene, "Col2Im", {"x", "any", "block"}) == "float32[1,2,?,?]");
}

} // namespace test::types_detail_window_rules
