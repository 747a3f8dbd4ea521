// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/attribution.hpp>

#include "../catch.hpp"

#include <stemma/core/id.hpp>

#include <cstddef>
#include <set>
#include <string>

namespace test::model_attribution {

using stemma::is_evidence;
using stemma::provenance;
using stemma::detail::parse_provenance;
using stemma::detail::provenance_count;

TEST_CASE("provenance: names are unique and round-trip", "[model][attribution]") {
    std::set<std::string> names;
    for (std::size_t i = 0; i < provenance_count; ++i) {
        const auto p = static_cast<provenance>(i);
        names.emplace(to_string(p));
        CHECK(parse_provenance(to_string(p)) == p);
    }
    CHECK(names.size() == provenance_count);
    CHECK(names.count("") == 0);
    CHECK(static_cast<std::size_t>(provenance::root) + 1 == provenance_count);
    for (auto unknown : {"", "Export", "exported", "root "}) {
        CHECK_FALSE(parse_provenance(unknown));
    }
}

TEST_CASE("provenance: rules of propagation are not evidence", "[model][attribution]") {
    for (auto p : {provenance::exported, provenance::metadata, provenance::scope,
                   provenance::parameter, provenance::leftover}) {
        CHECK(is_evidence(p));
    }
    for (auto p : {provenance::consumer, provenance::producer, provenance::between,
                   provenance::owner, provenance::root}) {
        CHECK_FALSE(is_evidence(p));
    }
    STATIC_REQUIRE(to_string(provenance::exported) == "export");
}

TEST_CASE("attribution: by default nothing is known", "[model][attribution]") {
    const stemma::attribution nothing;
    CHECK(nothing.module == stemma::no_id);
    CHECK(nothing.call == stemma::no_id);
    CHECK(nothing.source == provenance::root);
    CHECK(nothing.confidence <= 0);
    CHECK_FALSE(nothing.conflict);
    const stemma::claim none;
    CHECK(none.module == stemma::no_id);
    CHECK(none.caller == stemma::no_id);
    CHECK(none.exact);
    CHECK_FALSE(none.doubtful);
}

TEST_CASE("provenance_names: custom sources follow those of the library", "[model][attribution]") {
    stemma::provenance_names names;
    CHECK(names.size() == provenance_count);
    const auto labels = names.add("labels");
    const auto guesses = names.add("guesses");
    CHECK(labels != guesses);
    CHECK(names.add("labels") == labels);
    CHECK(names.size() == provenance_count + 2);
    CHECK(names[labels] == "labels");
    CHECK(names.find("guesses") == guesses);
    CHECK(names[provenance::scope] == "scope");
    CHECK(names.find("scope") == provenance::scope);
    CHECK_FALSE(names.find("other"));
    CHECK(is_evidence(labels));
    CHECK(to_string(labels) == "other");
    CHECK(stemma::provenance_names()[labels] == "other");
    for (const auto* name : {"", "other", "scope", "consumer", "root"}) {
        CHECK_THROWS_AS(names.add(name), stemma::error);
    }
}

TEST_CASE("provenance_names: there is a maximum number of sources", "[model][attribution]") {
    stemma::provenance_names names;
    for (std::size_t i = 0; i < stemma::provenance_names::most_added; ++i) {
        CHECK(names[names.add("s" + std::to_string(i))] == "s" + std::to_string(i));
    }
    CHECK_THROWS_AS(names.add("one more"), stemma::error);
}

} // namespace test::model_attribution
