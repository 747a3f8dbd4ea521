// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/nearest_owners.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>

namespace test::evidence_detail_nearest_owners {

using stemma::id;
using stemma::no_id;
using stemma::detail::nearest_owners;

namespace {

id position_of(const nearest_owners& owners, id module) {
    for (const auto& e : owners) {
        if (e.module == module) {
            return e.position;
        }
    }
    return no_id;
}

} // namespace

TEST_CASE("nearest_owners: one entry for each module, the nearest") {
    nearest_owners before;
    before.add({3, 7}, std::greater<>());
    before.add({5, 7}, std::greater<>());
    before.add({4, 7}, std::greater<>());
    before.add({1, no_id}, std::greater<>());
    CHECK(std::distance(before.begin(), before.end()) == 2);
    CHECK(position_of(before, 7) == 5);
    CHECK(before.holds(no_id));
    CHECK_FALSE(before.holds(8));
}

TEST_CASE("nearest_owners: keeps the nearest modules if there are too many") {
    nearest_owners behind;
    for (id module = 0; module < 2 * nearest_owners::capacity; ++module) {
        behind.add({100 - module, module}, std::less<>());
    }
    CHECK(static_cast<std::size_t>(std::distance(behind.begin(), behind.end())) ==
          nearest_owners::capacity);
    CHECK(behind.holds(2 * nearest_owners::capacity - 1));
    CHECK_FALSE(behind.holds(0));
    nearest_owners others;
    others.add({1, 50}, std::less<>());
    others.add(behind, std::less<>());
    CHECK(others.holds(50));
    CHECK(others.holds(2 * nearest_owners::capacity - 1));
}

TEST_CASE("nearest_owners: two inputs meet where the modules of only one of them do") {
    const stemma::tree_index tree({no_id, 0, 1, 1, 0, 4});
    const auto of = [](std::initializer_list<id> modules) {
        nearest_owners owners;
        for (const auto m : modules) {
            owners.add({0, m}, std::greater<>());
        }
        return owners;
    };
    CHECK(met_before(tree, of({2}), of({3})) == 1);
    CHECK(met_before(tree, of({5, 2}), of({3})) == 1);
    CHECK(met_before(tree, of({5, 2}), of({3, 2})) == 0);
    CHECK(met_before(tree, of({2}), of({2, no_id})) == no_id);
    CHECK(met_before(tree, of({}), of({2})) == no_id);
}

TEST_CASE("shared_around: between two operators of one module is what is said to be between them") {
    const stemma::tree_index tree({no_id, 0, 1});
    nearest_owners before;
    before.add({1, 2}, std::greater<>());
    nearest_owners behind;
    behind.add({3, 2}, std::less<>());
    CHECK(shared_around(tree, {0, 1, 2}, 2, before, behind) == 2);
    CHECK(shared_around(tree, {0, 1, 1}, 2, before, behind) == 1);
}

} // namespace test::evidence_detail_nearest_owners
