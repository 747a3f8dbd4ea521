// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/hash.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace test::core_detail_hash {

using stemma::detail::hash_bytes;
using stemma::detail::hash_mix;

TEST_CASE("hash_bytes: depends on the bytes and the seed, not on their address", "[core][hash]") {
    test::random_numbers random(1);
    for (std::size_t length = 0; length < 70; ++length) {
        const auto text = random.bytes(length);
        for (std::size_t shift = 0; shift < 9; ++shift) {
            // Exactly as large as needed, so that a sanitizer detects reads past the end.
            const auto moved = std::make_unique<char[]>(shift + length);
            text.copy(moved.get() + shift, length);
            CHECK(hash_bytes({moved.get() + shift, length}) == hash_bytes(text));
        }
        CHECK(hash_bytes(text, 1) != hash_bytes(text));
    }
    CHECK(hash_bytes({}) == hash_bytes(""));
}

TEST_CASE("hash_bytes: every bit and the length count", "[core][hash]") {
    test::random_numbers random(2);
    for (std::size_t length = 1; length < 70; ++length) {
        const auto text = random.bytes(length);
        std::set<std::uint64_t> hashes{hash_bytes(text)};
        for (std::size_t bit = 0; bit < 8 * length; ++bit) {
            auto changed = text;
            changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
            hashes.insert(hash_bytes(changed));
        }
        CHECK(hashes.size() == 8 * length + 1);
    }
    std::set<std::uint64_t> zeros;
    for (std::size_t length = 0; length < 70; ++length) {
        zeros.insert(hash_bytes(std::string(length, '\0')));
    }
    CHECK(zeros.size() == 70);
}

TEST_CASE("hash_bytes: both halves distinguish similar names", "[core][hash]") {
    constexpr std::size_t count = 100'000;
    std::set<std::uint64_t> whole;
    std::vector<std::size_t> high(1024);
    std::vector<std::size_t> low(1024);
    for (std::size_t i = 0; i < count; ++i) {
        const auto hash = hash_bytes("/encoder/layer." + std::to_string(i) + "/Add");
        whole.insert(hash);
        ++high[hash >> 54U];
        ++low[hash & 1023U];
    }
    CHECK(whole.size() == count);
    for (const auto& buckets : {high, low}) {
        double chi_squared = 0;
        const double expected = static_cast<double>(count) / 1024;
        for (auto hits : buckets) {
            const auto off = static_cast<double>(hits) - expected;
            chi_squared += off * off / expected;
        }
        // 1023 degrees of freedom: 1300 is six standard deviations above the expectation.
        CHECK(chi_squared < 1300);
    }
}

TEST_CASE("hash_mix: order counts, and small numbers do not collide", "[core][hash]") {
    std::set<std::uint64_t> hashes;
    for (std::uint64_t a = 0; a < 300; ++a) {
        for (std::uint64_t b = 0; b < 300; ++b) {
            hashes.insert(hash_mix(a, b));
        }
    }
    CHECK(hashes.size() == 300 * 300);
    STATIC_REQUIRE(hash_mix(1, 2) != hash_mix(2, 1));
}

TEST_CASE("fnv1a: gives the published values, at once or in parts", "[core][hash]") {
    CHECK(stemma::detail::fnv1a("") == 0xcbf2'9ce4'8422'2325U);
    CHECK(stemma::detail::fnv1a("a") == 0xaf63'dc4c'8601'ec8cU);
    CHECK(stemma::detail::fnv1a("foobar") == 0x8594'4171'f739'67e8U);
    CHECK(stemma::detail::fnv1a("bar", stemma::detail::fnv1a("foo")) ==
          stemma::detail::fnv1a("foobar"));
}

} // namespace test::core_detail_hash
