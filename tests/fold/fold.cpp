// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/fold.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <vector>

namespace test::fold_fold {

TEST_CASE("named_by_class: a function is named after the class, in the package's domain") {
    stemma::module_tree_builder builder;
    builder.set_class(builder.child(0, "bert"), "BertModel", "transformers.bert.BertModel");
    builder.set_class(builder.child(0, "odd"), "Odd", "ai.onnx.ml.Odd");
    builder.set_class(builder.child(0, "local"), "Net", "Net");
    const auto layers = builder.child(0, "layers");
    builder.child(layers, "0");
    builder.child(layers, "1");
    const auto modules = builder.build();
    const stemma::fold_options<> options{.selection = stemma::all_modules{}};
    const auto name_of = [&](const char* path) {
        stemma::id m = 0;
        for (stemma::id i = 1; i < modules.size(); ++i) {
            m = modules.path(i) == path ? i : m;
        }
        return options.name_of(modules, m);
    };
    using stemma::function_name;
    CHECK(name_of("bert") == function_name{"transformers.bert", "BertModel"});
    CHECK(name_of("odd") == function_name{"module.ai.onnx.ml", "Odd"});
    CHECK(name_of("local") == function_name{"module", "Net"});
    CHECK(name_of("layers.1") == function_name{"module", "layers"});
    CHECK_FALSE(options.folds(modules, 0));
    CHECK(options.folds(modules, 1));
}

TEST_CASE(
    "named_by_path: modules of one class have functions of their own, with names of their own") {
    const auto modules = test::tree_of({":zoo.Net", "a:zoo.Layer", "b:zoo.Layer"});
    const stemma::named_by_path name_of;
    CHECK(name_of(modules, 1) == stemma::function_name{"zoo", "a:Layer"});
    CHECK(name_of(modules, 2) == stemma::function_name{"zoo", "b:Layer"});
}

TEST_CASE("innermost: a module folds if selected and none of its descendants is") {
    const auto modules =
        test::tree_of({":zoo.Net", "a:zoo.Layer", "a.fc:torch.nn.Linear", "a.norm:zoo.Norm",
                       "b:zoo.Layer", "b.fc:torch.nn.Linear", "c:torch.nn.Linear"});
    const auto folded = [&](const stemma::fold_options<>& options) {
        std::vector<std::string> paths;
        for (stemma::id m = 0; m < modules.size(); ++m) {
            if (options.folds(modules, m)) {
                paths.push_back(modules.path(m));
            }
        }
        return paths;
    };
    CHECK(folded({.selection = stemma::innermost<>{}}) == std::vector<std::string>{"a.norm", "b"});
    CHECK(folded({.selection = stemma::innermost<stemma::all_modules>{}}) ==
          std::vector<std::string>{"a.fc", "a.norm", "b.fc", "c"});
    CHECK(folded({}) == std::vector<std::string>{"a", "a.norm", "b"});
}

TEST_CASE("fold_options: functions can select modules and name them") {
    const auto modules = test::tree_of({":zoo.Net", "a:zoo.Layer", "b:zoo.Norm"});
    const stemma::fold_options<> options{
        .selection = [](auto&& tree, stemma::id m) { return tree.class_name(m) == "Norm"; },
        .name_of =
            [](auto&& tree, stemma::id m) {
                return stemma::function_name{"mine", std::string(tree.class_name(m))};
            }};
    CHECK_FALSE(options.folds(modules, 1));
    CHECK(options.folds(modules, 2));
    CHECK(options.name_of(modules, 2) == stemma::function_name{"mine", "Norm"});
}

} // namespace test::fold_fold
