// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/alignment.hpp>

#include "../catch.hpp"

#include <string>
#include <vector>

namespace test::align_alignment {

using stemma::alignment;

namespace {

alignment fitting() {
    alignment sample;
    sample.placed = sample.explained = 100;
    sample.expected = sample.found = 50;
    sample.links = sample.flows = 80;
    sample.reads = sample.agreed = 40;
    sample.of.resize(3);
    sample.of[0].confidence = 0.99F;
    sample.of[1].confidence = 0.5F;
    return sample;
}

float highest(alignment sample, const std::vector<std::string>& faults = {}) {
    stemma::detail::doubt(sample, faults);
    CHECK(sample.of[1].confidence <= 0.5F);
    CHECK(sample.of[2].confidence == 0);
    return sample.of[0].confidence;
}

} // namespace

TEST_CASE("alignment: its quality is the worst of all shares", "[alignment]") {
    CHECK(alignment{}.quality() == 1);
    CHECK(fitting().quality() == 1);
    for (auto part :
         {&alignment::explained, &alignment::found, &alignment::flows, &alignment::agreed}) {
        auto sample = fitting();
        sample.*part /= 4;
        CHECK(sample.quality() <= 0.25);
        CHECK_FALSE(sample.is_plausible());
    }
}

TEST_CASE("alignment: it is inconsistent if data flow otherwise, however much is explained") {
    CHECK(alignment{}.is_consistent());
    CHECK(fitting().is_consistent());
    auto sample = fitting();
    sample.explained /= 2;
    CHECK(sample.is_consistent());
    sample.flows = sample.links * 3 / 4;
    CHECK_FALSE(sample.is_consistent());
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

TEST_CASE("alignment: the better one fits in all respects, not just in the worst one") {
    auto one = fitting();
    one.agreed = 34;
    auto other = one;
    other.explained = other.placed * 9 / 10;
    CHECK(one.quality() == other.quality());
    CHECK(stemma::detail::is_better(one, other));
    CHECK_FALSE(stemma::detail::is_better(other, one));
    other = one;
    ++other.agreed; // may be chance
    CHECK_FALSE(stemma::detail::is_better(other, one));
}

TEST_CASE("alignment: one that data flow confirms is better than one that it does not") {
    auto one = fitting();
    one.explained = 70;
    auto other = fitting();
    other.flows = other.links * 84 / 100;
    CHECK(one.quality() < other.quality());
    CHECK(stemma::detail::is_better(one, other));
    CHECK_FALSE(stemma::detail::is_better(other, one));
}

TEST_CASE("alignment: one that contradicts many names is worse than any that does not") {
    auto one = fitting();
    one.flows = one.links * 84 / 100; // inconsistent, too
    auto other = fitting();
    other.contradicted = other.reads / 4;
    CHECK(stemma::detail::is_better(one, other));
    CHECK_FALSE(stemma::detail::is_better(other, one));
}

TEST_CASE("alignment: of two that fit equally well, names decide") {
    auto other = fitting();
    other.denied = 2;
    CHECK(stemma::detail::is_better(fitting(), other));
    CHECK_FALSE(stemma::detail::is_better(other, fitting()));
}

TEST_CASE("alignment: misfits lower all confidences, and are reported", "[alignment]") {
    CHECK(highest(fitting()) == 0.99F);
    auto partly = fitting();
    partly.explained = 70;
    CHECK(highest(partly) < 0.9F);
    partly.explained = 50;
    CHECK(highest(partly) == 0.5F); // no surer than it fits
    partly.explained = 10;
    CHECK(highest(partly) < 0.5F);
    auto contradicted = fitting();
    contradicted.contradicted = 1;
    CHECK(highest(contradicted) < 0.9F);
    CHECK(highest(fitting(), {"cut short"}) < 0.9F);
    alignment sample = fitting();
    sample.contradicted = 3;
    stemma::detail::doubt(sample, std::vector<std::string>{"cut short"});
    REQUIRE(sample.doubts.size() == 2);
    CHECK(sample.doubts[0].starts_with("3 parameters"));
    CHECK(sample.doubts[1] == "cut short");
}

} // namespace test::align_alignment
