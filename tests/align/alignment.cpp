// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/alignment.hpp>

#include "../catch.hpp"

#include <string>
#include <vector>

namespace test::align_alignment {

using stemma::alignment;

namespace {

alignment fitting() {
    alignment made;
    made.placed = made.explained = 100;
    made.expected = made.found = 50;
    made.links = made.flows = 80;
    made.reads = made.agreed = 40;
    made.of.resize(3);
    made.of[0].confidence = 0.99F;
    made.of[1].confidence = 0.5F;
    return made;
}

float highest(alignment made, const std::vector<std::string>& faults = {}) {
    stemma::detail::doubt(made, faults);
    CHECK(made.of[1].confidence <= 0.5F);
    CHECK(made.of[2].confidence == 0);
    return made.of[0].confidence;
}

} // namespace

TEST_CASE("alignment: its quality is the worst of all shares", "[alignment]") {
    CHECK(alignment{}.quality() == 1);
    CHECK(fitting().quality() == 1);
    for (auto part :
         {&alignment::explained, &alignment::found, &alignment::flows, &alignment::agreed}) {
        auto made = fitting();
        made.*part /= 4;
        CHECK(made.quality() <= 0.25);
        CHECK_FALSE(made.is_plausible());
    }
}

TEST_CASE("alignment: it is inconsistent if data flow otherwise, however much is explained") {
    CHECK(alignment{}.is_consistent());
    CHECK(fitting().is_consistent());
    auto made = fitting();
    made.explained /= 2;
    CHECK(made.is_consistent());
    made.flows = made.links * 3 / 4;
    CHECK_FALSE(made.is_consistent());
}

TEST_CASE("alignment: the better one is believed more, even if it explains a little less") {
    auto whole = fitting();
    auto agreeing = fitting();
    whole.contradicted = 1;
    agreeing.explained = 95;
    CHECK(whole.credibility() < agreeing.credibility());
    CHECK(stemma::detail::is_better(agreeing, whole));
    CHECK_FALSE(stemma::detail::is_better(whole, agreeing));
    agreeing.explained = 70; // in doubt itself
    CHECK(stemma::detail::is_better(whole, agreeing));
    whole.contradicted = 0;
    CHECK(stemma::detail::is_better(whole, agreeing));
    CHECK_FALSE(stemma::detail::is_better(whole, whole));
}

TEST_CASE("alignment: misfits lower all confidences, and are reported", "[alignment]") {
    CHECK(highest(fitting()) == 0.99F);
    auto partly = fitting();
    partly.explained = 70;
    CHECK(highest(partly) < 0.9F);
    partly.explained = 10;
    CHECK(highest(partly) < 0.5F);
    auto contradicted = fitting();
    contradicted.contradicted = 1;
    CHECK(highest(contradicted) < 0.9F);
    CHECK(highest(fitting(), {"cut short"}) < 0.9F);
    alignment made = fitting();
    made.contradicted = 3;
    stemma::detail::doubt(made, std::vector<std::string>{"cut short"});
    REQUIRE(made.doubts.size() == 2);
    CHECK(made.doubts[0].starts_with("3 parameters"));
    CHECK(made.doubts[1] == "cut short");
}

} // namespace test::align_alignment
