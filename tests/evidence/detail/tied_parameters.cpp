// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/tied_parameters.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_tree_builder.hpp>

namespace test::evidence_detail_tied_parameters {

using stemma::id;

TEST_CASE("tied_parameters: readers of the first one's type speak for the owner in the name") {
    stemma::module_tree_builder builder;
    builder.at_path("embed");
    builder.at_path("head");
    builder.add_shared_parameters({"embed.weight", "head.weight"});
    const auto tree = builder.build();
    test::operator_scene ops;
    const auto first = ops.add({}, "", "Gather");
    const auto again = ops.add({}, "", "Gather");
    const auto other = ops.add({first, again}, "", "MatMul");
    for (auto v : {first, again, other}) {
        ops.read_parameter(v, "embed.weight");
    }
    const auto owners = stemma::detail::find_parameter_owners(ops, tree);
    const stemma::detail::tied_parameters<test::operator_scene> tied(ops, owners);
    for (auto v : {first, again}) {
        CHECK(tied.favours(v, 0, 0));
        CHECK_FALSE(tied.favours(v, 0, 1));
    }
    CHECK_FALSE(tied.favours(other, 0, 0));
    CHECK(tied.favours(other, 0, 1));
}

TEST_CASE("tied_parameters: the only owner of a parameter is always favoured") {
    const auto tree = test::tree_of({"fc"});
    test::operator_scene ops;
    const auto first = ops.add({}, "", "MatMul");
    const auto other = ops.add({first}, "", "Add");
    ops.read_parameter(first, "fc.weight");
    ops.read_parameter(other, "fc.weight");
    const auto owners = stemma::detail::find_parameter_owners(ops, tree);
    const stemma::detail::tied_parameters<test::operator_scene> tied(ops, owners);
    CHECK(tied.favours(first, 0, 0));
    CHECK(tied.favours(other, 0, 0));
}

} // namespace test::evidence_detail_tied_parameters
