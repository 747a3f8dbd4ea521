// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/json_text.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace test::io_json_text {

using stemma::append_json_string;
using stemma::detail::is_utf8;
using stemma::detail::utf8_length;

namespace {

std::string json_of(std::string_view text) {
    std::string out;
    append_json_string(text, out);
    return out;
}

/// Returns: the UTF-8 encoding of a code point, by arithmetic alone.
std::string encoded(std::uint32_t code) {
    if (code < 0x80) {
        return {static_cast<char>(code)};
    }
    std::string tail;
    std::uint32_t room = 0x40;
    for (; code >= room; code /= 64, room = tail.size() == 1 ? 0x20 : room / 2) {
        tail.insert(tail.begin(), static_cast<char>(0x80 | code % 64));
    }
    const auto lead = tail.size() == 1 ? 0xc0U : tail.size() == 2 ? 0xe0U : 0xf0U;
    return static_cast<char>(lead | code) + tail;
}

/// Returns: what a strict reader and writer makes of `text`; nothing if it is not UTF-8.
std::optional<std::string> strict(const std::string& text) {
    try {
        return nlohmann::json(text).dump();
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

} // namespace

TEST_CASE("utf8_length: accepts every code point and rejects surrogates") {
    std::size_t wrong = 0;
    for (std::uint32_t code = 0; code <= 0x11'ffff; ++code) {
        const bool is_character = code <= 0x10'ffff && (code < 0xd800 || code > 0xdfff);
        const auto text = encoded(code);
        wrong += utf8_length(text) == (is_character ? text.size() : 0) ? 0U : 1U;
        wrong += is_utf8(text) == is_character ? 0U : 1U;
    }
    CHECK(wrong == 0);
}

TEST_CASE("utf8_length: rejects truncated, overlong and stray bytes") {
    for (std::string_view text :
         {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
          "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xe2(\xa1", "\xc3("}) {
        CHECK(utf8_length(text) == 0);
        CHECK_FALSE(is_utf8(text));
    }
    CHECK(is_utf8(""));
}

TEST_CASE("append_json_string: round-trips") {
    std::string every;
    for (std::uint32_t code = 0; code < 0x3000; ++code) {
        every += encoded(code);
    }
    every += encoded(0x1'f600) + encoded(0x10'ffff);
    CHECK(nlohmann::json::parse(json_of(every)).get<std::string>() == every);
    CHECK(json_of("") == "\"\"");
    CHECK(json_of("a\"b\\c\n\t") == R"("a\"b\\c\n\t")");
}

TEST_CASE("append_json_string: agrees with a strict writer on random bytes") {
    test::random_numbers random(5);
    const std::array<std::string, 8> parts{"\xe2\x82\xac",     "\xc3\xa9", "\"",   "\\",
                                           "\xf0\x9f\x98\x80", "\n",       "name", "\x1f"};
    std::size_t valid = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        std::string mended;
        for (auto count = random(8); count > 0; --count) {
            const auto part = random.one_in(10) ? random.bytes(1) : parts[random(parts.size())];
            text += part;
        }
        for (std::size_t i = 0; i < text.size();) {
            std::size_t length = 1;
            while (length <= 4 && i + length <= text.size() && !strict(text.substr(i, length))) {
                ++length;
            }
            const bool is_character = length <= 4 && i + length <= text.size();
            mended += is_character ? text.substr(i, length) : "\xef\xbf\xbd";
            i += is_character ? length : 1;
        }
        const auto expected = strict(text);
        valid += expected ? 1U : 0U;
        REQUIRE(is_utf8(text) == expected.has_value());
        REQUIRE(nlohmann::json::parse(json_of(text)).get<std::string>() == mended);
    }
    CHECK(valid > 1000);
    CHECK(valid < 19000);
}

TEST_CASE("plain_prefix: ends before every character that is not plain, wherever it is") {
    for (int c = 0; c < 256; ++c) {
        const bool plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
        for (std::size_t at = 0; at < 24; ++at) {
            std::string text(24, 'a');
            text[at] = static_cast<char>(c);
            const auto prefix = stemma::detail::plain_prefix(text);
            CHECK(prefix <= (plain ? text.size() : at));
            CHECK((!plain || prefix == text.size()));
        }
    }
    CHECK(stemma::detail::plain_prefix("short") == 0);
}

TEST_CASE("append_json_string: appends") {
    std::string out = "{";
    append_json_string("a", out);
    out.append(": ");
    append_json_string("\x01", out);
    CHECK(out == "{\"a\": \"\\u0001\"");
}

} // namespace test::io_json_text
