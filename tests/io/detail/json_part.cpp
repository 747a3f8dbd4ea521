// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/detail/json_part.hpp>

#include "../../catch.hpp"
#include "../../parsed_json.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace test::io_detail_json_part {

using nlohmann::json;
using stemma::detail::json_part;
using stemma::detail::json_value;

namespace {

/// A value of any kind, with duplicate keys, empty texts and texts that need escaping.
std::string random_json(test::random_numbers& random, std::size_t depth) {
    constexpr std::array scalars{"null",
                                 "true",
                                 "false",
                                 "0",
                                 "-1",
                                 "1.5",
                                 "1e300",
                                 "\"\"",
                                 "\"plain\"",
                                 "\"\\u00e9 \\n\\\"\"",
                                 "-9223372036854775808",
                                 "18446744073709551615",
                                 "18446744073709551616"};
    const auto kind = random(depth == 0 ? 1 : 3);
    if (kind == 0) {
        return scalars[random(scalars.size())];
    }
    std::string text = kind == 1 ? "[" : "{";
    for (auto remaining = random(5); remaining > 0; --remaining) {
        if (kind == 2) {
            text += "\"" + std::string(random(4), 'k') + "\":";
        }
        text += random_json(random, depth - 1) + (remaining > 1 ? "," : "");
    }
    return text + (kind == 1 ? "]" : "}");
}

} // namespace

TEST_CASE("json_part: agrees with another parser") {
    test::random_numbers random(5);
    for (int i = 0; i < 2000; ++i) {
        const auto text = random_json(random, 4);
        CAPTURE(text);
        const auto document = test::parsed_json(text);
        const auto value = json::parse(text);
        REQUIRE(test::says(document.part(), value));
        // A copy of a part is independent.
        if (value.is_array() && !value.empty()) {
            const auto last = value.size() - 1;
            auto whole = document;
            const json_value inner(whole.part()[last]);
            whole.clear();
            REQUIRE(test::says(inner.part(), value[last]));
        }
    }
}

TEST_CASE("json_part: a missing index or key gives no value, recursively") {
    const auto document = test::parsed_json(R"({"list":[1,[2]],"text":"a","nothing":null})");
    const auto part = document.part();
    CHECK(part["nothing"]);
    CHECK(part["nothing"].is_null());
    for (const auto none :
         {json_part(), part["gone"], part[0], part["list"][2], part["list"]["text"],
          part["text"][0], part["gone"]["deeper"][1], json_value().part()}) {
        CHECK_FALSE(none);
        CHECK_FALSE(none.is_null());
        CHECK_FALSE(none.is_number<int>());
        CHECK(none.size() == 0);
        CHECK_FALSE(none == "");
        CHECK_FALSE(json_value(none).part());
        CHECK_THROWS_AS(none.text(), std::invalid_argument);
        CHECK_THROWS_AS(none.begin(), std::invalid_argument);
    }
}

TEST_CASE("json_part: a value is read as its own kind, or rejected") {
    const auto document = test::parsed_json(R"([null,true,-1,1,1.5,"a",["a","b"],[1,2],{"a":1}])");
    const auto part = document.part();
    for (std::size_t i = 0; i < part.size(); ++i) {
        CAPTURE(i);
        const auto one = part[i];
        CHECK(one.is_null() == (i == 0));
        CHECK(one.is_boolean() == (i == 1));
        CHECK(one.is_text() == (i == 5));
        CHECK(one.is_array() == (i == 6 || i == 7));
        CHECK(one.is_texts() == (i == 6));
        CHECK(one.is_object() == (i == 8));
        if (i != 1) {
            CHECK_THROWS_AS(one.boolean(), std::invalid_argument);
        }
        if (i != 2 && i != 3) {
            CHECK_THROWS_AS(one.number<int>(), std::invalid_argument);
        }
        if (i != 5) {
            CHECK_THROWS_AS(one.text(), std::invalid_argument);
        }
        if (i != 6) {
            CHECK_THROWS_AS(one.texts(), std::invalid_argument);
        }
        if (i != 7) {
            CHECK_THROWS_AS(one.numbers<int>(), std::invalid_argument);
        }
    }
    CHECK(part[6].texts() == std::vector<std::string>{"a", "b"});
    CHECK(part[7].numbers<int>() == std::vector<int>{1, 2});
}

TEST_CASE("json_part: a number out of range is not a number of that type") {
    const auto document =
        test::parsed_json("[-1,0,4294967295,4294967296,9223372036854775808,-9223372036854775808]");
    const auto part = document.part();
    const auto fit = [&]<class Number>(Number) {
        std::string which;
        for (std::size_t i = 0; i < part.size(); ++i) {
            which += part[i].is_number<Number>() ? 'y' : 'n';
        }
        return which;
    };
    CHECK(fit(stemma::id{}) == "nyynnn");
    CHECK(fit(std::int32_t{}) == "yynnnn");
    CHECK(fit(std::int64_t{}) == "yyyyny");
    CHECK(fit(std::uint64_t{}) == "nyyyyn");
    CHECK_THROWS_AS(part[0].number<stemma::id>(), std::invalid_argument);
}

TEST_CASE("json_part: the last of duplicate keys counts") {
    const auto document = test::parsed_json(R"({"a":[1],"b":2,"a":"last"})");
    CHECK(document.part()["a"] == "last");
    CHECK(document.part()["b"].number<int>() == 2);
}

TEST_CASE("json_value: is whole once everything has been closed") {
    json_value value;
    CHECK(value.is_whole());
    value.begin_object();
    value.key("a");
    value.begin_array();
    value.natural(7);
    value.end();
    CHECK_FALSE(value.is_whole());
    value.end();
    CHECK(value.is_whole());
    CHECK(test::says(value.part(), json::parse(R"({"a":[7]})")));
    value.clear();
    CHECK_FALSE(value.part());
    value.text("again");
    CHECK(value.part() == "again");
}

} // namespace test::io_detail_json_part
