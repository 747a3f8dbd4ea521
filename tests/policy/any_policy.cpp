// SPDX-License-Identifier: Apache-2.0
#include <stemma/policy/any_policy.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/tagger.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace test::policy_any_policy {

using stemma::id;
using stemma::no_id;

namespace {

using any_selection = stemma::any_selection<stemma::module_tree>;
using any_naming = stemma::any_naming<stemma::module_tree>;
using any_evidence = stemma::any_evidence<test::operator_scene, stemma::module_tree>;
using any_propagation = stemma::any_propagation<test::operator_scene>;

struct scene {
    test::operator_scene ops;
    stemma::module_tree tree =
        test::tree_of({":zoo.Net", "layers:torch.nn.ModuleList", "layers.0:zoo.Layer",
                       "layers.0.fc:zoo.Fc", "layers.1:zoo.Layer", "head:zoo.Fc"});

    scene() {
        const auto first = ops.add({}, "/layers.0/fc/MatMul", "MatMul");
        const auto second = ops.add({first}, "", "Relu");
        const auto third = ops.add({first, second}, "/layers.1/Add", "Add");
        ops.add({third}, "/head/MatMul", "MatMul");
    }
};

/// Returns: all tags of the scene, found by some policies.
template <class... Ps>
std::vector<std::string> tags(const Ps&... chosen) {
    const scene s;
    const auto found = stemma::tag_operators(s.ops, s.tree, stemma::policies{chosen...});
    std::vector<std::string> texts;
    for (const auto& one : found.attributions) {
        texts.push_back(found.tags.text(one.module) + " " + std::string(to_string(one.source)));
    }
    return texts;
}

} // namespace

TEST_CASE("any policies: model the concept of their role", "[policy][any_policy]") {
    STATIC_REQUIRE(stemma::explain_selection_policy<any_selection, stemma::module_tree>());
    STATIC_REQUIRE(stemma::explain_naming_policy<any_naming, stemma::module_tree>());
    STATIC_REQUIRE(
        stemma::explain_evidence_policy<any_evidence, test::operator_scene, stemma::module_tree>());
    STATIC_REQUIRE(stemma::explain_resolution_policy<stemma::any_resolution>());
    STATIC_REQUIRE(stemma::explain_propagation_policy<any_propagation, test::operator_scene>());
    STATIC_REQUIRE(stemma::explain_cost_policy<stemma::any_cost>());
    STATIC_REQUIRE(stemma::explain_diagnostics_policy<stemma::any_diagnostics>());
}

TEST_CASE("any policies: hold nothing of another role", "[policy][any_policy]") {
    STATIC_REQUIRE_FALSE(std::is_constructible_v<any_selection, stemma::class_paths>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<any_naming, stemma::all_modules>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<any_evidence, stemma::by_trust>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<stemma::any_resolution, stemma::all_modules>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<any_propagation, stemma::by_trust>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<stemma::any_cost, stemma::as_found>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<stemma::any_diagnostics, stemma::cost_in_bytes>);
}

TEST_CASE("any policies: act as what they hold", "[policy][any_policy]") {
    CHECK(tags(any_selection(stemma::all_modules{})) == tags(stemma::all_modules{}));
    CHECK(tags(any_selection(stemma::all_modules{})) !=
          tags(any_selection(stemma::not_infrastructure{})));
    CHECK(tags(any_naming(stemma::attribute_paths{})) == tags(stemma::attribute_paths{}));
    CHECK(tags(any_naming(stemma::attribute_paths{})) != tags(any_naming(stemma::class_paths{})));
    CHECK(tags(any_evidence(stemma::scope_names{})) == tags(stemma::scope_names{}));
    CHECK(tags(stemma::any_resolution(stemma::by_trust{2})) == tags(stemma::by_trust{2}));
    CHECK(tags(stemma::any_resolution(stemma::by_trust{2})) !=
          tags(stemma::any_resolution(stemma::by_trust{})));
    CHECK(tags(any_propagation(stemma::consumers_only{})) == tags(stemma::consumers_only{}));
    CHECK(tags(any_propagation(stemma::no_propagation{})) == tags(stemma::no_propagation{}));
    CHECK(tags(any_propagation(stemma::no_propagation{})) !=
          tags(any_propagation(stemma::both_sides{})));
    const stemma::operator_load load{1, 10, 40, 70};
    CHECK(stemma::any_cost(stemma::cost_in_bytes{}).cost(load) == 110);
    CHECK(stemma::any_cost(stemma::cost_in_parameters{}).cost(load) == 10);
    const stemma::finding found{"a.code", no_id, "is odd"};
    CHECK(stemma::any_diagnostics(stemma::as_found{}).judge(found) == stemma::severity::warning);
    CHECK(stemma::any_diagnostics(stemma::errors_only{}).judge(found) == std::nullopt);
}

TEST_CASE("any policies: copies hold the same", "[policy][any_policy]") {
    any_propagation chosen(stemma::no_propagation{});
    const any_propagation copy = chosen;
    chosen = any_propagation(stemma::both_sides{});
    CHECK_FALSE(copy.propagates());
    CHECK(chosen.propagates());
}

} // namespace test::policy_any_policy
