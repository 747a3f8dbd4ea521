// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/body_place.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::onnx_detail_body_place {

TEST_CASE("body_place: owner, attribute and index, whatever the order in the file") {
    const auto body = [](const char* attribute, const char* result) {
        return test::graph_attribute(
            attribute, test::graph({test::node("Relu", {"x"}, {result})}, {}, {result}));
    };
    const auto places = [&](const std::vector<test::message>& attributes) {
        const test::built_model model({test::owner_node("If", {"x"}, {"y"}, attributes)}, {"x"},
                                      {"y"});
        CHECK(model.graph_count() == 3);
        const auto owner = model.graph(1).owner;
        CHECK(stemma::detail::place_of_body(model, 1) != stemma::detail::place_of_body(model, 2));
        const auto is_then = [&](stemma::id g) {
            return stemma::detail::place_of_body(model, g) ==
                   stemma::detail::body_place(owner, "then_branch", 0);
        };
        return std::vector<bool>{is_then(1), is_then(2)};
    };
    CHECK(places({body("then_branch", "t"), body("else_branch", "e")}) ==
          std::vector<bool>{true, false});
    CHECK(places({body("else_branch", "e"), body("then_branch", "t")}) ==
          std::vector<bool>{false, true});
}

} // namespace test::onnx_detail_body_place
