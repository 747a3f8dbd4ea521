// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/id_set_pool.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace test::core_detail_id_set_pool {

using stemma::id;
using stemma::no_id;
using stemma::detail::id_set;
using stemma::detail::id_set_pool;

namespace {

std::vector<id> elements(const id_set_pool& pool, id_set set) {
    std::vector<id> members;
    pool.for_each(set, [&](id element) { members.push_back(element); });
    return members;
}

} // namespace

TEST_CASE("id_set_pool: small sets need no pool", "[core][id_set_pool]") {
    id_set_pool pool;
    CHECK(pool.intern({}) == no_id);
    CHECK(id_set_pool::is_single(no_id));
    CHECK(elements(pool, no_id).empty());
    CHECK(pool.size_of(no_id) == 0);
    for (id element : {id{0}, id{7}, (id{1} << 31) - 1}) {
        const auto set = pool.intern(std::vector<id>{element});
        CHECK(set == element);
        CHECK(id_set_pool::is_single(set));
        CHECK(pool.size_of(set) == 1);
        CHECK(elements(pool, set) == std::vector<id>{element});
    }
    CHECK(pool.size() == 0);
}

TEST_CASE("id_set_pool: two ids are equal iff the sets are", "[core][id_set_pool]") {
    test::random_numbers random(3);
    id_set_pool pool;
    std::map<std::vector<id>, id_set> name_of;
    std::set<id_set> names;
    std::size_t pooled = 0;
    for (int round = 0; round < 5000; ++round) {
        std::set<id> drawn;
        for (auto count = random(6); count > 0; --count) {
            drawn.insert(static_cast<id>(random(9)));
        }
        const std::vector<id> sorted(drawn.begin(), drawn.end());
        const auto name = pool.intern(sorted);
        const auto [before, is_new] = name_of.emplace(sorted, name);
        CHECK(before->second == name);
        if (is_new) {
            CHECK(names.insert(name).second);
            pooled += sorted.size() > 1 ? 1U : 0U;
        }
    }
    CHECK(pool.size() == pooled);
    for (const auto& [sorted, name] : name_of) {
        CHECK(elements(pool, name) == sorted);
        CHECK(pool.size_of(name) == sorted.size());
        CHECK(id_set_pool::is_single(name) == (sorted.size() <= 1));
    }
}

TEST_CASE("id_set_pool: a set and its prefix are different sets", "[core][id_set_pool]") {
    id_set_pool pool;
    std::vector<id> growing{0, 1};
    std::vector<id_set> names;
    for (id next = 2; next < 100; ++next) {
        names.push_back(pool.intern(growing));
        growing.push_back(next);
    }
    CHECK(std::set<id_set>(names.begin(), names.end()).size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(pool.size_of(names[i]) == i + 2);
        CHECK(elements(pool, names[i]).back() == i + 1);
    }
}

TEST_CASE("id_set_pool: sets are distinguished wherever they differ", "[core][id_set_pool]") {
    id_set_pool pool;
    const auto last = (id{1} << 31) - 1;
    const std::vector<std::vector<id>> sets{{0, 1},   {31, 32}, {32, 33},         {0, 32},
                                            {1, 33},  {0, 64},  {0, last},        {31, 63},
                                            {30, 31}, {32, 64}, {last - 1, last}, {0, 1, 32, 33}};
    std::set<id_set> names;
    for (const auto& set : sets) {
        names.insert(pool.intern(set));
    }
    CHECK(names.size() == sets.size());
    for (const auto& set : sets) {
        CHECK(elements(pool, pool.intern(set)) == set);
    }
    CHECK(pool.size() == sets.size());
}

} // namespace test::core_detail_id_set_pool
