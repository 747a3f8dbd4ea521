// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/prints_as.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace test::evidence_detail_prints_as {

using stemma::detail::may_print;
using stemma::detail::prints_as;
using texts = std::vector<std::string>;

TEST_CASE("prints_as: a module prints as its path from the last name that is no number") {
    stemma::module_tree_builder builder;
    builder.at_path("encoder.layer.3.act");
    builder.at_path("encoder.layer.3.0");
    builder.at_path("7.1");
    const auto modules = builder.build();
    const stemma::detail::printed_tree<stemma::module_tree> tree{modules};
    const auto layer = test::module_at(modules, "encoder.layer.3");
    CHECK(prints_as(tree, layer, "layer.3"));
    CHECK_FALSE(prints_as(tree, layer, "3"));
    CHECK_FALSE(prints_as(tree, layer, "encoder.layer.3"));
    CHECK(prints_as(tree, test::module_at(modules, "encoder.layer.3.act"), "act"));
    CHECK(prints_as(tree, test::module_at(modules, "encoder.layer.3.0"), "layer.3.0"));
    CHECK(prints_as(tree, test::module_at(modules, "7.1"), "7.1"));
    CHECK(prints_as(builder, builder.at_path("7.1"), "7.1"));
    CHECK(may_print(tree, layer, "layer.3"));
    CHECK(may_print(tree, layer, "layer.3_2"));
    CHECK_FALSE(may_print(tree, layer, "layer.3_x"));
    CHECK(stemma::detail::printed(tree, layer) == "layer.3");
    CHECK(stemma::detail::printed(tree, test::module_at(modules, "7.1")) == "7.1");
    CHECK(stemma::detail::path_between(tree, test::module_at(modules, "encoder"), layer) ==
          "layer.3");
    CHECK(stemma::detail::path_between(tree, layer, layer).empty());
}

TEST_CASE("printed_modules: finds modules by the path from the last non-numeric name") {
    const auto tree = test::tree_of({"enc.layer.0.fc", "enc.layer.1.fc", "dec.layer.0", "7.fc"});
    const stemma::detail::printed_modules printed(tree);
    const auto paths = [&](std::string_view text) {
        texts listed;
        for (auto m : printed.of(text)) {
            listed.push_back(tree.path(m));
        }
        return listed;
    };
    CHECK(paths("fc") == texts{"enc.layer.0.fc", "enc.layer.1.fc", "7.fc"});
    CHECK(paths("layer.0") == texts{"enc.layer.0", "dec.layer.0"});
    CHECK(paths("layer") == texts{"enc.layer", "dec.layer"});
    CHECK(paths("7") == texts{"7"});
    CHECK(paths("0").empty());
    CHECK(paths("").empty());
}

} // namespace test::evidence_detail_prints_as
