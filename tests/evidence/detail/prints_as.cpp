// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/prints_as.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

namespace test::evidence_detail_prints_as {

using stemma::detail::may_print;
using stemma::detail::prints_as;

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
}

} // namespace test::evidence_detail_prints_as
