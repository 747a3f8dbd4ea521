// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/policy_registry.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace test::tagging_policy_registry {

using stemma::id;

namespace {

using registry = stemma::policy_registry<test::operator_scene, stemma::module_tree>;

/// Modules with at least that many below them.
struct with_children {
    using policy_category = stemma::selection_category;

    id least = 1;

    [[nodiscard]] bool selects(const stemma::module_tree& modules, id m) const {
        id children = 0;
        for (id other = 1; other < modules.size(); ++other) {
            children += modules.index().parent(other) == m ? 1U : 0U;
        }
        return children >= least;
    }
};

std::optional<with_children> parse(std::string_view text) {
    with_children policy;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), policy.least);
    return read.ptr == text.data() + text.size() && !text.empty() ? std::optional(policy)
                                                                  : std::nullopt;
}

template <class Policy>
std::string selected(const Policy& policy) {
    const auto tree = test::tree_of({":zoo.Net", "layers:torch.nn.ModuleList", "layers.0:zoo.Layer",
                                     "layers.1:zoo.Layer", "head:zoo.Fc"});
    std::string text;
    for (id m = 0; m < tree.size(); ++m) {
        text += policy.selects(tree, m) ? 'x' : '-';
    }
    return text;
}

} // namespace

TEST_CASE("policy_registry: starts with the built-in policies", "[policy][policy_registry]") {
    const registry policies;
    CHECK(policies.selections.names() == "default, all, package:P, class:GLOB, depth:N");
    CHECK(policies.propagations.names() == "default, residual, consumers, producers, nearest, off");
    CHECK(policies.sources.names().empty());
    for (const std::string text : {"", "default", "all", "package:zoo", "class:L*,Fc", "depth:1"}) {
        INFO(text);
        const auto selection = policies.selections.find(text);
        REQUIRE(selection);
        CHECK(selection->name() == text);
        CHECK(selection->is_chosen() == !text.empty());
    }
    CHECK(selected(*policies.selections.find("")) == selected(stemma::not_infrastructure{}));
    CHECK(selected(*policies.selections.find("all")) == selected(stemma::all_modules{}));
    CHECK(selected(*policies.selections.find("package:zoo")) ==
          selected(stemma::in_packages{{"zoo"}}));
    CHECK(selected(*policies.selections.find("class:L*,Fc")) ==
          selected(stemma::of_classes{{"L*", "Fc"}}));
    CHECK(selected(*policies.selections.find("depth:1")) == selected(stemma::down_to_depth{1}));
    for (const auto* text :
         {"everything", "All", "all:", "all:x", "default:x", "package", "package:", "package:,",
          "class", "class:", "class:,,", "depth", "depth:", "depth:x", "depth:1x", "Depth:1",
          "depth:-1", "depth:1 ", "depth:99999999999"}) {
        INFO(text);
        CHECK_FALSE(policies.selections.find(text));
    }
    for (const auto* text : {"default", "trust", "cautious", "confidence"}) {
        CHECK(policies.resolutions.find(text));
    }
    for (const auto* text : {"bytes", "parameters", "operators"}) {
        CHECK(policies.costs.find(text));
    }
    for (const auto* text : {"default", "strict", "errors", "without:a.*,b"}) {
        CHECK(policies.diagnostics.find(text));
    }
    for (const auto* text : {"none", "without", "without:", "without:,"}) {
        CHECK_FALSE(policies.diagnostics.find(text));
    }
    for (const auto* text : {"on", "Default", "none", "residual "}) {
        CHECK_FALSE(policies.propagations.find(text));
    }
    CHECK_FALSE(policies.costs.find("default"));
    CHECK_FALSE(policies.costs.find(""));
}

TEST_CASE("policy_registry: built-in policies are registered under their own names",
          "[policy][policy_registry]") {
    const registry built_in;
    const auto agree = [](const auto& policies) {
        std::size_t count = 0;
        policies.for_each([&](const std::string& name, const auto& policy) {
            CHECK(policy.name() == name);
            ++count;
        });
        CHECK(count > 1);
    };
    agree(built_in.selections);
    agree(built_in.namings);
    agree(built_in.resolutions);
    agree(built_in.propagations);
    agree(built_in.costs);
    agree(built_in.diagnostics);
    for (const std::string text : {"package:zoo,b", "class:L*,Fc", "depth:1"}) {
        const auto name = text[0] == 'p'   ? stemma::in_packages{{"zoo", "b"}}.name()
                          : text[0] == 'c' ? stemma::of_classes{{"L*", "Fc"}}.name()
                                           : stemma::down_to_depth{1}.name();
        CHECK(name == text);
    }
    CHECK(stemma::without_findings{{"a.*", "b"}}.name() == "without:a.*,b");
}

TEST_CASE("policies_by_name: an unknown name is rejected, listing the known ones",
          "[policy][policy_registry]") {
    const registry policies;
    CHECK(policies.propagations.get("propagation", "off").name() == "off");
    CHECK_THROWS_WITH(
        policies.propagations.get("propagation", "residul"),
        "unknown propagation 'residul'; did you mean 'residual'? known: default, residual, "
        "consumers, producers, nearest, off");
}

TEST_CASE("policies_by_name: finds what was added", "[policy][policy_registry]") {
    registry policies;
    policies.selections.add("parents", with_children{});
    policies.selections.add("children", "N", parse);
    CHECK(policies.selections.names() ==
          "default, all, package:P, class:GLOB, depth:N, parents, children:N");
    const auto parents = policies.selections.find("parents");
    REQUIRE(parents);
    CHECK(selected(*parents) == "xx---");
    const auto none = policies.selections.find("children:3");
    REQUIRE(none);
    CHECK(selected(*none) == "-----");
    CHECK(selected(*policies.selections.find("children:0")) == "xxxxx");
    for (const auto* text : {"children", "children:", "children:x", "parents:1"}) {
        CHECK_FALSE(policies.selections.find(text));
    }
}

TEST_CASE("policies_by_name: lists those without arguments, in order",
          "[policy][policy_registry]") {
    registry policies;
    policies.selections.add("parents", with_children{});
    std::vector<std::string> names;
    policies.selections.for_each([&](const std::string& name, const auto& policy) {
        names.push_back(name);
        if (name == "parents") {
            CHECK(selected(policy) == "xx---");
        }
    });
    CHECK(names == std::vector<std::string>{"default", "all", "parents"});
}

} // namespace test::tagging_policy_registry
