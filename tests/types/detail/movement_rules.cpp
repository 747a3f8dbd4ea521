// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/movement_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace test::types_detail_movement_rules {

namespace {

test::inference_scene scene() {
    return test::inference_scene()
        .input("x", {2, 3, 4})
        .input("i", {5}, 7)
        .numbers("zero", {0})
        .numbers("two", {1})
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

/// What Python's `range(extent)[start:end:step]` takes, by its definition: the elements on the way
/// from the start to before the end.
std::vector<std::int64_t> python_slice(std::int64_t start, std::int64_t end, std::int64_t step,
                                       std::int64_t extent) {
    start += start < 0 ? extent : 0;
    end += end < 0 ? extent : 0;
    std::vector<std::int64_t> positions;
    if (step < 0) {
        start = start >= extent ? extent - 1 : start;
    } else {
        start = start < 0 ? 0 : start;
    }
    for (auto at = start; step > 0 ? at < end : at > end; at += step) {
        if (at < 0 || at >= extent) {
            break;
        }
        positions.push_back(at);
    }
    return positions;
}

} // namespace

TEST_CASE("movement_rules: padding enlarges only padded axes") {
    constexpr auto below_zero = ~std::uint64_t{0}; // as files write -1
    const auto padded = [](const char* pads) {
        auto s = scene().input("u", {2, below_zero, 4});
        s.numbers("none", {0, 0, 0, 0, 0, 0}).numbers("one", {0, 0, 1, 0, 0, 2});
        s.numbers("all", {1, 1, 1, 1, 1, 1}).numbers("less", {0, 0, below_zero, 0, 0, 0});
        s.node(test::owner_node("Pad", {"u", pads}, {"y"}, {}));
        return s.type_of("y");
    };
    CHECK(padded("none") == "float32[2,?,4]");
    CHECK(padded("one") == "float32[2,?,7]");
    CHECK(padded("all") == "float32[4,?,6]");
    CHECK(padded("less") == "float32[2,?,3]");
    CHECK(padded("two") == "float32[?,?,?]"); // not as many as there should be
}

TEST_CASE("movement_rules: axes were attributes", "[detail]") {
    CHECK(test::inferred(scene(), "Unsqueeze", {"x"}, test::attributes("axes=[0]"), 11) ==
          "float32[1,2,3,4]");
}

TEST_CASE("movement_rules: an invalid axis or shape yields nothing", "[detail]") {
    CHECK(test::inferred(scene(), "Concat", {"x", "x"}, test::attributes("axis=9")).find("[2") ==
          std::string::npos);
    CHECK(test::inferred(scene(), "Transpose", {"x"}, test::attributes("perm=[0,9,9]"))
              .find("[2,3") == std::string::npos);
}

TEST_CASE("movement_rules: a slice has the extents given by its constants", "[detail]") {
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
    CHECK(test::inferred(s, "Slice", {"x"}, test::attributes("starts=[0,1] ends=[1,9] axes=[0,2]"),
                         9) == "float32[1,3,3]");
    s.node(test::node("Shape", {"x"}, {"shape"}));
    s.node(test::node("Slice", {"shape", "zero", "last", "zero"}, {"front"}));
    s.node(test::owner_node("Concat", {"front", "rest"}, {"target"}, test::attributes("axis=0")));
    CHECK(test::inferred(s, "Reshape", {"x", "target"}) == "float32[2,3,4]");
}

TEST_CASE("movement_rules: parts have the requested sizes, or equal ones", "[detail]") {
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

TEST_CASE("movement_rules: splitting a shape splits its numbers", "[detail]") {
    auto s = scene().numbers("sizes", {1, 2});
    s.node(test::node("Shape", {"x"}, {"shape"}));
    s.node(test::node("Split", {"shape", "sizes"}, {"front", "back"}));
    CHECK(test::inferred(s, "ConstantOfShape", {"front"}) == "float32[2]");
    CHECK(test::inferred(s, "ConstantOfShape", {"back"}) == "float32[3,4]");
}

TEST_CASE("find_slice_range: agrees with Python") {
    for (std::int64_t extent = 0; extent < 6; ++extent) {
        for (std::int64_t start = -8; start < 9; ++start) {
            for (std::int64_t end = -8; end < 9; ++end) {
                for (const std::int64_t step : {-7, -2, -1, 1, 2, 3, 7}) {
                    if (step < 0 && start + extent < 0) {
                        continue; // ONNX begins at the front there, Python takes nothing
                    }
                    CAPTURE(extent, start, end, step);
                    const auto range =
                        stemma::detail::rules::find_slice_range(start, end, step, extent);
                    REQUIRE(range);
                    const auto expected = python_slice(start, end, step, extent);
                    REQUIRE(range->count == static_cast<std::int64_t>(expected.size()));
                    for (std::size_t i = 0; i < expected.size(); ++i) {
                        CHECK(range->first + static_cast<std::int64_t>(i) * range->step ==
                              expected[i]);
                    }
                }
            }
        }
    }
}

TEST_CASE("find_slice_range: the largest numbers mean the ends") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    CHECK(stemma::detail::rules::find_slice_range(0, most, 1, 5)->count == 5);
    CHECK(stemma::detail::rules::find_slice_range(least, most, 1, 5)->count == 5);
    CHECK(stemma::detail::rules::find_slice_range(most, least, -1, 5)->count == 5);
    CHECK(stemma::detail::rules::find_slice_range(most, least, -1, 5)->first == 4);
    CHECK(stemma::detail::rules::find_slice_range(0, most, most, 5)->count == 1);
    CHECK(stemma::detail::rules::find_slice_range(most, least, least, 5)->count == 1);
    CHECK(stemma::detail::rules::find_slice_range(most, least, least, most)->count == 1);
    CHECK(stemma::detail::rules::find_slice_range(0, most, 1, most)->count == most);
}

TEST_CASE("find_slice_range: is unknown for an unknown extent or step") {
    CHECK_FALSE(stemma::detail::rules::find_slice_range(0, 2, 1, -1));
    CHECK_FALSE(stemma::detail::rules::find_slice_range(0, 2, 0, 5));
}

} // namespace test::types_detail_movement_rules
