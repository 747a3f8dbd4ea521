// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/module_view.hpp>

#include "../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string_view>

namespace test::model_module_view {

using stemma::id;
using stemma::module_tree;
using stemma::path_of;

namespace {

struct seen_modules {
    const module_tree& tree;

    [[nodiscard]] const stemma::tree_index& index() const { return tree.index(); }
    [[nodiscard]] std::string_view name(id m) const { return tree.name(m); }
    [[nodiscard]] std::string_view class_name(id) const { return ""; }
    [[nodiscard]] std::string_view qualified_class(id) const { return ""; }
};

struct without_classes {
    [[nodiscard]] const stemma::tree_index& index() const;
    [[nodiscard]] std::string_view name(id m) const;
};

struct not_const : seen_modules {
    std::string_view name(id m) { return tree.name(m); }
};

struct counting : seen_modules {
    [[nodiscard]] id calls(id) const { return 1; }
};

} // namespace

TEST_CASE("module_view: accepts types with all four members", "[model][module_view]") {
    STATIC_REQUIRE(stemma::module_view<module_tree>);
    STATIC_REQUIRE(stemma::counts_calls<module_tree>);
    STATIC_REQUIRE(stemma::module_view<seen_modules>);
    STATIC_REQUIRE_FALSE(stemma::counts_calls<seen_modules>);
    STATIC_REQUIRE(stemma::counts_calls<counting>);
    STATIC_REQUIRE_FALSE(stemma::module_view<without_classes>);
    STATIC_REQUIRE_FALSE(stemma::module_view<not_const>);
    STATIC_REQUIRE_FALSE(stemma::module_view<int>);
}

TEST_CASE("path_of: is the same for every view of a tree", "[model][module_view]") {
    stemma::module_tree_builder builder("net");
    for (auto path : {"encoder.layer.0.attention", "encoder.layer.10", "pooler", "a..b", ".c"}) {
        builder.at_path(path);
    }
    builder.child(builder.at_path("pooler"), "");
    const auto tree = builder.build();
    const seen_modules view{tree};
    for (id m = 0; m < tree.size(); ++m) {
        CHECK(path_of(view, m) == tree.path(m));
        CHECK(path_of(tree, m) == tree.path(m));
    }
    CHECK(path_of(view, 0).empty());
    CHECK(path_of(view, tree.child(tree.child(0, "encoder"), "layer")) == "encoder.layer");
}

} // namespace test::model_module_view
