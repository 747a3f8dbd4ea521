// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/recorded_claims.hpp>

#include "../../catch.hpp"
#include "../../parsed_json.hpp"

#include <stemma/io/json_writer.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace test::record_detail_recorded_claims {

using stemma::claim;
using stemma::claim_table;
using stemma::no_id;
using stemma::provenance;

namespace {

claim_table some_claims() {
    claim_table table{provenance::trace, std::vector<claim>(9)};
    for (std::size_t v : {2U, 3U, 4U}) {
        table.of[v] = {7, no_id, stemma::detail::in_percent(0.99F), provenance::trace};
    }
    table.of[5] = {7, 1, stemma::detail::in_percent(0.3F), provenance::trace};
    table.of[6] = {0, no_id, stemma::detail::in_percent(0.5F), provenance::trace, false};
    table.of[8] = {2, 4, stemma::detail::in_percent(1), provenance::trace, false};
    return table;
}

std::string written(const claim_table& table) {
    stemma::string_sink sink;
    stemma::json_writer writer(sink);
    stemma::detail::write_claims(writer, stemma::detail::to_runs(table));
    writer.finish();
    return sink.text;
}

} // namespace

TEST_CASE("recorded_claims: claims round-trip") {
    const auto table = some_claims();
    const auto text = written(table);
    const auto parsed = test::parsed_json(text);
    CHECK(parsed.part()["runs"].size() == 6);
    const auto runs = stemma::detail::read_claims(parsed.part(), 9, 8);
    REQUIRE(runs);
    CHECK(runs->nodes() == 9);
    const auto read = std::optional(stemma::detail::to_table(*runs));
    CHECK(read->source == provenance::trace);
    REQUIRE(read->of.size() == table.of.size());
    for (std::size_t v = 0; v < table.of.size(); ++v) {
        CHECK(read->of[v].module == table.of[v].module);
        CHECK(read->of[v].call == table.of[v].call);
        CHECK(read->of[v].confidence == table.of[v].confidence);
        CHECK(read->of[v].exact == table.of[v].exact);
    }
    CHECK(read->count() == 6);
    CHECK(written(*read) == text);
}

TEST_CASE("recorded_claims: rejects claims that do not fit the model") {
    const auto parsed = test::parsed_json(written(some_claims()));
    CHECK_FALSE(stemma::detail::read_claims(parsed.part(), 8, 8));
    CHECK_FALSE(stemma::detail::read_claims(parsed.part(), 10, 8));
    CHECK_FALSE(stemma::detail::read_claims(parsed.part(), 9, 7));
    for (const char* damaged :
         {R"({"source":"root","runs":[[9]]})", R"({"source":"trace","runs":[[9,1]]})",
          R"({"source":"trace","runs":[[9,1,101]]})", R"({"source":"trace","runs":[9]})",
          R"({"source":"trace","runs":[[-9]]})", R"({"source":7,"runs":[[9]]})", "[]", "7"}) {
        INFO(damaged);
        CHECK_FALSE(stemma::detail::read_claims(test::parsed_json(damaged).part(), 9, 8));
    }
    CHECK(stemma::detail::read_claims(
        test::parsed_json(R"({"source":"trace","runs":[[9]]})").part(), 9, 8));
}

TEST_CASE("recorded_claims: a part of a model has the claims of its nodes") {
    const std::vector<stemma::detail::claim_runs> tables{stemma::detail::to_runs(some_claims())};
    const std::vector<stemma::id> nodes{8, 0, 3};
    const auto parts = stemma::detail::claims_about(tables, nodes, 9);
    REQUIRE(parts.size() == 1);
    const auto part = stemma::detail::to_table(parts[0]);
    REQUIRE(part.of.size() == 3);
    CHECK(part.of[0].module == 2);
    CHECK(part.of[1].module == no_id);
    CHECK(part.of[2].module == 7);
    CHECK(stemma::detail::claims_about(tables, nodes, 8).empty());
}

} // namespace test::record_detail_recorded_claims
