// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/inherit.hpp>

#include "../catch.hpp"

#include <array>
#include <vector>

namespace test::tagging_inherit {

using stemma::attribution;
using stemma::id;
using stemma::no_id;
using stemma::provenance;

namespace {

// 0 root; 1 block, 2 and 3 in it; 4 another block
stemma::tree_index tree() {
    const std::vector<id> parents{no_id, 0, 1, 1, 0};
    return stemma::tree_index(parents);
}

const std::vector<attribution> before{{2, 0, 0.9F, provenance::scope, false},
                                      {3, 0, 0.6F, provenance::parameter, false},
                                      {4, 0, 0.8F, provenance::consumer, false},
                                      {1, 0, 0.7F, provenance::scope, false}};

} // namespace

TEST_CASE("inherit: the replacement of one operator has its module") {
    const auto inherited = stemma::inherit(tree(), before, {0});
    CHECK(inherited.module == 2);
    CHECK(inherited.call == 0);
    CHECK(inherited.source == provenance::scope);
    CHECK(inherited.confidence == 0.9F);
    CHECK_FALSE(inherited.conflict);
}

TEST_CASE("inherit: the replacement of several has their common ancestor and least confidence") {
    const auto inherited = stemma::inherit(tree(), before, {0, 1});
    CHECK(inherited.module == 1);
    CHECK(inherited.call == no_id);
    CHECK(inherited.source == provenance::parameter);
    CHECK(inherited.confidence == 0.6F);
    CHECK(inherited.conflict);
    CHECK_FALSE(stemma::inherit(tree(), before, {0, 3}).conflict);
}

TEST_CASE("inherit: the order of the old operators does not matter") {
    const auto one = stemma::inherit(tree(), before, {0, 1, 3});
    const auto other = stemma::inherit(tree(), before, {3, 1, 0});
    CHECK(one.module == other.module);
    CHECK(one.call == other.call);
    CHECK(one.conflict);
    CHECK(other.conflict);
    CHECK(one.source == other.source);
    CHECK(one.confidence == other.confidence);
}

TEST_CASE("inherit: inferred attributions are inferred again, not inherited") {
    CHECK(stemma::inherit(tree(), before, {2}).module == no_id);
    CHECK(stemma::inherit(tree(), before, {2, 0}).module == 2);
    CHECK(stemma::inherit(tree(), before, {}).module == no_id);
}

TEST_CASE("inherit: unites the tags of all old operators") {
    stemma::detail::id_set_pool pool;
    const std::array<id, 2> both{1, 4};
    const std::vector<stemma::detail::id_set> sets{1, pool.intern(both), 2};
    const std::array<id, 3> old{0, 1, 2};
    std::vector<id> tags;
    pool.for_each(stemma::inherit(pool, sets, old), [&](id tag) { tags.push_back(tag); });
    CHECK(tags == std::vector<id>{1, 2, 4});
    CHECK(stemma::inherit(pool, sets, std::array<id, 1>{0}) == 1);
}

} // namespace test::tagging_inherit
