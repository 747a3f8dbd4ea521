// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/summarize_model.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"
#include "../written_text.hpp"

#include <stemma/error.hpp>

#include <array>
#include <string>

namespace test::report_summarize_model {

namespace {

using stemma::id;

} // namespace

TEST_CASE("summarize: counts the given nodes, and is named after the file") {
    auto opened = test::captured_model("bert_micro");
    const auto all = stemma::summarize(opened);
    CHECK(all.model == opened.file().path());
    CHECK(all.nodes == opened.model().node_count());
    CHECK(!all.against_oracle);
    const std::array<id, 2> some{0, 3};
    CHECK(stemma::summarize(opened, some).nodes == 2);
}

TEST_CASE("summarize: compares with one source of evidence, or with a file") {
    auto opened = test::captured_model("bert_micro");
    const auto claimed = stemma::detail::claimed_modules(opened, stemma::provenance::scope);
    std::size_t count = 0;
    for (const auto& module : claimed) {
        count += module ? 1U : 0U;
    }
    CHECK(count > 0);
    const auto summary = stemma::summarize(opened, "scope");
    REQUIRE(summary.against_oracle);
    CHECK(summary.against_oracle->total() == count);
    std::size_t by_module = 0;
    for (const auto& [module, counts] : summary.oracle_modules) {
        by_module += counts.total();
    }
    CHECK(by_module == count);
    // The truth as it was found.
    std::string truth = R"({"format": "fixture-truth/1", "nodes": [)";
    std::size_t named = 0;
    for (id node = 0; node < opened.model().node_count(); ++node) {
        const auto name = std::string(opened.model().name(node));
        if (!name.empty()) {
            const auto& attribution = opened.tags().attributions[node];
            truth += std::string(named++ == 0 ? "" : ",") + R"({"original": ")" + name +
                     R"(", "module": ")" + opened.modules().path(attribution.module) + "\"}";
        }
    }
    const test::scratch_folder folder;
    const auto exact =
        stemma::summarize(opened, folder.make("truth.json", truth + "]}")).against_oracle;
    REQUIRE(exact);
    CHECK(exact->exact > 0);
    CHECK(exact->exact + exact->missing == exact->total());
}

TEST_CASE("summarize: rejects anything but a truth") {
    auto opened = test::captured_model("bert_micro");
    const test::scratch_folder folder;
    const auto strange = folder.make(
        "truth.json",
        R"({"format": "fixture-truth/1", "nodes": [{"original": "nobody", "module": "x"}]})");
    CHECK(test::refusal([&] { return stemma::summarize(opened, "consumer"); }).code() ==
          stemma::error_code::refused);
    CHECK(test::refusal([&] { return stemma::summarize(opened, strange); }).code() ==
          stemma::error_code::malformed);
    CHECK(test::refusal([&] { return stemma::summarize(opened, folder.file("none")); }).code() ==
          stemma::error_code::cannot_read);
}

TEST_CASE("write_json: writes a complete document") {
    auto opened = test::captured_model("bert_micro");
    const auto json = test::json_of(stemma::summarize(opened));
    CHECK(json["schema"] == "stemma.summary/1");
    CHECK(json["nodes"] == opened.model().node_count());
}

} // namespace test::report_summarize_model
