// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/body_formals.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <string>

namespace test::types_detail_body_formals {

namespace {

/// Returns: a Loop, whose state starts as float32[5,4] and is declared like that inside.
std::string loop(const test::message& state) {
    auto body =
        test::graph({test::node("Relu", {"s"}, {"r"}), test::node("Identity", {"c"}, {"d"})});
    body.inner(12, test::message().text(1, "d")).inner(12, test::message().text(1, "r"));
    body.inner(11, test::typed_value("i", {}, 7)).inner(11, test::typed_value("c", {}, 9));
    body.inner(11, state);
    return test::inference_scene()
        .input("n", {}, 7)
        .input("go", {}, 9)
        .input("x", {5, 4})
        .node(test::owner_node("Loop", {"n", "go", "x"}, {"y"},
                               {test::graph_attribute("body", body)}))
        .model_with("y");
}

} // namespace

TEST_CASE("body_formals: states have the extents they start with where no number is declared") {
    for (const auto& state :
         {test::message().text(1, "s"), test::named_value("s", {"rows", "4"}),
          test::named_value("s", {"rows", "columns"}), test::typed_value("s", {5, 4})}) {
        for (const auto* name : {"s", "r", "y"}) {
            CHECK(test::exact_extents(loop(state), name) == "[5,4]");
        }
    }
    CHECK(test::exact_extents(loop(test::named_value("s", {"rows", "3"})), "s") == "[5,3]");
}

} // namespace test::types_detail_body_formals
