// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/carrier.hpp>

#include "../catch.hpp"

#include <stemma/core/category.hpp>

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace test::onnx_carrier {

using stemma::operator_tags;

namespace {

/// Records what a carrier writes, one line per call.
struct written {
    std::vector<std::string> lines;

    void metadata(std::string_view key, std::string_view value) { add("metadata", key, value); }
    void attribute(std::string_view key, std::string_view value) { add("attribute", key, value); }
    void attribute(std::string_view key, std::span<const std::string> list) {
        std::string joined;
        for (const auto& one : list) {
            joined.append(joined.empty() ? "" : ",").append(one);
        }
        add("attributes", key, joined);
    }
    void doc_line(std::string_view line) { add("doc", "", line); }
    void name_space(std::string_view path) { add("namespace", "", path); }
    void mark() { add("mark", "", ""); }

private:
    void add(std::string_view what, std::string_view key, std::string_view value) {
        lines.push_back(std::string(what).append(" ").append(key).append(" ").append(value));
    }
};

const std::vector<std::string> several{"/Net/A", "/Net/B"};
const operator_tags one_tag{"/Net/A", "a.0", {}, ""};
const operator_tags two_tags{"/Net/A", "a.0", several, R"(["/Net/A", "/Net/B"])"};

template <class Carrier>
std::vector<std::string> lines(const Carrier& carrier, const operator_tags& tags) {
    STATIC_REQUIRE(stemma::explain_policy<stemma::carrier_category, Carrier>());
    STATIC_REQUIRE(stemma::carrier_policy<Carrier>);
    written sink;
    carrier.write(tags, sink);
    return sink.lines;
}

using texts = std::vector<std::string>;

struct without_category {
    void write(const operator_tags&, auto&) const {}
};

struct not_const {
    using policy_category = stemma::carrier_category;
    void write(const operator_tags&, auto&) {}
};

struct sink_without_name_space {
    void metadata(std::string_view, std::string_view) {}
    void attribute(std::string_view, std::string_view) {}
    void attribute(std::string_view, std::span<const std::string>) {}
    void doc_line(std::string_view) {}
    void mark() {}
};

} // namespace

TEST_CASE("metadata_carrier: writes tag and module, and all tags if there are several") {
    CHECK(lines(stemma::metadata_carrier{}, one_tag) ==
          texts{"metadata pkg.stemma.source_module /Net/A", "metadata pkg.stemma.module a.0"});
    CHECK(lines(stemma::metadata_carrier{}, two_tags) ==
          texts{"metadata pkg.stemma.source_module /Net/A", "metadata pkg.stemma.module a.0",
                R"(metadata pkg.stemma.hierarchy_tags ["/Net/A", "/Net/B"])"});
}

TEST_CASE("attribute_carrier: writes attributes, a list if there are several") {
    CHECK(lines(stemma::attribute_carrier{}, one_tag) == texts{"attribute source_module /Net/A"});
    CHECK(lines(stemma::attribute_carrier{}, two_tags) ==
          texts{"attribute source_module /Net/A", "attributes hierarchy_tags /Net/A,/Net/B"});
}

TEST_CASE("doc_string_carrier: writes one marked line that JSON readers understand") {
    const auto read = [](const operator_tags& tags) {
        const auto written = lines(stemma::doc_string_carrier{}, tags);
        REQUIRE(written.size() == 1);
        const auto start = "doc  " + std::string(stemma::detail::doc_line_mark);
        REQUIRE(written[0].starts_with(start));
        CHECK(written[0].find('\n') == std::string::npos);
        return nlohmann::json::parse(written[0].substr(start.size()));
    };
    CHECK(read(one_tag) == nlohmann::json{{"source_module", "/Net/A"}, {"module", "a.0"}});
    CHECK(read(two_tags).at("hierarchy_tags") == nlohmann::json(several));
    const operator_tags hostile{"/N\"\n\\\x01", "a\nb", {}, ""};
    CHECK(read(hostile).at("source_module") == "/N\"\n\\\x01");
}

TEST_CASE("namespace_carrier: writes the path of the module, separated by slashes") {
    CHECK(lines(stemma::namespace_carrier{}, two_tags) == texts{"namespace  a/0"});
    CHECK(stemma::namespace_carrier::spell("").empty());
}

TEST_CASE("model_carrier: writes nothing on the operators") {
    CHECK(lines(stemma::model_carrier{}, two_tags).empty());
}

TEST_CASE("mark_carrier: writes the operator's number, whatever its tags") {
    CHECK(lines(stemma::mark_carrier{}, one_tag) == texts{"mark  "});
    CHECK(lines(stemma::mark_carrier{}, two_tags) == texts{"mark  "});
}

TEST_CASE("append_mark: parse_mark reads every number back and nothing else") {
    for (const stemma::id number : {0U, 1U, 35U, 36U, 1295U, 1296U, 999999U, stemma::no_id - 1}) {
        std::string line;
        stemma::detail::append_mark(number, line);
        CHECK(line.size() <= stemma::detail::node_mark.size() + 7);
        CHECK(stemma::detail::parse_mark(line) == number);
    }
    for (const auto* other : {"", "stemma#", "stemma#A", "stemma# 1", "stemma#1 ", "Stemma#1",
                              "x stemma#1", "stemma#zzzzzzz", "stemma#10000000", "stemma"}) {
        CHECK(stemma::detail::parse_mark(other) == stemma::no_id);
    }
}

TEST_CASE("carrier_set: writes what its members write, in their order") {
    for (unsigned chosen = 0; chosen < 64; ++chosen) {
        const auto has = [&](unsigned bit) { return (chosen >> bit & 1U) != 0; };
        const stemma::carrier_set set{has(0), has(1), has(2), has(3), has(4), has(5)};
        texts expected;
        const auto add = [&](bool wanted, const texts& more) {
            expected.insert(expected.end(), more.begin(), wanted ? more.end() : more.begin());
        };
        add(set.metadata, lines(stemma::metadata_carrier{}, two_tags));
        add(set.attribute, lines(stemma::attribute_carrier{}, two_tags));
        add(set.doc_string, lines(stemma::doc_string_carrier{}, two_tags));
        add(set.name_space, lines(stemma::namespace_carrier{}, two_tags));
        add(set.mark, lines(stemma::mark_carrier{}, two_tags));
        CHECK(lines(set, two_tags) == expected);
        CHECK((set == stemma::carrier_set{}) == (chosen == 1));
    }
}

TEST_CASE("carrier_policy: accepts the built-in carriers and rejects near misses") {
    STATIC_REQUIRE(std::is_empty_v<stemma::metadata_carrier>);
    STATIC_REQUIRE(stemma::carrier_sink<written>);
    STATIC_REQUIRE_FALSE(stemma::carrier_sink<sink_without_name_space>);
    STATIC_REQUIRE_FALSE(stemma::carrier_policy<without_category>);
    STATIC_REQUIRE_FALSE(stemma::carrier_policy<not_const>);
}

TEST_CASE("records_namespaces: reads the list of carriers before the options") {
    using stemma::detail::records_namespaces;
    CHECK(records_namespaces(R"({"carriers": ["namespace"], "options": {}})"));
    CHECK_FALSE(records_namespaces(R"({"carriers": [], "options": {"x": "namespace"}})"));
    CHECK_FALSE(records_namespaces(R"({"carriers": ["metadata"], "options": {}})"));
    CHECK_FALSE(records_namespaces(""));
}

TEST_CASE("carrier_set: is given by a list of carriers") {
    const auto named = [](const char* list) { return stemma::carrier_set::named(list); };
    CHECK(named("metadata") == stemma::carrier_set{});
    CHECK(named("attribute,doc-string") == stemma::carrier_set{false, true, true, false, false});
    CHECK(named("model,namespace,metadata,model") ==
          stemma::carrier_set{true, false, false, true, true});
    for (const auto* text : {"", ",", "metadata,other", "Metadata", "doc_string"}) {
        CHECK_THROWS_WITH(named(text), Catch::Contains("doc-string"));
    }
}

} // namespace test::onnx_carrier
