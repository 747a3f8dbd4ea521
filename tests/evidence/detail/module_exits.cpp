// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/module_exits.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::evidence_detail_module_exits {

using stemma::no_id;

TEST_CASE("module_exits: finds what others read; fused operators belong to each module") {
    test::region_scene scene;
    scene.others = {"a.conv", "a.norm", "b", "c"};
    const auto fused = scene.add({}, "", "Conv");
    scene.ops.read_parameter(fused, "a.conv.weight");
    scene.ops.read_parameter(fused, "a.norm.bias");
    const auto inner = scene.add({fused});
    const auto b = scene.add({inner}, "b", "Conv");
    const auto both = scene.add({inner, b});
    const test::region_knowledge known(scene);
    const auto at = [&](const char* path) { return known.at(path); };
    const std::vector placed{at("a"), at("a"), at("b"), no_id};
    const stemma::detail::module_exits exits(known.facts, placed);
    CHECK(exits.only(at("a")) == inner);
    CHECK(exits.only(at("a.conv")) == fused);
    CHECK(exits.only(at("a.norm")) == fused);
    CHECK(exits.only(at("b")) == b);
    CHECK_FALSE(exits.has_any(at("c")));
    CHECK(exits.is_in(fused, at("a.norm")));
    CHECK_FALSE(exits.is_in(both, at("a")));
    CHECK(exits.leads_to(fused, at("a")));
    CHECK_FALSE(exits.leads_to(inner, at("b")));

    const std::vector all_in_a{at("a"), at("a"), at("a"), no_id};
    const stemma::detail::module_exits several(known.facts, all_in_a);
    CHECK(several.has_any(at("a")));
    CHECK(several.only(at("a")) == no_id);
}

} // namespace test::evidence_detail_module_exits
