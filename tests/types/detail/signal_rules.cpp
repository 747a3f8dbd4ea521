// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/signal_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <cstdint>
#include <vector>

namespace test::types_detail_signal_rules {

namespace {

test::inference_scene signals() {
    return test::inference_scene()
        .input("x", {2, 20, 1})
        .input("any", {1}, 7)
        .weight("w", {6})
        .numbers("step", {3})
        .numbers("length", {8})
        .numbers("axis", {1});
}

} // namespace

TEST_CASE("signal_rules: a short transform has frames of half as many frequencies and one",
          "[detail]") {
    const auto type_of = [](const test::names& inputs, bool onesided = true) {
        return test::inferred(signals(), "STFT", inputs,
                              onesided ? std::vector<test::message>()
                                       : test::attributes("onesided=0"));
    };
    CHECK(type_of({"x", "step", "", "length"}) == "float32[2,5,5,2]");
    CHECK(type_of({"x", "step", "", "length"}, false) == "float32[2,5,8,2]");
    CHECK(type_of({"x", "step", "w"}) == "float32[2,5,4,2]");
    CHECK(type_of({"x", "step"}) == "float32[2,1,11,2]");
    CHECK(type_of({"x", "any", "w"}) == "float32[2,?,4,2]");
    CHECK(type_of({"x", "step", "w", "any"}) == "float32[2,?,?,2]");
}

TEST_CASE("signal_rules: a transform makes complex numbers along its axis", "[detail]") {
    const auto type_of = [](const test::names& inputs, const std::vector<test::message>& attributes,
                            std::uint64_t opset = 17) {
        return test::inferred(signals(), "DFT", inputs, attributes, opset);
    };
    const auto onesided = test::int_attribute("onesided", 1);
    const auto inverse = test::int_attribute("inverse", 1);
    CHECK(type_of({"x"}, {}) == "float32[2,20,2]");
    CHECK(type_of({"x"}, {onesided}) == "float32[2,11,2]");
    CHECK(type_of({"x", "length"}, {onesided}) == "float32[2,5,2]");
    CHECK(type_of({"x", "any"}, {}) == "float32[2,?,2]");
    CHECK(type_of({"x"}, {onesided, test::int_attribute("axis", 0)}) == "float32[2,20,2]");
    CHECK(type_of({"x"}, {inverse}) == "float32[2,20,2]");
    CHECK(type_of({"x"}, {inverse, onesided}, 20) == "float32[2,?,?]");
    CHECK(type_of({"x", "length", "axis"}, {}, 20) == "float32[2,8,2]");
    CHECK(type_of({"x", "", "any"}, {}, 20) == "float32[?,?,2]");
}

TEST_CASE("signal_rules: windows and filter banks are as large as their inputs say", "[detail]") {
    CHECK(test::inferred(signals(), "HannWindow", {"length"}) == "float32[8]");
    CHECK(test::inferred(signals(), "BlackmanWindow", {"any"},
                         test::attributes("output_datatype=11")) == "float64[?]");
    CHECK(test::inferred(signals(), "MelWeightMatrix", {"step", "length", "any", "any", "any"}) ==
          "float32[5,3]");
}

} // namespace test::types_detail_signal_rules
