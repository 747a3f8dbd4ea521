// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/attribution.hpp>

#include "../catch.hpp"

#include <stemma/core/id.hpp>

#include <cstddef>
#include <set>
#include <string>

namespace test::model_attribution {

using stemma::is_evidence;
using stemma::parse_provenance;
using stemma::provenance;
using stemma::provenance_count;

TEST_CASE("provenance: every name is different and reads back", "[model][attribution]") {
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

TEST_CASE("provenance: what propagation decides is no evidence", "[model][attribution]") {
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

TEST_CASE("attribution: without more, nothing is known", "[model][attribution]") {
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

} // namespace test::model_attribution
