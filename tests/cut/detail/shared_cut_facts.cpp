// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/shared_cut_facts.hpp>

#include "../../catch.hpp"
#include "../../numerics_scene.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <string_view>
#include <vector>

namespace test::cut_detail_shared_cut_facts {

using stemma::dependence;

TEST_CASE("shared_cut_facts: given results count as data, except those of constants",
          "[cut][shared_cut_facts]") {
    const auto bytes = test::computed_weights(); // w, c, t, y
    const stemma::wire_model model(bytes, "weights.onnx");
    const auto depends_on = [&](std::string_view given) {
        const std::vector<bool> random(model.node_count(), false);
        return stemma::detail::shared_cut_facts(
                   model, random, [=](std::string_view name) { return name == given; })
            .depends_on;
    };
    const auto of = [](dependence w) {
        return std::vector<dependence>{w, dependence::constant, dependence::data, dependence::data};
    };
    CHECK(depends_on("w") == of(dependence::data));
    CHECK(depends_on("c") == of(dependence::weight));
    CHECK(depends_on("other") == of(dependence::weight));
    CHECK(stemma::detail::shared_cut_facts(model, {true, false, false, false}, {}).depends_on ==
          of(dependence::data));
}

} // namespace test::cut_detail_shared_cut_facts
