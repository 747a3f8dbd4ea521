// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/partition.hpp>

#include "../catch.hpp"

#include <stemma/core/tree_index.hpp>
#include <stemma/cut/partition_graph.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace test::cut_partition {

namespace {

using stemma::id;
using stemma::operator_graph;
using stemma::partition_plan;
using stemma::partition_problem;

/// A ladder: 0 and 1 are read by 2, 2 by 3 and 4, these by 5, and so on.
struct scene {
    std::vector<id> parents{stemma::no_id, 0, 1, 0}; // root, a, a.b, c
    stemma::tree_index modules{parents};
    std::vector<id> order{0, 1, 2, 3, 4, 5};
    std::vector<std::uint64_t> costs{5, 1, 1, 1, 1, 1};
    std::vector<id> module_of{0, 1, 2, 2, 3, 1};
    operator_graph graph{
        6, [](auto take) {
            for (auto [from, to] :
                 {std::pair<id, id>{0, 2}, {1, 2}, {2, 3}, {2, 4}, {3, 5}, {4, 5}}) {
                take({from, to, stemma::no_id, stemma::no_id, stemma::no_id});
            }
        }};

    [[nodiscard]] partition_problem<operator_graph> problem() const {
        return {graph, order, costs, module_of, &modules};
    }
};

struct without_partition {
    using policy_category = stemma::partition_category;
};
struct returns_nothing {
    using policy_category = stemma::partition_category;
    void partition(const partition_problem<operator_graph>&) const;
};

} // namespace

TEST_CASE("partition policies: the built-in ones model the concept", "[policy][partition]") {
    STATIC_REQUIRE(stemma::explain_policy<stemma::partition_category, stemma::balanced_parts>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::partition_category, stemma::parts_by_depth>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::partition_category, stemma::parts_by_modules>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::partition_category, stemma::parts_by_level>());
    STATIC_REQUIRE(stemma::explain_policy<
                   stemma::partition_category,
                   stemma::any_policy<stemma::partition_category, stemma::operator_graph>>());
    STATIC_REQUIRE_FALSE(stemma::partition_policy<without_partition>);
    STATIC_REQUIRE_FALSE(stemma::partition_policy<returns_nothing>);
    STATIC_REQUIRE_FALSE(stemma::partition_policy<int>);
}

TEST_CASE("balanced_parts: ranges of about equal cost", "[policy][partition]") {
    const scene s;
    CHECK(stemma::balanced_parts{2}.partition(s.problem()).part_of ==
          std::vector<id>{0, 1, 1, 1, 1, 1});
    const auto each = stemma::balanced_parts{6}.partition(s.problem());
    CHECK(each.part_of == s.order);
    CHECK(each.refusal.empty());
    for (const std::size_t parts : {std::size_t{0}, std::size_t{7}}) {
        const auto plan = stemma::balanced_parts{parts}.partition(s.problem());
        CHECK(plan.refusal.find("into " + std::to_string(parts)) == 0);
    }
    auto one = s.problem();
    one.order = one.order.first(1);
    CHECK(stemma::balanced_parts{2}.partition(one).refusal ==
          "into 2 parts: the number of nodes that are not constant is 1");
    const std::vector<std::uint64_t> huge(6, ~std::uint64_t{0} / 4);
    auto problem = s.problem();
    problem.costs = huge;
    CHECK(stemma::balanced_parts{2}.partition(problem).refusal.find("too large") !=
          std::string::npos);
}

TEST_CASE("parts_by_depth, parts_by_modules: the nearest module that is a part",
          "[policy][partition]") {
    const scene s;
    const auto at_top = stemma::parts_by_depth{1}.partition(s.problem());
    CHECK(at_top.part_of == std::vector<id>{0, 1, 1, 1, 3, 1});
    CHECK(at_top.module_of == std::vector<id>{0, 1, 2, 3});
    CHECK(stemma::parts_by_depth{0}.partition(s.problem()).part_of == std::vector<id>(6, 0));
    CHECK(stemma::parts_by_depth{stemma::no_id}.partition(s.problem()).part_of == s.module_of);
    CHECK(stemma::parts_by_modules{{2, 99}}.partition(s.problem()).part_of ==
          std::vector<id>{0, 0, 2, 2, 0, 0});
    const partition_problem<operator_graph> without{s.graph, s.order, s.costs};
    CHECK_FALSE(stemma::parts_by_depth{1}.partition(without).refusal.empty());
    CHECK_FALSE(stemma::parts_by_modules{{1}}.partition(without).refusal.empty());
    CHECK(stemma::balanced_parts{2}.partition(without).refusal.empty());
}

TEST_CASE("parts_by_level: by the longest path", "[policy][partition]") {
    const scene s;
    CHECK(stemma::parts_by_level{}.partition(s.problem()).part_of ==
          std::vector<id>{0, 0, 1, 2, 2, 3});
    const auto two = stemma::parts_by_level{2}.partition(s.problem());
    CHECK(two.part_of == std::vector<id>{0, 0, 0, 1, 1, 1});
    CHECK(two.parts == 2);
}

TEST_CASE("any_partition, parts_by_rule: a lambda with captures is a policy",
          "[policy][partition]") {
    const scene s;
    const auto first = std::make_shared<id>(3);
    const stemma::parts_by_rule rule{2, [first](id v) { return v < *first ? 0 : 1; }};
    STATIC_REQUIRE(stemma::partition_policy<std::remove_const_t<decltype(rule)>>);
    const stemma::any_policy<stemma::partition_category, stemma::operator_graph> any(rule);
    CHECK(any.partition(s.problem()).part_of == std::vector<id>{0, 0, 0, 1, 1, 1});
    CHECK(any.partition(s.problem()).parts == 2);
}

} // namespace test::cut_partition
