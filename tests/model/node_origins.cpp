// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/node_origins.hpp>

#include "../catch.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::model_node_origins {

using stemma::origin_kind;

TEST_CASE("node_origins: returns what was added, by operator", "[model]") {
    stemma::node_origins origins;
    CHECK(origins.empty());
    CHECK(origins.of(3).empty());
    CHECK(origins.kind(3) == origin_kind::unknown);
    const auto first = origins.add_origin({"", 4, "a", 2});
    const auto second = origins.add_origin({"5/body", 0, "", 1});
    const auto third = origins.add_origin({"", 5, "bc", 2});
    origins.add(origin_kind::replaced, std::vector<stemma::id>{first, second});
    origins.add(origin_kind::unknown, {});
    CHECK_FALSE(origins.empty());
    CHECK(origins.of(0).size() == 2);
    CHECK(origins.of(1).empty());
    CHECK(origins[first].name == "a");
    CHECK(origins[second].graph == "5/body");
    CHECK(origins[second].name.empty());
    CHECK(origins[second].module == 1);
    CHECK(origins[third].graph.empty());
    CHECK(origins[third].name == "bc");
    CHECK(to_string(origins.kind(0)) == "replaced");
}

} // namespace test::model_node_origins
