// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/string_pool.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace test::core_detail_string_pool {

using stemma::id;
using stemma::no_id;
using stemma::detail::string_pool;

namespace {

/// Returns: names that a careless table confuses: empty, containing zeros, prefixes of each other,
/// long.
std::vector<std::string> hostile_strings() {
    std::vector<std::string> strings{"", std::string(1, '\0'), std::string(2, '\0'),
                                     std::string(100'000, 'x'), std::string(100'001, 'x')};
    test::random_numbers random(11);
    for (int round = 0; round < 4000; ++round) {
        std::string text;
        for (auto length = random(40); length > 0; --length) {
            text.push_back(random.one_in(3) ? '\0' : random.one_in(2) ? 'a' : '\xff');
        }
        strings.push_back(text);
        strings.push_back(text.substr(0, text.size() / 2));
        strings.push_back(text + text);
    }
    return strings;
}

} // namespace

TEST_CASE("string_pool: keeps what a map keeps", "[core][string_pool]") {
    string_pool pool;
    std::unordered_map<std::string, id> reference;
    std::vector<std::string> in_order;
    for (const auto& text : hostile_strings()) {
        const auto before = reference.find(text);
        REQUIRE(pool.find(text) == (before == reference.end() ? no_id : before->second));
        const auto next = static_cast<id>(reference.size());
        const auto [entry, is_new] = reference.emplace(text, next);
        REQUIRE(pool.intern(text) == entry->second);
        if (is_new) {
            in_order.push_back(text);
        }
    }
    REQUIRE(pool.size() == in_order.size());
    for (id i = 0; i < in_order.size(); ++i) {
        REQUIRE(pool[i] == in_order[i]);
        REQUIRE(pool.find(in_order[i]) == i);
    }
}

TEST_CASE("string_pool: can intern a view of itself", "[core][string_pool]") {
    string_pool pool;
    pool.intern("encoder.layer");
    for (id i = 0; i < 12; ++i) {
        const auto part = pool[0].substr(0, i);
        const std::string copy(part);
        const auto number = pool.intern(part);
        CHECK(pool[number] == copy);
    }
    CHECK(pool[0] == "encoder.layer");
}

TEST_CASE("string_pool: a copy has the same names and is independent", "[core][string_pool]") {
    string_pool pool;
    pool.intern("a");
    auto copy = pool;
    CHECK(copy.intern("b") == 1);
    CHECK(pool.find("b") == no_id);
    CHECK(copy.find("a") == 0);
    const auto moved = std::move(copy);
    CHECK(moved.find("b") == 1);
    CHECK(string_pool().find("") == no_id);
}

} // namespace test::core_detail_string_pool
