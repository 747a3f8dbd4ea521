// SPDX-License-Identifier: Apache-2.0
#include <stemma/policy/named_policies.hpp>

#include "../catch.hpp"

#include <stemma/algorithm/name_modules.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/operator_graph.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace test::policy_named_policies {

using stemma::id;
using stemma::no_id;
using stemma::parse_carriers;
using stemma::parse_propagation;
using stemma::parse_selection;
using stemma::split_list;

namespace {

stemma::module_tree net() {
    stemma::module_tree_builder builder("net");
    builder.set_class(0, "Net", "mine.Net");
    builder.set_class(builder.at_path("a"), "Linear", "torch.nn.Linear");
    builder.set_class(builder.at_path("a.b"), "Block", "mine.Block");
    builder.set_class(builder.at_path("c"), "LayerNorm", "torch.nn.LayerNorm");
    return builder.build();
}

template <class Policy>
std::vector<bool> selected(const Policy& policy) {
    const auto tree = net();
    std::vector<bool> result;
    for (id m = 0; m < tree.size(); ++m) {
        result.push_back(policy.selects(tree, m));
    }
    return result;
}

template <class Policy>
void check_selection(const char* text, const Policy& policy) {
    const auto named = parse_selection(text);
    REQUIRE(named);
    CHECK(std::holds_alternative<Policy>(named->chosen));
    CHECK(selected(*named) == selected(policy));
}

struct plain_operators {
    using graph_type = stemma::operator_graph;

    stemma::operator_graph wires;

    [[nodiscard]] const stemma::operator_graph& graph() const { return wires; }
};

/// Returns: what becomes of a small graph with a skip connection.
template <class Policy>
std::vector<id> propagated(const Policy& policy) {
    const std::vector<stemma::operator_edge> edges{{0, 1}, {1, 2}, {2, 3}, {0, 3},
                                                   {3, 4}, {4, 5}, {5, 6}, {6, 7}};
    const plain_operators ops{stemma::operator_graph(8, edges)};
    const stemma::tree_index modules({no_id, 0, 1, 1, 0, 4});
    const std::vector<id> evidence{5, 2, 3, no_id, no_id, no_id, 5, no_id};
    const stemma::sweep_order order(ops.graph());
    std::vector<stemma::attribution> result(evidence.size());
    policy.propagate(stemma::propagation_problem<plain_operators>{ops, modules, order, evidence},
                     result);
    std::vector<id> found;
    for (const auto& one : result) {
        found.push_back(one.module);
    }
    return found;
}

template <class Policy>
void check_propagation(const char* text, const Policy& policy) {
    const auto named = parse_propagation(text);
    REQUIRE(named);
    CHECK(std::holds_alternative<Policy>(named->chosen));
    CHECK(propagated(*named) == propagated(policy));
}

} // namespace

TEST_CASE("named_selection: acts as the policy of its name", "[policy][named_policies]") {
    STATIC_REQUIRE(stemma::selection_policy<stemma::named_selection, stemma::module_tree>);
    check_selection("", stemma::not_infrastructure{});
    check_selection("default", stemma::not_infrastructure{});
    check_selection("all", stemma::all_modules{});
    check_selection("package:torch.nn", stemma::in_packages{{"torch.nn"}});
    check_selection("package:mine,torch", stemma::in_packages{{"mine", "torch"}});
    check_selection("class:L*,Block", stemma::of_classes{{"L*", "Block"}});
    check_selection("depth:0", stemma::down_to_depth{0});
    check_selection("depth:1", stemma::down_to_depth{1});
}

TEST_CASE("parse_selection: refuses what means nothing", "[policy][named_policies]") {
    for (const auto* text :
         {"everything", "All", "all:", "default:x", "package", "package:", "package:,", "class",
          "class:", "class:,,", "depth", "depth:", "depth:x", "depth:1x", "depth:-1", "depth:1 ",
          "depth:99999999999"}) {
        INFO(text);
        CHECK_FALSE(parse_selection(text));
    }
}

TEST_CASE("named_propagation: acts as the policy of its name", "[policy][named_policies]") {
    STATIC_REQUIRE(stemma::propagation_policy<stemma::named_propagation, plain_operators>);
    check_propagation("", stemma::both_sides{});
    check_propagation("default", stemma::both_sides{});
    check_propagation("residual", stemma::residual_aware{});
    check_propagation("consumers", stemma::consumers_only{});
    check_propagation("producers", stemma::producers_only{});
    check_propagation("nearest", stemma::nearest_evidence{});
    check_propagation("off", stemma::no_propagation{});
    for (const auto* text : {"on", "Default", "none", "residual "}) {
        CHECK_FALSE(parse_propagation(text));
    }
}

