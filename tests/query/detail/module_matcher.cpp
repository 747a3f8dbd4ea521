// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/detail/module_matcher.hpp>

#include "../../catch.hpp"
#include "../../query_scene.hpp"

#include <stemma/model/module_tree_builder.hpp>
#include <stemma/query/parse_query.hpp>
#include <stemma/tagging/name_modules.hpp>
#include <stemma/tagging/selection.hpp>

#include <algorithm>
#include <string>

namespace test::query_detail_module_matcher {

namespace {

std::size_t count(const test::query_scene& scene, const std::string& text) {
    const stemma::detail::module_matcher<stemma::module_tree> matcher(scene.modules, scene.tags);
    const auto holds = matcher.fitting(stemma::parse_query(text));
    return static_cast<std::size_t>(std::count(holds.begin(), holds.end(), 1));
}

} // namespace

TEST_CASE("module_matcher: place terms apply to descendants, size terms do not") {
    const test::query_scene scene;
    CHECK(count(scene, "blocks.0") == 4); // with fc, mix and mix.fc
    CHECK(count(scene, "leaf") == 5);
    CHECK(count(scene, "''") == scene.modules.size());
    // Nobody says here how large they are.
    CHECK(count(scene, "nodes>0") == 0);
    CHECK(count(scene, "has:op:Add") == 0);
    CHECK(count(scene, "not nodes>0") == scene.modules.size());
}

TEST_CASE("module_matcher: a path or tag that reads as a pattern means its own module") {
    stemma::module_tree_builder builder;
    for (const auto* path : {"a{b}c", "abc", "a{b}c.sub", "*", "x*", "xy"}) {
        builder.set_class(builder.at_path(path), "Block", "zoo.Block");
    }
    const auto modules = builder.build();
    const auto tags = stemma::name_modules(modules, stemma::all_modules{});
    const stemma::detail::module_matcher<stemma::module_tree> matcher(modules, tags);
    const auto find = [&](stemma::query_kind kind, const std::string& pattern) {
        std::string paths;
        stemma::query asked;
        asked.kind = kind;
        asked.pattern = pattern;
        const auto holds = matcher.of_modules(asked);
        for (stemma::id m = 0; m < holds.size(); ++m) {
            paths.append(holds[m] != 0 ? std::string(modules.path(m)) + " " : "");
        }
        return paths;
    };
    CHECK(find(stemma::query_kind::path, "a{b}c") == "a{b}c ");
    CHECK(find(stemma::query_kind::path, "a{b,z}c") == "abc ");
    CHECK(find(stemma::query_kind::path, "*") == "* ");
    CHECK(find(stemma::query_kind::path, "x*") == "x* ");
    CHECK(find(stemma::query_kind::path, "x?") == "x* xy ");
    for (stemma::id m = 1; m < modules.index().size(); ++m) {
        CHECK(find(stemma::query_kind::path, std::string(modules.path(m))) ==
              std::string(modules.path(m)) + " ");
        CHECK(find(stemma::query_kind::tag, tags.text(m)) == std::string(modules.path(m)) + " ");
    }
}

} // namespace test::query_detail_module_matcher
