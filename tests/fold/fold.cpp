// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/fold.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <vector>

namespace test::fold_fold {

namespace {

using stemma::module_tree;

struct without_category : stemma::fold_selected<> {
    using policy_category = stemma::cut_category;
};

struct without_lifts {
    using policy_category = stemma::fold_category;
    bool folds(const module_tree&, stemma::id) const { return true; }
    std::size_t least_nodes() const { return 1; }
    bool shares(const module_tree&, stemma::id, stemma::id) const { return true; }
    stemma::function_name name_of(const module_tree&, stemma::id) const { return {}; }
    bool varies_constants() const { return false; }
};

} // namespace

TEST_CASE("fold_policy: the one in the box is one, near misses are not") {
    STATIC_REQUIRE(stemma::explain_fold_policy<stemma::fold_selected<>, module_tree>());
    STATIC_REQUIRE(stemma::fold_policy<stemma::fold_selected<stemma::all_modules>, module_tree>);
    STATIC_REQUIRE_FALSE(stemma::fold_policy<without_category, module_tree>);
    STATIC_REQUIRE_FALSE(stemma::fold_policy<without_lifts, module_tree>);
    STATIC_REQUIRE_FALSE(stemma::fold_policy<stemma::fold_selected<>, int>);
}

TEST_CASE("fold_selected: a function is called as the class, in the package's domain") {
    stemma::module_tree_builder builder;
    builder.set_class(builder.child(0, "bert"), "BertModel", "transformers.bert.BertModel");
    builder.set_class(builder.child(0, "odd"), "Odd", "ai.onnx.ml.Odd");
    builder.set_class(builder.child(0, "local"), "Net", "Net");
    const auto layers = builder.child(0, "layers");
    builder.child(layers, "0");
    builder.child(layers, "1");
    const auto modules = builder.build();
    const stemma::fold_selected<stemma::all_modules> policy;
    const auto name_of = [&](const char* path) {
        stemma::id m = 0;
        for (stemma::id i = 1; i < modules.size(); ++i) {
            m = modules.path(i) == path ? i : m;
        }
        return policy.name_of(modules, m);
    };
    using stemma::function_name;
    CHECK(name_of("bert") == function_name{"transformers.bert", "BertModel"});
    CHECK(name_of("odd") == function_name{"module.ai.onnx.ml", "Odd"});
    CHECK(name_of("local") == function_name{"module", "Net"});
    CHECK(name_of("layers.1") == function_name{"module", "layers"});
    CHECK_FALSE(policy.folds(modules, 0));
    CHECK(policy.folds(modules, 1));
}

TEST_CASE("fold_apart: modules of one class have functions of their own, with names of their own") {
    const auto modules = test::tree_of({":zoo.Net", "a:zoo.Layer", "b:zoo.Layer"});
    const stemma::fold_apart<> policy;
    STATIC_REQUIRE(stemma::explain_fold_policy<stemma::fold_apart<>, module_tree>());
    CHECK(policy.name_of(modules, 1) == stemma::function_name{"zoo", "a:Layer"});
    CHECK(policy.name_of(modules, 2) == stemma::function_name{"zoo", "b:Layer"});
    CHECK(policy.shares(modules, 1, 1));
    CHECK_FALSE(policy.shares(modules, 1, 2));
    CHECK(stemma::fold_selected<>{}.shares(modules, 1, 2));
}

TEST_CASE("fold_innermost: a module folds where the selection takes it and nothing below it") {
    const auto modules =
        test::tree_of({":zoo.Net", "a:zoo.Layer", "a.fc:torch.nn.Linear", "a.norm:zoo.Norm",
                       "b:zoo.Layer", "b.fc:torch.nn.Linear", "c:torch.nn.Linear"});
    STATIC_REQUIRE(stemma::explain_fold_policy<stemma::fold_innermost<>, module_tree>());
    const auto folded = [&](const auto& policy) {
        std::vector<std::string> paths;
        for (stemma::id m = 0; m < modules.size(); ++m) {
            if (policy.folds(modules, m)) {
                paths.push_back(modules.path(m));
            }
        }
        return paths;
    };
    CHECK(folded(stemma::fold_innermost<>{}) == std::vector<std::string>{"a.norm", "b"});
    CHECK(folded(stemma::fold_innermost<stemma::all_modules>{}) ==
          std::vector<std::string>{"a.fc", "a.norm", "b.fc", "c"});
    CHECK(folded(stemma::fold_selected<>{}) == std::vector<std::string>{"a", "a.norm", "b"});
}

} // namespace test::fold_fold
