// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/json_writer.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace test::io_json_writer {

namespace {

using stemma::json_writer;
using stemma::string_sink;
using json = nlohmann::json;

/// Writes a value, with each container flat or not at random.
void write(json_writer<string_sink>& out, const json& value, test::random_numbers& random) {
    if (value.is_object()) {
        out.begin_object(random.one_in(2));
        for (const auto& [key, member] : value.items()) {
            out.key(key);
            write(out, member, random);
        }
        out.end_object();
    } else if (value.is_array()) {
        out.begin_array(random.one_in(2));
        for (const auto& element : value) {
            write(out, element, random);
        }
        out.end_array();
    } else if (value.is_string()) {
        out.value(value.get<std::string>());
    } else if (value.is_boolean()) {
        out.value(value.get<bool>());
    } else if (value.is_number_unsigned()) {
        out.value(value.get<std::uint64_t>());
    } else if (value.is_number_integer()) {
        out.value(value.get<std::int64_t>());
    } else if (value.is_number_float()) {
        out.value(value.get<double>());
    } else {
        out.null();
    }
}

json random_value(test::random_numbers& random, std::size_t depth) {
    switch (random(depth == 0 ? 6 : 9)) {
    case 0:
        return nullptr;
    case 1:
        return random.one_in(2);
    case 2:
        return random.next();
    case 3:
        return -static_cast<std::int64_t>(random.next() >> 1U);
    case 4:
        return static_cast<double>(random.next()) / 7e9;
    case 5: {
        std::string text;
        for (auto remaining = random(20); remaining > 0; --remaining) {
            text.push_back(static_cast<char>(random(0x80)));
        }
        return text + (random.one_in(2) ? "\u00e9\u20ac" : "");
    }
    case 6: {
        auto list = json::array();
        for (auto remaining = random(6); remaining > 0; --remaining) {
            list.push_back(random_value(random, depth - 1));
        }
        return list;
    }
    default: {
        auto object = json::object();
        for (auto remaining = random(6); remaining > 0; --remaining) {
            object["k\"\n" + std::to_string(random(100))] = random_value(random, depth - 1);
        }
        return object;
    }
    }
}

} // namespace

TEST_CASE("json_writer: output round-trips") {
    test::random_numbers random(1);
    for (int i = 0; i < 2000; ++i) {
        const auto value = random_value(random, 5);
        string_sink sink;
        json_writer out(sink);
        write(out, value, random);
        out.finish();
        CAPTURE(sink.text);
        REQUIRE(json::accept(sink.text));
        CHECK(json::parse(sink.text) == value);
        CHECK(sink.text.back() == '\n');
    }
}

TEST_CASE("json_writer: flat containers take one line, with everything in them") {
    string_sink sink;
    json_writer out(sink);
    out.begin_object();
    out.key("flat");
    out.begin_array(true);
    out.begin_object();
    out.member("a", 1);
    out.member("b", "x");
    out.end_object();
    out.begin_array();
    out.end_array();
    out.end_array();
    out.key("empty");
    out.begin_object();
    out.end_object();
    out.member("truth", true);
    out.end_object();
    out.finish();
    CHECK(sink.text == "{\n \"flat\": [{\"a\": 1, \"b\": \"x\"}, []],\n \"empty\": {},\n"
                       " \"truth\": true\n}\n");
}

TEST_CASE("json_writer: any bytes make JSON") {
    test::random_numbers random(2);
    for (int i = 0; i < 500; ++i) {
        string_sink sink;
        json_writer out(sink);
        out.begin_object(true);
        out.member(random.bytes(random(20)), random.bytes(random(40)));
        out.end_object();
        out.finish();
        const bool accepted = json::accept(sink.text);
        CHECK(accepted);
    }
}

TEST_CASE("json_writer: numbers keep their value, and non-numbers become null") {
    string_sink sink;
    json_writer out(sink);
    out.begin_array(true);
    out.value(std::numeric_limits<std::uint64_t>::max());
    out.value(std::numeric_limits<std::int64_t>::min());
    out.value(0.1F);
    out.value(1e300);
    out.value(std::numeric_limits<double>::infinity());
    out.value(std::numeric_limits<float>::quiet_NaN());
    out.end_array();
    out.finish();
    const auto read = json::parse(sink.text);
    CHECK(read[0] == std::numeric_limits<std::uint64_t>::max());
    CHECK(read[1] == std::numeric_limits<std::int64_t>::min());
    CHECK(read[2].get<float>() == 0.1F);
    CHECK(read[3] == 1e300);
    CHECK(read[4].is_null());
    CHECK(read[5].is_null());
}

TEST_CASE("json_writer: a long document is written in pieces") {
    struct counting_sink {
        std::size_t longest = 0;
        std::size_t size = 0;
        void write(std::string_view text) {
            longest = text.size() > longest ? text.size() : longest;
            size += text.size();
        }
    };
    STATIC_REQUIRE(stemma::text_sink<counting_sink>);
    STATIC_REQUIRE_FALSE(stemma::text_sink<int>);
    counting_sink sink;
    json_writer out(sink);
    out.begin_array();
    for (int i = 0; i < 200000; ++i) {
        out.value(i);
    }
    out.end_array();
    out.finish();
    CHECK(sink.size > 1000000);
    CHECK(sink.longest < 100000);
}

TEST_CASE("json_line: a document on one line, of objects and lists that functions write") {
    const auto line = stemma::detail::json_line([](auto& out) {
        out.object("a", [&] { out.member("b", 1); });
        out.flat_list("c", [&] { out.object([&] { out.member("d", 2); }); });
    });
    CHECK(line == R"({"a": {"b": 1}, "c": [{"d": 2}]})");
}

TEST_CASE("write_document: an object with a schema, and what a function adds") {
    string_sink sink;
    stemma::detail::write_document(sink, "own/1", [](auto& out) { out.member("a", 1); });
    CHECK(sink.text == "{\n \"schema\": \"own/1\",\n \"a\": 1\n}\n");
}

TEST_CASE("json_writer: an unknown text is null") {
    string_sink sink;
    json_writer out(sink);
    out.begin_object(true);
    out.member_or_null("known", "a");
    out.member_or_null("unknown", "");
    out.end_object();
    out.finish();
    CHECK(json::parse(sink.text) == json{{"known", "a"}, {"unknown", nullptr}});
}

TEST_CASE("json_writer: a list takes what is written for each element of a range") {
    const std::vector<int> range{1, 2};
    const auto written = [&](auto write) {
        string_sink sink;
        json_writer out(sink);
        out.begin_object();
        write(out);
        out.end_object();
        out.finish();
        return sink.text;
    };
    CHECK(written([&](auto& out) {
              out.list("list", range, [&](int one) { out.row(one, "a", true); });
          }) == "{\n \"list\": [\n  [1, \"a\", true],\n  [2, \"a\", true]\n ]\n}\n");
    CHECK(written([&](auto& out) {
              out.flat_list("list", range, [&](int one) { out.value(one); });
          }) == "{\n \"list\": [1, 2]\n}\n");
    CHECK(written([&](auto& out) {
              out.objects("list", range, [&](int one) { out.member("a", one); });
          }) == "{\n \"list\": [\n  {\"a\": 1},\n  {\"a\": 2}\n ]\n}\n");
    CHECK(written([&](auto& out) { out.values("list", range, std::negate<>()); }) ==
          "{\n \"list\": [-1, -2]\n}\n");
}

} // namespace test::io_json_writer
