// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/selection.hpp>

#include "../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace test::tagging_selection {

using stemma::id;
using stemma::module_tree;

namespace {

module_tree net() {
    stemma::module_tree_builder builder("net");
    const auto add = [&](std::string_view path, std::string_view class_name,
                         std::string_view package) {
        const auto m = builder.at_path(path);
        const auto dot = package.empty() ? "" : ".";
        builder.set_class(m, class_name, std::string(package).append(dot).append(class_name));
        return m;
    };
    add("", "Net", "mine.models");
    add("encoder", "ModuleList", "torch.nn.modules.container");
    add("encoder.0", "Layer", "mine.models");
    add("encoder.0.norm", "LayerNorm", "torch.nn.modules.normalization");
    add("encoder.0.fc", "Linear", "torch.nn.modules.linear");
    add("head", "Linear", "torchvision.ops");
    builder.set_calls(builder.at_path("unknown"), 3);
    builder.set_calls(builder.at_path("idle"), 0);
    return builder.build();
}

/// Returns: the paths of all modules that a policy selects, including the root if it does.
template <class Policy>
std::vector<std::string> selected(const Policy& policy) {
    STATIC_REQUIRE(stemma::selection_policy<Policy, module_tree>);
    STATIC_REQUIRE(stemma::explain_policy<stemma::selection_category, Policy, module_tree>());
    const auto tree = net();
    std::vector<std::string> paths;
    for (id m = 0; m < tree.size(); ++m) {
        if (policy.selects(tree, m)) {
            paths.push_back(tree.path(m));
        }
    }
    return paths;
}

using paths = std::vector<std::string>;

} // namespace

TEST_CASE("not_infrastructure: excludes building blocks, and containers that never run",
          "[policy][selection]") {
    CHECK(selected(stemma::not_infrastructure{}) == paths{"", "encoder.0", "head", "unknown"});
}

TEST_CASE("not_infrastructure: keeps requested classes", "[policy][selection]") {
    stemma::not_infrastructure policy;
    policy.keep = {"LayerNorm"};
    CHECK(selected(policy) == paths{"", "encoder.0", "encoder.0.norm", "head", "unknown"});
    policy.keep = {"torch.nn.*.Lin*", "Module{List,Dict}"};
    CHECK(selected(policy) == paths{"", "encoder", "encoder.0", "encoder.0.fc", "head", "unknown"});
}

TEST_CASE("not_infrastructure: which packages count is data", "[policy][selection]") {
    stemma::not_infrastructure policy;
    policy.packages.names = {"mine", "torchvision"};
    CHECK(selected(policy) == paths{"encoder", "encoder.0.norm", "encoder.0.fc", "unknown"});
}

TEST_CASE("all_modules: excludes nothing", "[policy][selection]") {
    CHECK(selected(stemma::all_modules{}).size() == net().size());
    STATIC_REQUIRE(std::is_empty_v<stemma::all_modules>);
}

TEST_CASE("in_packages: selects classes of the packages and their subpackages",
          "[policy][selection]") {
    CHECK(selected(stemma::in_packages{{"torch.nn.modules.linear", "mine"}}) ==
          paths{"", "encoder.0", "encoder.0.fc"});
    CHECK(selected(stemma::in_packages{{"torch"}}) ==
          paths{"encoder", "encoder.0.norm", "encoder.0.fc"});
    CHECK(selected(stemma::in_packages{}).empty());
}

TEST_CASE("of_classes: selects classes by short and qualified name", "[policy][selection]") {
    CHECK(selected(stemma::of_classes{{"L*"}}) ==
          paths{"encoder.0", "encoder.0.norm", "encoder.0.fc", "head"});
    CHECK(selected(stemma::of_classes{{"torch.*.Linear"}}) == paths{"encoder.0.fc"});
    CHECK(selected(stemma::of_classes{}).empty());
}

TEST_CASE("down_to_depth: counts from the root", "[policy][selection]") {
    CHECK(selected(stemma::down_to_depth{0}) == paths{""});
    CHECK(selected(stemma::down_to_depth{1}) == paths{"", "encoder", "head", "unknown", "idle"});
    CHECK(selected(stemma::down_to_depth{}).size() == net().size());
}

TEST_CASE("is_in_package: a package is more than a prefix", "[policy][selection]") {
    CHECK(stemma::is_in_package("torch.nn.Linear", "torch.nn"));
    CHECK(stemma::is_in_package("torch.nn", "torch.nn"));
    CHECK_FALSE(stemma::is_in_package("torch.nnext.Linear", "torch.nn"));
    CHECK_FALSE(stemma::is_in_package("torch", "torch.nn"));
    CHECK_FALSE(stemma::infrastructure_packages{}.contain(""));
}

} // namespace test::tagging_selection