TEST_CASE("named_naming: acts as the policy of its name", "[policy][named_policies]") {
    STATIC_REQUIRE(stemma::naming_policy<stemma::named_naming, stemma::module_tree>);
    const auto tag = [](const auto& policy) {
        const auto tree = net();
        return stemma::name_modules(tree, stemma::all_modules{}, policy).text(2);
    };
    for (const auto* text : {"", "default"}) {
        CHECK(tag(*stemma::parse_naming(text)) == tag(stemma::class_paths{}));
    }
    CHECK(tag(*stemma::parse_naming("attribute-paths")) == tag(stemma::attribute_paths{}));
    CHECK(tag(*stemma::parse_naming("attributes-and-classes")) ==
          tag(stemma::attributes_and_classes{}));
    CHECK(tag(stemma::attribute_paths{}) != tag(stemma::class_paths{}));
    CHECK_FALSE(stemma::parse_naming("class_paths"));
}

TEST_CASE("named_resolution: acts as the policy of its name", "[policy][named_policies]") {
    STATIC_REQUIRE(stemma::resolution_policy<stemma::named_resolution>);
    const stemma::tree_index modules({no_id, 0, 1, 1, 0, 4});
    const std::vector<stemma::claim> claims{{2, no_id, 0.6F, stemma::provenance::scope},
                                            {3, no_id, 0.9F, stemma::provenance::leftover}};
    const auto module = [&](const auto& policy) { return policy.resolve(modules, claims).module; };
    CHECK(module(*stemma::parse_resolution("")) == 3);
    CHECK(module(*stemma::parse_resolution("default")) == 3);
    CHECK(module(*stemma::parse_resolution("trust")) == 2);
    CHECK(module(*stemma::parse_resolution("cautious")) == 1);
    CHECK(module(*stemma::parse_resolution("confidence")) == 3);
    for (const auto* name : {"default", "trust", "cautious", "confidence"}) {
        CHECK(module(*stemma::parse_resolution(name, 0.95F)) == no_id);
        CHECK(module(*stemma::parse_resolution(name, 0.8F)) == 3);
    }
    CHECK_FALSE(stemma::parse_resolution("distrust"));
}

TEST_CASE("named_diagnostics: acts as the policy of its name", "[policy][named_policies]") {
    STATIC_REQUIRE(stemma::diagnostics_policy<stemma::named_diagnostics>);
    const stemma::finding found{"a.code", no_id, "is odd"};
    const auto level = [&](const char* text) {
        return stemma::parse_diagnostics(text)->judge(found);
    };
    CHECK(level("") == stemma::severity::warning);
    CHECK(level("default") == stemma::severity::warning);
    CHECK(level("strict") == stemma::severity::error);
    CHECK(level("errors") == std::nullopt);
    CHECK(level("without:b.*,a.*") == std::nullopt);
    CHECK(level("without:b.*") == stemma::severity::warning);
    for (const auto* text : {"none", "without", "without:", "without:,"}) {
        CHECK_FALSE(stemma::parse_diagnostics(text));
    }
}

TEST_CASE("parse_carriers: names the carriers of a set", "[policy][named_policies]") {
    CHECK(parse_carriers("metadata") == stemma::carrier_set{});
    CHECK(parse_carriers("attribute,doc-string") ==
          stemma::carrier_set{false, true, true, false, false});
    CHECK(parse_carriers("model,namespace,metadata,model") ==
          stemma::carrier_set{true, false, false, true, true});
    for (const auto* text : {"", ",", "metadata,other", "Metadata", "doc_string"}) {
        CHECK_FALSE(parse_carriers(text));
    }
}

TEST_CASE("split_list: leaves out empty parts", "[policy][named_policies]") {
    using parts = std::vector<std::string>;
    CHECK(split_list("").empty());
    CHECK(split_list(",,").empty());
    CHECK(split_list("a") == parts{"a"});
    CHECK(split_list(",a,,b,") == parts{"a", "b"});
    CHECK(split_list("a b, c") == parts{"a b", " c"});
}

} // namespace test::policy_named_policies
