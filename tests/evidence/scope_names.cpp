// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/scope_names.hpp>

#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../operator_scene.hpp"
#include "../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <vector>

namespace test::evidence_scope_names {

using stemma::id;
using stemma::no_id;
using stemma::scope_names;

namespace {

using context = stemma::evidence_context<test::operator_scene, stemma::module_tree>;

std::vector<stemma::claim> claims_of(const test::operator_scene& ops,
                                     const stemma::module_tree& tree, id v) {
    context facts(ops, tree);
    std::vector<stemma::claim> claims;
    scope_names{}.prepare(facts).for_each_claim(
        v, [&](const stemma::claim& one) { claims.push_back(one); });
    return claims;
}

} // namespace

TEST_CASE("scope_names: claim the module of the scope as the deepest") {
    test::operator_scene ops;
    const auto v = ops.add({}, "/enc/fc/MatMul", "MatMul");
    const auto root = ops.add({}, "/Add", "Add");
    const auto plain = ops.add({}, "plain", "Add");
    const auto tree = test::tree_of({"enc.fc"});
    const auto claims = claims_of(ops, tree, v);
    REQUIRE(claims.size() == 1);
    CHECK(tree.path(claims[0].module) == "enc.fc");
    CHECK(claims[0].source == stemma::provenance::scope);
    CHECK(claims[0].exact);
    CHECK(claims[0].call == 0);
    CHECK(claims[0].caller == no_id);
    REQUIRE(claims_of(ops, tree, root).size() == 1);
    CHECK(claims_of(ops, tree, root)[0].module == 0);
    CHECK(claims_of(ops, tree, plain).empty());
}

TEST_CASE("scope_names: claim nothing about scopes without a module in the tree") {
    test::operator_scene ops;
    const auto v = ops.add({}, "/elsewhere/fc/MatMul", "MatMul");
    CHECK(claims_of(ops, test::tree_of({"enc.norm"}), v).empty());
}

TEST_CASE("scope_names: leave names rewritten by optimizers to others") {
    test::operator_scene ops;
    const auto v = ops.add({}, "/enc/fc/MatMul/MatMulAddFusion", "Gemm");
    CHECK(claims_of(ops, test::tree_of({"enc.fc"}), v).empty());
}

TEST_CASE("scope_names: a module owned elsewhere comes with its caller") {
    stemma::module_tree_builder builder;
    builder.set_calls(builder.at_path("a"), 1);
    builder.set_calls(builder.at_path("b"), 1);
    builder.set_calls(builder.at_path("a.shared"), 2);
    const auto tree = builder.build();
    test::operator_scene ops;
    const auto own = ops.add({}, "/a/shared/Mul", "Mul");
    const auto lent = ops.add({}, "/b/shared/Mul", "Mul");
    REQUIRE(claims_of(ops, tree, lent).size() == 1);
    CHECK(tree.path(claims_of(ops, tree, lent)[0].module) == "a.shared");
    CHECK(claims_of(ops, tree, lent)[0].caller == test::module_at(tree, "b"));
    CHECK(claims_of(ops, tree, lent)[0].call == 1);
    CHECK(claims_of(ops, tree, own)[0].caller == no_id);
    CHECK(claims_of(ops, tree, own)[0].call == 0);
}

TEST_CASE("scope_names: names of calls are left to others") {
    auto model = test::model(test::graph({test::node("Act", {"x"}, {"y"}, "/enc/act/Act", "local"),
                                          test::node("Relu", {"y"}, {"z"}, "/enc/fc/Relu")},
                                         {"x"}, {"z"}));
    model.inner(8, test::opset("local", 1));
    model.inner(25,
                test::function("local", "Act", {"a"}, {"b"}, {test::node("Relu", {"a"}, {"b"})}));
    test::evidence_scene scene(model.bytes());
    CHECK(scene.claims<scope_names>("/enc/act/Act").empty());
    CHECK(scene.paths<scope_names>("/enc/fc/Relu") == std::vector<std::string>{"enc.fc"});
}

} // namespace test::evidence_scope_names
