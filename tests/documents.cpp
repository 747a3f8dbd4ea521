// SPDX-License-Identifier: Apache-2.0
// What documents show that is part of no example.
#include "catch.hpp"
#include "laws.hpp"
#include "operator_scene.hpp"

#include <stemma/core.hpp>

#include <span>
#include <vector>

namespace test::documents {

namespace {

struct my_propagation : stemma::consumers_only {};
using mine = my_propagation;

} // namespace

TEST_CASE("documents: what docs/policies.md shows does what it says") {
    test::operator_scene ops;
    const auto modules = test::tree_of({":zoo.Net", "first:zoo.Layer", "second:torch.nn.Linear"});
    const auto open = ops.add({}, "open", "Relu");
    const auto last = ops.add({open}, "/second/MatMul", "MatMul");
    ops.read_parameter(last, "second.weight");

    const auto found = stemma::tag_operators(
        ops, modules, stemma::policies{stemma::all_modules{}, my_propagation{}});
    CHECK(found.attributions[open].module == 2);
    CHECK(found.attributions[open].source == stemma::provenance::consumer);
    CHECK(found.selected(last) == 2);

    const std::vector<stemma::id> evidence{stemma::no_id, 2};
    CHECK(stemma::broken_propagation_laws(mine{}, ops, modules.index(), evidence).empty());
}

} // namespace test::documents
