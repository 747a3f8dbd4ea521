// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/sibling_order.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_sibling_order {

namespace {

using stemma::id;
using stemma::no_id;

struct scene {
    stemma::module_tree_builder builder;
    std::vector<id> first_use{no_id};
    id named = no_id;

    scene& add(const std::string& path, id used = no_id) {
        builder.at_path(path);
        first_use.push_back(used);
        return *this;
    }

    [[nodiscard]] std::vector<std::string> paths() {
        const auto order = stemma::detail::sibling_order(builder, named, first_use);
        const auto tree = builder.build(order);
        std::vector<std::string> paths;
        for (id m = 1; m < tree.size(); ++m) {
            paths.push_back(tree.path(m));
            CHECK(builder.rank_of(builder.at_path(tree.path(m))) == m);
        }
        return paths;
    }
};

using paths = std::vector<std::string>;

} // namespace

TEST_CASE("sibling_order: list members are ordered by number", "[detail][sibling_order]") {
    scene s;
    s.add("h").add("h.10").add("h.2").add("h.2.b").add("h.2.a").add("h.0");
    CHECK(s.paths() == paths{"h", "h.0", "h.2", "h.2.b", "h.2.a", "h.10"});
}

TEST_CASE("sibling_order: modules named by parameters keep their order; others come before what is "
          "used after them",
          "[detail][sibling_order]") {
    scene s;
    s.add("up", 30).add("head", 50).add("odd", 5);
    s.named = 4;
    s.add("fuse", 40).add("last").add("down", 0).add("mid", 20);
    CHECK(s.paths() == paths{"down", "mid", "up", "fuse", "head", "odd", "last"});
}

TEST_CASE("sibling_order: without uses the order stays", "[detail][sibling_order]") {
    scene s;
    s.add("b").add("a").add("1");
    s.named = 3;
    CHECK(s.paths() == paths{"b", "a", "1"});
    CHECK(scene().paths().empty());
}

} // namespace test::evidence_detail_sibling_order
