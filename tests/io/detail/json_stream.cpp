// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/detail/json_stream.hpp>

#include "../../catch.hpp"
#include "../../parsed_json.hpp"
#include "../../random_numbers.hpp"
#include "../../refusal.hpp"

#include <stemma/error.hpp>
#include <stemma/io/detail/json_part.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::io_detail_json_stream {

namespace {

using parts = std::vector<std::pair<std::string, stemma::detail::json_value>>;

struct recorder final : stemma::detail::json_handler {
    parts elements;
    parts scalars;
    std::string unwanted;

    [[nodiscard]] bool wants(const std::string& path) override { return path != unwanted; }
    void element(const std::string& path, stemma::detail::json_part part) override {
        elements.emplace_back(path, part);
    }
    void scalar(const std::string& path, stemma::detail::json_part part) override {
        scalars.emplace_back(path, part);
    }
};

void check_parts(const parts& actual, const std::vector<std::pair<const char*, const char*>>& are) {
    REQUIRE(actual.size() == are.size());
    for (std::size_t i = 0; i < are.size(); ++i) {
        CHECK(actual[i].first == are[i].first);
        CAPTURE(i);
        CHECK(test::says(actual[i].second.part(), nlohmann::json::parse(are[i].second)));
    }
}

std::optional<stemma::error> refusal(std::string_view text, std::string_view unwanted = "") {
    recorder handler;
    handler.unwanted = unwanted;
    return test::find_refusal([&] { stemma::detail::stream_json(text, "file.json", handler); });
}

} // namespace

TEST_CASE("stream_json: passes elements and scalars one by one, with their paths") {
    recorder handler;
    handler.unwanted = "skipped";
    stemma::detail::stream_json(
        R"({"a":1,"list":[1,"x",[2,[3]],{"k":{"l":[4]}}],"skipped":[1,{"a":[2]},[3]],"empty":[],
            "trace":{"events":[{"e":0}],"n":null,"deep":{"er":[1]}},"last":true})",
        "file.json", handler);
    check_parts(handler.elements, {{"list", "1"},
                                   {"list", "\"x\""},
                                   {"list", "[2,[3]]"},
                                   {"list", R"({"k":{"l":[4]}})"},
                                   {"trace.events", R"({"e":0})"}});
    check_parts(
        handler.scalars,
        {{"a", "1"}, {"trace.n", "null"}, {"trace.deep", R"({"er":[1]})"}, {"last", "true"}});
}

TEST_CASE("stream_json: rejects non-objects and non-JSON with one line") {
    for (const char* text : {"",
                             " ",
                             "7",
                             "null",
                             "\"x\"",
                             "[]",
                             "[{}]",
                             "{",
                             "{\"a\"",
                             "{\"a\":",
                             "{\"a\":1",
                             "{\"a\":[",
                             "{\"a\":[1,]}",
                             "{\"a\":1,}",
                             "{} {}",
                             "{}x",
                             "{\"a\":\"\xff\"}",
                             "{'a':1}",
                             "{\"a\":01}",
                             "{\"a\":1e999}"}) {
        CAPTURE(text);
        const auto refused = refusal(text);
        REQUIRE(refused);
        CHECK(refused->code() == stemma::error_code::malformed);
        const std::string_view what = refused->what();
        CHECK(what.find("file.json: ") == 0);
        CHECK(what.find('\n') == what.npos);
    }
    CHECK_FALSE(refusal("{}"));
    CHECK_FALSE(refusal("{\"a\":{}}"));
}

TEST_CASE("stream_json: rejects endless nesting") {
    for (const std::size_t depth : {std::size_t{2000}, std::size_t{10000}, std::size_t{1000000}}) {
        for (const char* around : {"[", "{\"a\":"}) {
            std::string text = "{\"a\":[";
            for (std::size_t i = 0; i < depth; ++i) {
                text.append(around);
            }
            CAPTURE(depth, around);
            for (const char* unwanted : {"", "a"}) {
                const auto refused = refusal(text, unwanted);
                REQUIRE(refused);
                CHECK(refused->code() == stemma::error_code::malformed);
            }
        }
    }
    std::string deep = "{\"a\":";
    deep.append(500, '[').append(500, ']').append("}");
    CHECK_FALSE(refusal(deep));
}

TEST_CASE("stream_json: rejects truncated documents") {
    const std::string text =
        R"({"a":1,"list":[1,"x\u00e9",[2,[3]],{"k":{"l":[4]}}],"trace":{"events":[{"e":0}]}})";
    for (std::size_t size = 0; size < text.size(); ++size) {
        CAPTURE(size);
        CHECK(refusal(std::string_view(text).substr(0, size)));
    }
    CHECK_FALSE(refusal(text));
}

TEST_CASE("stream_json: reads or rejects any bytes") {
    const std::string text =
        R"({"a":1,"list":[1,"x",[2,[3]],{"k":{"l":[4]}}],"trace":{"events":[{"e":0}]}})";
    test::random_numbers random(9);
    std::size_t read = 0;
    for (int i = 0; i < 20000; ++i) {
        auto damaged = text;
        for (auto hits = 1 + random(3); hits > 0; --hits) {
            const auto at = random(damaged.size());
            damaged[at] =
                random.one_in(2) ? static_cast<char>(random(256)) : text[random(text.size())];
        }
        const auto refused = refusal(damaged);
        read += refused ? 0U : 1U;
        CHECK((!refused || refused->code() == stemma::error_code::malformed));
    }
    CHECK(read > 0);
}

} // namespace test::io_detail_json_stream
