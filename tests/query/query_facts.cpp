// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/query_facts.hpp>

#include "../catch.hpp"

#include <stemma/core/glob.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/query/parse_query.hpp>

#include <string>

namespace test::query_query_facts {

namespace {

using stemma::parse_query;

bool fits(const std::string& text, const stemma::value_fact& fact) {
    return stemma::detail::fits_value(parse_query(text), fact);
}

bool has(const std::string& text, const stemma::attribute_fact& fact) {
    return stemma::detail::fits_attribute(parse_query(text), fact);
}

} // namespace

TEST_CASE("fits_value: types, ranks, shapes and sizes") {
    const stemma::value_fact fact{"float16", true, {"1", "seq", "768"}, 4096};
    CHECK(fits("type:float16", fact));
    CHECK(fits("type:half", fact));
    CHECK(fits("type:float*", fact));
    CHECK(!fits("type:float", fact)); // which is float32
    CHECK(fits("rank:3", fact));
    CHECK(!fits("rank>3", fact));
    CHECK(fits("shape:[1,*,768]", fact));
    CHECK(fits("shape:[1, seq, 768]", fact));
    CHECK(fits("shape:**,768", fact));
    CHECK(!fits("shape:[*,768]", fact));
    CHECK(fits("bytes>4000", fact));
    CHECK(!fits("bytes>1MB", fact));
}

TEST_CASE("fits_value: unknown facts match nothing") {
    const stemma::value_fact unknown;
    for (const auto* text : {"type:*", "rank>=0", "shape:**", "bytes>=0"}) {
        CHECK(!fits(text, unknown));
    }
}

TEST_CASE("fits_line: by the last names of a path, and by lines") {
    const stemma::source_position at{"app/models/net.py", 120, "forward"};
    const auto fits = [&](const char* text) {
        const auto asked = stemma::parse_query(text);
        return stemma::detail::fits_line(asked, stemma::glob(asked.pattern), at);
    };
    CHECK(fits("line:net.py:120"));
    CHECK(fits("line:models/net.py:100-140"));
    CHECK(fits("line:app/models/net.py"));
    CHECK(fits("line:*.py:120-120"));
    CHECK_FALSE(fits("line:net.py:119"));
    CHECK_FALSE(fits("line:et.py:120"));
    CHECK_FALSE(fits("line:app/net.py:120"));
}

TEST_CASE("fits_line: by the recorded path, with either slash") {
    const stemma::source_position at{"net.py", 7, "forward"};
    const auto fits = [&](const char* text, const char* path) {
        const auto asked = stemma::parse_query(text);
        return stemma::detail::fits_line(asked, stemma::glob(asked.pattern), at, path);
    };
    const auto* windows = "C:\\srv\\me\\net.py";
    CHECK(fits("line:/srv/me/net.py:7", "/srv/me/net.py"));
    CHECK(fits("line:me/net.py", "/srv/me/net.py"));
    CHECK(fits("line:C:/srv/me/net.py:7", windows));
    CHECK(fits("line:'C:\\srv\\me\\net.py:7'", windows));
    CHECK_FALSE(fits("line:/srv/me/net.py:8", "/srv/me/net.py"));
    CHECK_FALSE(fits("line:/me/net.py", "/srv/me/net.py"));
    CHECK_FALSE(fits("line:*srv*", "/srv/me/net.py")); // folders only if asked for
}

TEST_CASE("fits_attribute: by name, by text, by number") {
    const stemma::attribute_fact strides{"strides", "[2,2]", {}};
    const stemma::attribute_fact group{"group", "32", 32};
    const stemma::attribute_fact epsilon{"epsilon", "1e-05", 1e-5F, true};
    CHECK(has("attr:strides", strides));
    CHECK(!has("attr:stride", strides));
    CHECK(has("attr:strides=[2,2]", strides));
    CHECK(has("attr:strides=[2, 2]", strides));
    CHECK(has("attr:strides=[2,*]", strides));
    CHECK(!has("attr:strides=[1,1]", strides));
    CHECK(!has("attr:strides>1", strides)); // no single number
    CHECK(has("attr:group>1", group));
    CHECK(!has("attr:group<32", group));
    CHECK(has("attr:group:32", group));
    CHECK(has("attr:group=32.0", group));
    const stemma::attribute_fact past_float{"k", "16777217", 16777217};
    CHECK(has("attr:k=16777217", past_float));
    CHECK(!has("attr:k=16777216", past_float));
    const stemma::attribute_fact longest{"k", "9223372036854775807", 9223372036854775807.0};
    CHECK(has("attr:k=9223372036854775807", longest));
    CHECK(!has("attr:k=9223372036854775806", longest));
    CHECK(has("attr:epsilon=0.00001", epsilon));
    CHECK(has("attr:epsilon<=1e-5", epsilon)); // as stored, although not the same as a double
    CHECK(!has("attr:epsilon<1e-5", epsilon));
    CHECK(!has("attr:epsilon>1e-5", epsilon));
    CHECK(!has("attr:epsilon=0.0001", epsilon));
}

} // namespace test::query_query_facts
