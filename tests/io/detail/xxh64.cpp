// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/detail/xxh64.hpp>

#include "../../catch.hpp"

#include <set>
#include <string>

namespace test::io_detail_xxh64 {

TEST_CASE("xxh64: agrees with the reference program") {
    CHECK(stemma::detail::to_hex(stemma::detail::xxh64("")) == "ef46db3751d8e999");
    CHECK(stemma::detail::to_hex(stemma::detail::xxh64("a")) == "d24ec4f1a98c6e5b");
    CHECK(stemma::detail::to_hex(stemma::detail::xxh64("abc")) == "44bc2cf5ad770999");
    CHECK(stemma::detail::to_hex(stemma::detail::xxh64(
              "Nobody inspects the spammish repetition")) == "fbcea83c8a378bf1");
}

TEST_CASE("xxh64: every length and every byte counts") {
    std::set<std::uint64_t> hashes;
    std::string text;
    for (int length = 0; length < 100; ++length) {
        CHECK(hashes.insert(stemma::detail::xxh64(text)).second);
        for (auto& c : text) {
            c ^= 1;
            CHECK(hashes.insert(stemma::detail::xxh64(text)).second);
            c ^= 1;
        }
        text.push_back(static_cast<char>('a' + length % 26));
    }
}

TEST_CASE("xxh64_digest: does not depend on how the bytes were divided") {
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text.push_back(static_cast<char>(i * 7));
    }
    const auto whole = stemma::detail::xxh64(text);
    for (std::size_t step = 1; step < 80; ++step) {
        stemma::detail::xxh64_digest digest;
        for (std::size_t at = 0; at < text.size(); at += step) {
            digest.add(std::string_view(text).substr(at, step));
        }
        CHECK(digest.value() == whole);
    }
}

} // namespace test::io_detail_xxh64
