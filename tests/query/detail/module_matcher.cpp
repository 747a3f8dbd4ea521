// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/detail/module_matcher.hpp>

#include "../../catch.hpp"
#include "../../query_scene.hpp"

#include <stemma/query/parse_query.hpp>

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

} // namespace test::query_detail_module_matcher
