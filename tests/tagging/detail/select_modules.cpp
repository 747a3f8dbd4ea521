// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/detail/select_modules.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/tagging/selection.hpp>

#include <vector>

namespace test::tagging_detail_select_modules {

using stemma::id;
using stemma::detail::select_modules;

TEST_CASE("select_modules: each module gets the nearest selected one at or above it") {
    const auto tree = test::tree_of({":zoo.Net", "blocks:torch.nn.ModuleList", "blocks.0:zoo.Block",
                                     "blocks.0.fc:torch.nn.Linear", "blocks.1:zoo.Block",
                                     "head:torch.nn.Linear"});
    const auto at = [&](const char* path) { return test::module_at(tree, path); };
    const auto selected = select_modules(tree);
    REQUIRE(selected.size() == tree.size());
    CHECK(selected[at("")] == 0);
    CHECK(selected[at("blocks")] == 0);
    CHECK(selected[at("blocks.0")] == at("blocks.0"));
    CHECK(selected[at("blocks.0.fc")] == at("blocks.0"));
    CHECK(selected[at("blocks.1")] == at("blocks.1"));
    CHECK(selected[at("head")] == 0);
}

TEST_CASE("select_modules: the root is selected whatever the policy says") {
    const auto tree =
        test::tree_of({":torch.nn.Sequential", "0:torch.nn.Linear", "0.a:torch.nn.B"});
    CHECK(select_modules(tree) == std::vector<id>{0, 0, 0});
    CHECK(select_modules(tree, stemma::of_classes{{"Nothing"}}) == std::vector<id>{0, 0, 0});
    CHECK(select_modules(tree, stemma::all_modules{}) == std::vector<id>{0, 1, 2});
}

TEST_CASE("select_modules: accepts a function in place of a policy") {
    const auto tree = test::tree_of({":zoo.Net", "a:zoo.Layer", "a.b:zoo.Norm"});
    const auto selected = select_modules(
        tree, [](auto&& modules, auto m) { return modules.class_name(m) == "Norm"; });
    CHECK(selected == std::vector<id>{0, 0, 2});
}

} // namespace test::tagging_detail_select_modules
