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

test::message window(test::dims extents) {
    return test::ints_attribute("kernel_shape", extents);
}

} // namespace

TEST_CASE("window_rules: windows", "[detail]") {
    const auto scene = test::inference_scene().input("x", {1, 3, 8, 9}).weight("w", {6, 3, 3, 3});
    CHECK(test::inferred(scene, "Conv", {"x", "w"}) == "float32[1,6,6,7]");
    CHECK(test::inferred(scene, "Conv", {"x", "w"},
                         {test::ints_attribute("pads", {1, 1, 1, 1}),
                          test::ints_attribute("strides", {2, 2})}) == "float32[1,6,4,5]");
    CHECK(test::inferred(scene, "MaxPool", {"x"},
                         {test::ints_attribute("kernel_shape", {2, 2}),
                          test::ints_attribute("strides", {2, 2})}) == "float32[1,3,4,4]");
    CHECK(test::inferred(scene, "GlobalAveragePool", {"x"}) == "float32[1,3,1,1]");
}

TEST_CASE("window_rules: samples and boxes", "[detail]") {
    const auto scene = test::inference_scene().input("x", {1, 3, 8, 9}).input("g", {1, 5, 6, 2});
    CHECK(test::inferred(scene, "GridSample", {"x", "g"}, {}, 16) == "float32[1,3,5,6]");
    CHECK(test::inferred(scene, "NonMaxSuppression", {"x", "x"}) == "int64[?,3]");
}

TEST_CASE(
    "window_rules: windows over blocks of channels are windows, and their weights say how many "
    "channels there are",
    "[detail]") {
    const auto scene =
        test::inference_scene().input("x", {2, 16, 8, 9}).weight("w", {32, 16, 3, 3});
    CHECK(blocked(scene, "Conv", {"x", "w"}) == "float32[2,32,6,7]");
    CHECK(blocked(scene, "MaxPool", {"x"}, {window({2, 2})}) == "float32[2,16,7,8]");
    CHECK(blocked(scene, "AveragePool", {"x"}, {window({1, 3})}) == "float32[2,16,8,7]");
    CHECK(blocked(scene, "GlobalAveragePool", {"x"}) == "float32[2,16,1,1]");
    CHECK(blocked(scene, "GlobalMaxPool", {"x"}) == "float32[2,16,1,1]");
}

TEST_CASE(
    "window_rules: how many channels fill the blocks is not known, how many there are is said",
    "[detail]") {
    const auto scene = test::inference_scene().input("x", {2, 16, 8, 9});
    const auto channels = test::int_attribute("channels", 12);
    const auto last = test::int_attribute("channels_last", 1);
    CHECK(blocked(scene, "ReorderInput", {"x"}) == "float32[2,?,8,9]");
    CHECK(blocked(scene, "ReorderOutput", {"x"}, {channels}) == "float32[2,12,8,9]");
    CHECK(blocked(scene, "ReorderOutput", {"x"}) == "float32[2,?,8,9]");
    CHECK(blocked(scene, "ReorderInput", {"x"}, {last}) == "float32[2,?,?,?]");
    CHECK(blocked(scene, "ReorderOutput", {"x"}, {channels, last}) == "float32[2,?,?,12]");
}

TEST_CASE("window_rules: scales are whole numbers, one for each extent", "[detail]") {
    const auto scene = test::inference_scene().input("x", {2, 16, 8, 9});
    CHECK(blocked(scene, "Upsample", {"x"}, {test::ints_attribute("scales", {1, 1, 2, 3})}) ==
          "float32[2,16,16,27]");
    CHECK(blocked(scene, "Upsample", {"x"}, {test::ints_attribute("scales", {2, 2})}) ==
          "float32[?,?,?,?]");
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

} // namespace test::types_detail_window_rules
