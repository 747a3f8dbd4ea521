// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/any_policy.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/tagging/tagger.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace test::tagging_any_policy {

using stemma::id;
using stemma::no_id;

namespace {

using any_selection = stemma::any_policy<stemma::selection_category, stemma::module_tree>;
using any_naming = stemma::any_policy<stemma::naming_category, stemma::module_tree>;
using any_evidence =
    stemma::any_policy<stemma::evidence_category, test::operator_scene, stemma::module_tree>;
using any_propagation = stemma::any_policy<stemma::propagation_category, test::operator_scene>;

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

/// Returns: all tags of the scene under some policies.
template <class... Ps>
std::vector<std::string> tags(const Ps&... chosen) {
    const scene s;
    const auto tagged = stemma::tag_operators(s.ops, s.tree, stemma::policies{chosen...});
    std::vector<std::string> texts;
    for (const auto& one : tagged.attributions) {
        texts.push_back(tagged.tags.text(one.module) + " " + std::string(to_string(one.source)));
    }
    return texts;
}

/// A policy of each role that holds a lambda with state, which can be copied but not assigned.
template <class Category, class Function>
struct holding : Function {
    using policy_category = Category;

    explicit holding(Function f) : Function(std::move(f)) {}

    [[nodiscard]] bool selects(const stemma::module_tree& modules, id m) const {
        return (*this)(modules, m);
    }
    void name_modules(const stemma::module_tree& modules, stemma::tag_table& table) const {
        (*this)(modules, table);
    }
    template <class Context>
    [[nodiscard]] auto prepare(Context& context) const {
        return (*this)(context);
    }
    [[nodiscard]] stemma::attribution resolve(const stemma::tree_index& modules,
                                              std::span<const stemma::claim> claims) const {
        return (*this)(modules, claims);
    }
    template <class Problem>
    void propagate(const Problem& problem, std::span<stemma::attribution> result) const {
        (*this)(problem, result);
    }
    [[nodiscard]] std::uint64_t cost(const stemma::operator_load& load) const {
        return (*this)(load);
    }
    [[nodiscard]] std::optional<stemma::severity> judge(const stemma::finding& finding) const {
        return (*this)(finding);
    }
};

template <class Category, class Function>
holding<Category, Function> holds(Function f) {
    return holding<Category, Function>(std::move(f));
}

} // namespace

TEST_CASE("any policies: model their role's concept", "[policy][any_policy]") {
    STATIC_REQUIRE(
        stemma::explain_policy<stemma::selection_category, any_selection, stemma::module_tree>());
    STATIC_REQUIRE(
        stemma::explain_policy<stemma::naming_category, any_naming, stemma::module_tree>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::evidence_category, any_evidence,
                                          test::operator_scene, stemma::module_tree>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::resolution_category,
                                          stemma::any_policy<stemma::resolution_category>>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::propagation_category, any_propagation,
                                          test::operator_scene>());
    STATIC_REQUIRE(
        stemma::explain_policy<stemma::cost_category, stemma::any_policy<stemma::cost_category>>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::diagnostics_category,
                                          stemma::any_policy<stemma::diagnostics_category>>());
}

// tests/compile_fail/any_policy.cpp has policies that lack something, and those of other roles.
TEST_CASE("any policies: hold only policies and functions", "[policy][any_policy]") {
    STATIC_REQUIRE_FALSE(std::is_constructible_v<any_selection, int>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<any_naming, int>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<any_evidence, int>);
    STATIC_REQUIRE_FALSE(
        std::is_constructible_v<stemma::any_policy<stemma::resolution_category>, int>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<any_propagation, int>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<stemma::any_policy<stemma::cost_category>, int>);
    STATIC_REQUIRE_FALSE(
        std::is_constructible_v<stemma::any_policy<stemma::diagnostics_category>, int>);
}

