// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/id_set_union.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <limits>
#include <set>
#include <vector>

namespace test::core_detail_id_set_union {

using stemma::id;
using stemma::no_id;
using stemma::detail::id_set;
using stemma::detail::id_set_pool;
using stemma::detail::id_set_union;

namespace {

std::set<id> elements(const id_set_pool& pool, id_set set) {
    std::set<id> members;
    pool.for_each(set, [&](id element) { members.insert(element); });
    return members;
}

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
                REQUIRE(elements(pool, sets.get()) == all);
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

} // namespace test::core_detail_id_set_union
