// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/folded_modules.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <numeric>
#include <vector>

namespace test::fold_detail_folded_modules {

namespace {

using stemma::id;
using stemma::no_id;

} // namespace

TEST_CASE("folded_modules: the enclosing folded module follows from the ancestors") {
    test::random_numbers random(3);
    for (int round = 0; round < 50; ++round) {
        std::vector<id> parent{no_id};
        for (id m = 1; m < 40; ++m) { // in preorder: on the way from the last one up
            auto above = m - 1;
            for (auto up = random(4); up > 0 && above != 0; --up) {
                above = parent[above];
            }
            parent.push_back(above);
        }
        const stemma::tree_index tree(parent);
        std::vector<bool> asked(parent.size());
        for (id m = 0; m < asked.size(); ++m) {
            asked[m] = random.one_in(2);
        }
        const stemma::detail::folded_modules folded(tree, [&](id m) { return asked[m]; });
        for (id m = 0; m < parent.size(); ++m) {
            std::vector<id> way; // those that fold, from the inside to the outside
            for (auto up = m; up != 0; up = parent[up]) {
                if (asked[up]) {
                    way.push_back(up);
                }
            }
            CHECK(folded.folds(m) == (m != 0 && asked[m]));
            CHECK(folded.innermost(m) == (way.empty() ? no_id : way.front()));
            CHECK(folded.next_below(0, m) == (way.empty() ? no_id : way.back()));
            for (id top = 1; top < parent.size(); ++top) {
                if (!asked[top]) {
                    continue;
                }
                id expected = no_id;
                for (auto around : way) {
                    expected = around != top && tree.is_ancestor(top, around) ? around : expected;
                }
                CHECK(folded.next_below(top, m) == expected);
            }
        }
    }
}

TEST_CASE("folded_modules: in a chain only the outer ones fold") {
    std::vector<id> parent(200);
    std::iota(parent.begin(), parent.end(), no_id); // the root's is `no_id`
    const stemma::tree_index tree(parent);
    const stemma::detail::folded_modules folded(tree, [](id) { return true; });
    const auto depth = stemma::detail::folded_modules::max_depth;
    CHECK_FALSE(folded.folds(0));
    CHECK(folded.folds(1));
    CHECK(folded.folds(depth));
    CHECK_FALSE(folded.folds(depth + 1));
    CHECK(folded.innermost(199) == depth);
    CHECK(folded.next_below(0, 199) == 1);
    CHECK(folded.next_below(depth, 199) == no_id);
}

} // namespace test::fold_detail_folded_modules
