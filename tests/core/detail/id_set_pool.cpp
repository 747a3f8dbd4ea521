// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/id_set_pool.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>

#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace test::core_detail_id_set_pool {

using stemma::id;
using stemma::no_id;
using stemma::detail::id_set;
using stemma::detail::id_set_pool;
using stemma::detail::id_set_union;

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

namespace {

id_set intern(id_set_pool& pool, const std::set<id>& elements) {
    return pool.intern(std::vector<id>(elements.begin(), elements.end()));
}

} // namespace

TEST_CASE("id_set_union: the union of nothing or of one set is that", "[core][id_set_union]") {
    id_set_pool pool;
    const auto pair = intern(pool, {3, 500});
    id_set_union sets(pool, 1);
    CHECK(sets.get() == no_id);
    for (const id_set set : {id_set{no_id}, id_set{7}, pair}) {
        sets.clear();
        for (int times = 0; times < 3; ++times) {
            sets.add(set);
            sets.add(no_id);
        }
        CHECK_FALSE(sets.is_large());
        CHECK(sets.get() == set);
    }
    CHECK(pool.size() == 1);
}

TEST_CASE("id_set_union: equal to the definition, whatever the sets", "[core][id_set_union]") {
    test::random_numbers random(11);
    id_set_pool pool;
    // Close together, far apart, and at the limits of ids.
    const std::vector<id> bases{0, 20, 31, 32, 1000, (id{1} << 31) - 40};
    std::vector<std::set<id>> earlier{{}};
    std::size_t large = 0;
    for (int round = 0; round < 20000; ++round) {
        const auto cap = 1 + random(8);
        id_set_union sets(pool, cap);
        for (int again = 0; again < 2; ++again) { // the second time reusing the state of the first
            sets.clear();
            std::set<id> all;
            std::set<id_set> distinct;
            for (auto remaining = random(5); remaining > 0; --remaining) {
                auto set = earlier[random(earlier.size())];
                if (random.one_in(3)) {
                    set.insert(bases[random(bases.size())] + static_cast<id>(random(40)));
                }
                const auto name = intern(pool, set);
                sets.add(name);
                all.insert(set.begin(), set.end());
                distinct.insert(name);
                if (set.size() < 6 && earlier.size() < 200) {
                    earlier.push_back(set);
                }
            }
            distinct.erase(no_id);
            const bool is_large = distinct.size() > 1 && all.size() > cap;
            REQUIRE(sets.is_large() == is_large);
            if (is_large) {
                ++large;
                REQUIRE(sets.least() == *all.begin());
                REQUIRE(sets.greatest() == *all.rbegin());
            } else {
                REQUIRE(elements(pool, sets.get()) == std::vector<id>(all.begin(), all.end()));
                REQUIRE(sets.get() == intern(pool, all));
            }
        }
    }
    CHECK(large > 100);
}

TEST_CASE("id_set_union: adds only its results to the pool", "[core][id_set_union]") {
    id_set_pool pool;
    id_set_union sets(pool, std::numeric_limits<std::size_t>::max());
    for (id element = 0; element < 100; ++element) {
        sets.add(element * 7);
    }
    CHECK(pool.size() == 0);
    const auto all = sets.get();
    CHECK(pool.size() == 1);
    CHECK(pool.size_of(all) == 100);
    sets.add(7);
    sets.clear();
    sets.add(14);
    sets.add(all);
    CHECK(sets.get() == all);
    CHECK(pool.size() == 1);
}

} // namespace test::core_detail_id_set_pool
