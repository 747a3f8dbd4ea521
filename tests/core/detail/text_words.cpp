// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/text_words.hpp>

#include "../../catch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace test::core_detail_text_words {

using stemma::detail::bytes_equal;
using stemma::detail::shared_prefix;
using stemma::detail::top_bits;

namespace {

bool contains(std::string_view text, char c) {
    std::uint64_t any = 0;
    stemma::detail::for_each_word(text, [&](std::uint64_t word) { any |= bytes_equal(word, c); });
    return any != 0;
}

bool contains_pair(std::string_view text, char a, char b) {
    std::uint64_t any = 0;
    stemma::detail::for_each_word_pair(text, [&](std::uint64_t word, std::uint64_t next) {
        any |= bytes_equal(word, a) & bytes_equal(next, b);
    });
    return any != 0;
}

} // namespace

TEST_CASE("bytes_equal: marks no byte but those that are equal") {
    // Neighbours that a borrow would mark: the character, and the one that differs in one bit.
    CHECK(bytes_equal(0x2f2e'2f2e'2d2e'2e00U, '.') == 0x0080'0080'0080'8000U);
    CHECK(bytes_equal(0xaeff'80ae'0000'0000U, '.') == 0);
    CHECK(bytes_equal(~std::uint64_t{0}, '.') == 0);
    CHECK((bytes_equal(0x2e2e'2e2e'2e2e'2e2eU, '.') ^ top_bits) == 0);
}

TEST_CASE("for_each_word: finds a character anywhere in texts of any length") {
    for (std::size_t size = 0; size < 40; ++size) {
        CHECK_FALSE(contains(std::string(size, 'a'), '/'));
        for (std::size_t at = 0; at < size; ++at) {
            auto text = std::string(size, 'a');
            text[at] = '/';
            CHECK(contains(text, '/'));
        }
    }
    CHECK_FALSE(contains({}, '/'));
}

TEST_CASE("for_each_word_pair: finds two characters in sequence anywhere") {
    for (std::size_t size = 0; size < 40; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            auto text = std::string(size, 'a');
            text[at] = '.';
            CHECK_FALSE(contains_pair(text, '.', '/'));
            if (at + 1 < size) {
                text[at + 1] = '/';
                CHECK(contains_pair(text, '.', '/'));
                CHECK_FALSE(contains_pair(text, '/', '.'));
            }
        }
    }
    CHECK_FALSE(contains_pair({}, '.', '/'));
}

TEST_CASE("shared_prefix: ends where texts differ, or the shorter one ends") {
    const std::string text = "encoder.layer.0.attention.self.query";
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto other = text;
        other[at] = '!';
        CHECK(shared_prefix(text, other) == at);
        CHECK(shared_prefix(text, text.substr(0, at)) == at);
    }
    CHECK(shared_prefix(text, text) == text.size());
    CHECK(shared_prefix({}, text) == 0);
}

} // namespace test::core_detail_text_words
