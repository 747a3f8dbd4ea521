// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/module_members.hpp>

#include "../../catch.hpp"
#include "../../random_graphs.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <vector>

namespace test::model_detail_module_members {

using stemma::attribution;
using stemma::id;
using stemma::no_id;
using stemma::detail::call_of;

TEST_CASE("module_members: agrees with checking every operator", "[model][module_members]") {
    test::random_numbers random(1);
    for (int round = 0; round < 100; ++round) {
        const stemma::tree_index tree(test::random_parents(random, 1 + random(12), 3));
        std::vector<attribution> attributions(random(40));
        for (auto& a : attributions) {
            a.module = static_cast<id>(random(tree.size()));
        }
        const stemma::detail::module_members members(tree, attributions);
        for (id m = 0; m < tree.size(); ++m) {
            std::vector<id> direct;
            std::vector<id> all;
            for (id v = 0; v < attributions.size(); ++v) {
                if (attributions[v].module == m) {
                    direct.push_back(v);
                }
                if (tree.is_ancestor(m, attributions[v].module)) {
                    all.push_back(v);
                }
            }
            REQUIRE(ranges::equal(members.direct(m), direct));
            REQUIRE(members.all(m) == all);
            REQUIRE(members.count(m) == all.size());
        }
    }
}

TEST_CASE("call_of: inner calls are divided evenly among the outer ones",
          "[model][module_members]") {
    // Module 0 runs twice, module 1 below it three times in each run.
    const auto calls = [](id m) { return m == 0 ? id{2} : m == 1 ? id{6} : no_id; };
    for (id call = 0; call < 6; ++call) {
        attribution a;
        a.module = 1;
        a.call = call;
        CHECK(call_of(1, a, calls) == call);
        CHECK(call_of(0, a, calls) == call / 3);
        CHECK(call_of(2, a, calls) == no_id);
    }
}

TEST_CASE("call_of: is unknown if undetermined", "[model][module_members]") {
    attribution a;
    a.module = 1;
    const auto of = [](id outer, id inner) {
        return [outer, inner](id m) { return m == 0 ? outer : inner; };
    };
    CHECK(call_of(0, a, of(1, 1)) == no_id); // the operator's call is unknown
    a.call = 4;
    CHECK(call_of(0, a, of(2, 5)) == no_id); // not divisible evenly
    CHECK(call_of(0, a, of(2, 4)) == no_id); // beyond the last call
    CHECK(call_of(0, a, of(0, 6)) == no_id);
    CHECK(call_of(0, a, of(no_id, 6)) == no_id);
    CHECK(call_of(0, a, of(2, no_id)) == no_id);
    CHECK(call_of(0, a, of(2, 6)) == 1);
}

} // namespace test::model_detail_module_members
