// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/flat_index.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace test::core_detail_flat_index {

using stemma::id;
using stemma::no_id;
using stemma::detail::flat_index;

namespace {

/// Interns keys in a flat_index with hash function `hash(key)`, along with a map that does the
/// same.
template <class Hash>
void compare_with_map(const std::vector<std::uint64_t>& keys, Hash hash, std::size_t expected) {
    flat_index index(expected);
    std::vector<std::uint64_t> unique;
    std::unordered_map<std::uint64_t, id> reference;
    const auto equals = [&](std::uint64_t key) {
        return [&unique, key](id candidate) { return unique[candidate] == key; };
    };
    std::size_t differing = 0;
    for (auto key : keys) {
        const auto before = reference.find(key);
        const auto entry = index.find(hash(key), equals(key));
        differing += entry == (before == reference.end() ? no_id : before->second) ? 0U : 1U;
        const auto next = static_cast<id>(unique.size());
        const auto stored = index.insert(hash(key), next, equals(key));
        if (stored == next) {
            unique.push_back(key);
        }
        differing += stored == reference.emplace(key, next).first->second ? 0U : 1U;
    }
    for (const auto& [key, value] : reference) {
        differing += index.find(hash(key), equals(key)) == value ? 0U : 1U;
    }
    CHECK(differing == 0);
    CHECK(index.size() == reference.size());
}

std::vector<std::uint64_t> random_keys(std::size_t count, std::size_t range) {
    test::random_numbers random(count);
    std::vector<std::uint64_t> keys(count);
    for (auto& key : keys) {
        key = random(range);
    }
    return keys;
}

} // namespace

TEST_CASE("flat_index: an empty one finds nothing", "[core][flat_index]") {
    const flat_index index;
    CHECK(index.size() == 0);
    CHECK(index.find(0, [](id) { return true; }) == no_id);
    index.prefetch(17);
}

TEST_CASE("flat_index: keeps what a map keeps, whatever the hash function", "[core][flat_index]") {
    const auto spread = [](std::uint64_t key) { return key * 0x9e37'79b9'7f4a'7c15U; };
    compare_with_map(random_keys(20000, 5000), spread, 0);
    compare_with_map(random_keys(20000, 5000), spread, 5000);
    compare_with_map(random_keys(20000, 1'000'000), spread, 3);
    SECTION("all in one slot") {
        compare_with_map(
            random_keys(1500, 400), [](std::uint64_t) { return 0U; }, 0);
    }
    SECTION("nothing in the upper half") {
        compare_with_map(
            random_keys(1500, 400), [](std::uint64_t key) { return key; }, 0);
    }
    SECTION("nothing in the lower half") {
        compare_with_map(
            random_keys(20000, 5000), [](std::uint64_t key) { return key << 32U; }, 0);
    }
    SECTION("at the end of the table, where probing wraps around") {
        const auto last = [](std::uint64_t key) { return (0xffff'ff00U + key % 7) << 32U; };
        compare_with_map(random_keys(1500, 400), last, 0);
    }
}

TEST_CASE("flat_index: reserve keeps what is there", "[core][flat_index]") {
    flat_index index;
    const auto never = [](id) { return false; };
    for (id i = 0; i < 100; ++i) {
        CHECK(index.insert(std::uint64_t{i} << 40U, i, never) == i);
    }
    for (std::size_t room : {1U, 100U, 5000U}) {
        index.reserve(room);
        CHECK(index.size() == 100);
        for (id i = 0; i < 100; ++i) {
            CHECK(index.find(std::uint64_t{i} << 40U,
                             [i](id candidate) { return candidate == i; }) == i);
        }
    }
}

TEST_CASE("flat_index: one hash may have several ids if the caller wants", "[core][flat_index]") {
    flat_index index;
    for (id i = 0; i < 5; ++i) {
        index.insert(7, i, [](id) { return false; });
    }
    std::vector<id> candidates;
    CHECK(index.find(7, [&](id candidate) {
        candidates.push_back(candidate);
        return false;
    }) == no_id);
    CHECK(candidates == std::vector<id>{0, 1, 2, 3, 4});
}

TEST_CASE("flat_index: absorbs another, reporting what was there before", "[core][flat_index]") {
    const auto keys = random_keys(3000, 2000);
    const auto middle = keys.size() / 2;
    // As if all keys were stored in one table after the other; few hashes, so that keys are
    // compared.
    const auto hash = [](std::uint64_t key) { return (key % 500) << 40U; };
    const auto fill = [&](flat_index& index, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            index.insert(hash(keys[i]), static_cast<id>(i - begin),
                         [&](id candidate) { return keys[begin + candidate] == keys[i]; });
        }
    };
    flat_index whole;
    flat_index first;
    flat_index second;
    fill(whole, 0, keys.size());
    fill(first, 0, middle);
    fill(second, middle, keys.size());
    std::size_t met = 0;
    first.insert_all(
        second, static_cast<id>(middle), [&](id a, id b) { return keys[a] == keys[b]; },
        [&](id earlier, id raised) {
            ++met;
            CHECK(earlier < middle);
            CHECK(raised >= middle);
            CHECK(keys[earlier] == keys[raised]);
        });
    CHECK(met > 0);
    CHECK(first.size() == whole.size());
    std::size_t differing = 0;
    for (auto key : keys) {
        const auto equal = [&](id candidate) { return keys[candidate] == key; };
        differing += first.find(hash(key), equal) == whole.find(hash(key), equal) ? 0U : 1U;
    }
    CHECK(differing == 0);
}

} // namespace test::core_detail_flat_index