TEST_CASE("any policies: act as what they hold", "[policy][any_policy]") {
    CHECK(tags(any_selection(stemma::all_modules{})) == tags(stemma::all_modules{}));
    CHECK(tags(any_selection(stemma::all_modules{})) !=
          tags(any_selection(stemma::not_infrastructure{})));
    CHECK(tags(any_naming(stemma::module_paths{})) == tags(stemma::module_paths{}));
    CHECK(tags(any_naming(stemma::module_paths{})) != tags(any_naming(stemma::class_paths{})));
    CHECK(tags(any_evidence(stemma::scope_names{})) == tags(stemma::scope_names{}));
    CHECK(tags(stemma::any_policy<stemma::resolution_category>(stemma::by_trust{2})) ==
          tags(stemma::by_trust{2}));
    CHECK(tags(stemma::any_policy<stemma::resolution_category>(stemma::by_trust{2})) !=
          tags(stemma::any_policy<stemma::resolution_category>(stemma::by_trust{})));
    CHECK(tags(any_propagation(stemma::consumers_only{})) == tags(stemma::consumers_only{}));
    CHECK(tags(any_propagation(stemma::no_propagation{})) == tags(stemma::no_propagation{}));
    CHECK(tags(any_propagation(stemma::no_propagation{})) !=
          tags(any_propagation(stemma::both_sides{})));
    const stemma::operator_load load{1, 10, 40, 70};
    CHECK(stemma::any_policy<stemma::cost_category>(stemma::cost_in_bytes{}).cost(load) == 110);
    CHECK(stemma::any_policy<stemma::cost_category>(stemma::cost_in_parameters{}).cost(load) == 10);
    const stemma::finding finding{"a.code", no_id, "is odd"};
    CHECK(stemma::any_policy<stemma::diagnostics_category>(stemma::as_found{}).judge(finding) ==
          stemma::severity::warning);
    CHECK(stemma::any_policy<stemma::diagnostics_category>(stemma::errors_only{}).judge(finding) ==
          std::nullopt);
}

TEST_CASE("any policies: act as the default of their role while empty", "[policy][any_policy]") {
    CHECK(tags(any_selection(), any_naming(), stemma::any_policy<stemma::resolution_category>(),
               any_propagation()) == tags());
    const stemma::operator_load load{1, 10, 40, 70};
    CHECK(stemma::any_policy<stemma::cost_category>().cost(load) ==
          stemma::cost_in_bytes{}.cost(load));
    const stemma::finding finding{"a.code", no_id, "is odd"};
    CHECK(stemma::any_policy<stemma::diagnostics_category>().judge(finding) ==
          stemma::severity::warning);
    CHECK_FALSE(any_selection().is_chosen());
    CHECK(any_selection(stemma::not_infrastructure{}).is_chosen());
}

TEST_CASE("any policies: accept a function for a role with one question", "[policy][any_policy]") {
    const auto every = [](const stemma::module_tree&, id) { return true; };
    CHECK(tags(any_selection(every)) == tags(stemma::all_modules{}));
    const auto numbers = [](const stemma::module_tree&, stemma::tag_table& table) {
        for (id m = 0; m < table.size(); ++m) {
            if (table.is_selected(m)) {
                table.set_segment(m, std::to_string(m));
            }
        }
    };
    CHECK(tags(any_naming(numbers)).front() == "/0/2/3 scope");
    const auto nothing = [](const stemma::tree_index&, std::span<const stemma::claim>) {
        return stemma::attribution{};
    };
    CHECK(tags(stemma::any_policy<stemma::resolution_category>(nothing)) ==
          tags(stemma::by_trust{2}));
    CHECK(stemma::any_policy<stemma::cost_category>([](const stemma::operator_load&) {
              return 7U;
          }).cost({}) == 7);
    const auto deaf = [](const stemma::finding&) { return std::optional<stemma::severity>(); };
    CHECK(stemma::any_policy<stemma::diagnostics_category>(deaf).judge(
              {"a.code", no_id, "is odd"}) == std::nullopt);
}

