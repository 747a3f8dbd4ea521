// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/module_exits.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/detail/functional_units.hpp>

#include <vector>

namespace test::evidence_detail_module_exits {

using stemma::no_id;

TEST_CASE("module_exits: finds what others read; fused operators belong to each module") {
    test::operator_scene ops;
    const auto fused = ops.add({}, "", "Conv");
    ops.read_parameter(fused, "a.conv.weight");
    ops.read_parameter(fused, "a.norm.bias");
    const auto inner = ops.add({fused});
    const auto b = ops.add({inner}, "", "Conv");
    ops.read_parameter(b, "b.weight");
    const auto both = ops.add({inner, b});
    const auto tree = test::tree_of({"a.conv", "a.norm", "b", "c"});
    const auto at = [&](const char* path) { return test::module_at(tree, path); };
    const auto owners = stemma::detail::find_parameter_owners(ops, tree);
    const std::vector<bool> none(ops.size(), false);
    const stemma::detail::functional_units<test::operator_scene> units(ops, none, none);
    const std::vector placed{at("a"), at("a"), at("b"), no_id};
    const stemma::detail::module_exits<test::operator_scene> exits(ops, tree.index(), owners, units,
                                                                   placed);
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
    const stemma::detail::module_exits<test::operator_scene> several(ops, tree.index(), owners,
                                                                     units, all_in_a);
    CHECK(several.has_any(at("a")));
    CHECK(several.only(at("a")) == no_id);
}

} // namespace test::evidence_detail_module_exits
