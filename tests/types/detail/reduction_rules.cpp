// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/reduction_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

namespace test::types_detail_reduction_rules {

TEST_CASE("reduction_rules: without axes, all are reduced or none", "[detail]") {
    const auto scene = test::inference_scene().input("x", {2, 3}).numbers("none", {});
    const auto drops = test::int_attribute("keepdims", 0);
    const auto noop = test::int_attribute("noop_with_empty_axes", 1);
    for (const test::names& inputs : {test::names{"x"}, {"x", ""}, {"x", "none"}}) {
        CHECK(test::inferred(scene, "ReduceSum", inputs, {drops}) == "float32[]");
        CHECK(test::inferred(scene, "ReduceSum", inputs, {drops, noop}) == "float32[2,3]");
        CHECK(test::inferred(scene, "ReduceMean", inputs, {noop}, 18) == "float32[2,3]");
    }
}

} // namespace test::types_detail_reduction_rules