TEST_CASE("any_resolution: ignores claims below the minimum confidence, whatever it holds",
          "[policy][any_policy]") {
    const stemma::tree_index modules({no_id, 0, 1, 1, 0, 4});
    const std::vector<stemma::claim> claims{{2, no_id, 0.6F, stemma::provenance::scope},
                                            {3, no_id, 0.9F, stemma::provenance::leftover}};
    const auto first = [](const stemma::tree_index&, std::span<const stemma::claim> all) {
        return stemma::attribution{all.front().module, no_id, 1, all.front().source, false};
    };
    for (stemma::any_policy<stemma::resolution_category> policy :
         {stemma::any_policy<stemma::resolution_category>(),
          stemma::any_policy<stemma::resolution_category>(stemma::by_trust{}),
          stemma::any_policy<stemma::resolution_category>(stemma::cautious{}),
          stemma::any_policy<stemma::resolution_category>(stemma::by_confidence{}),
          stemma::any_policy<stemma::resolution_category>(first)}) {
        policy.set_min_confidence(0.95F);
        CHECK(policy.resolve(modules, claims).module == no_id);
        policy.set_min_confidence(0.8F);
        CHECK(policy.resolve(modules, claims).module == 3);
    }
    CHECK(
        stemma::any_policy<stemma::resolution_category>(stemma::by_weight{0.5F}).min_confidence() ==
        0.5F);
}

TEST_CASE("any policies, policies: accept policies holding a lambda, which cannot be assigned",
          "[policy][any_policy]") {
    std::size_t deepest = 1;
    const auto selection =
        holds<stemma::selection_category>([deepest](const stemma::module_tree& modules, id m) {
            return modules.index().depth(m) <= deepest;
        });
    STATIC_REQUIRE_FALSE(std::is_copy_assignable_v<decltype(selection)>);
    CHECK(tags(selection) == tags(stemma::down_to_depth{1}));
    CHECK(tags(any_selection(selection)) == tags(selection));

    const stemma::module_paths by_path;
    const auto naming = holds<stemma::naming_category>(
        [by_path](const stemma::module_tree& modules, stemma::tag_table& table) {
            by_path.name_modules(modules, table);
        });
    CHECK(tags(naming) == tags(by_path));
    CHECK(tags(any_naming(naming)) == tags(naming));

    const stemma::scope_names by_scope;
    const auto evidence = holds<stemma::evidence_category>(
        [by_scope](auto& context) { return by_scope.prepare(context); });
    CHECK(tags(evidence) == tags(by_scope));
    CHECK(tags(any_evidence(evidence)) == tags(evidence));

    const stemma::by_trust trusting{2};
    const auto resolution = holds<stemma::resolution_category>(
        [trusting](const stemma::tree_index& modules, std::span<const stemma::claim> claims) {
            return trusting.resolve(modules, claims);
        });
    CHECK(tags(resolution) == tags(trusting));
    CHECK(tags(stemma::any_policy<stemma::resolution_category>(resolution)) == tags(resolution));

    const stemma::consumers_only by_readers;
    const auto propagation = holds<stemma::propagation_category>(
        [by_readers](const auto& problem, std::span<stemma::attribution> result) {
            by_readers.propagate(problem, result);
        });
    CHECK(tags(propagation) == tags(by_readers));
    CHECK(tags(any_propagation(propagation)) == tags(propagation));
    CHECK(tags(selection, naming, evidence, resolution, propagation) ==
          tags(stemma::down_to_depth{1}, by_path, by_scope, trusting, by_readers));

    std::uint64_t factor = 3;
    const auto cost = holds<stemma::cost_category>(
        [factor](const stemma::operator_load& load) { return factor * load.operators; });
    CHECK(stemma::any_policy<stemma::cost_category>(cost).cost({2, 10, 40, 70}) == 6);
    const auto least = stemma::severity::error;
    const auto diagnostics = holds<stemma::diagnostics_category>(
        [least](const stemma::finding&) { return std::optional(least); });
    CHECK(stemma::any_policy<stemma::diagnostics_category>(diagnostics)
              .judge({"a.code", no_id, "is odd"}) == least);
}

TEST_CASE("any policies: copies behave the same", "[policy][any_policy]") {
    any_propagation chosen(stemma::no_propagation{});
    const any_propagation copy = chosen;
    chosen = any_propagation(stemma::both_sides{});
    CHECK_FALSE(copy.propagates());
    CHECK(chosen.propagates());
}

} // namespace test::tagging_any_policy
