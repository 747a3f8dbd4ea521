// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/summary.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/evidence/dialect.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <numeric>
#include <string>

namespace test::record_summary {

namespace {

stemma::tag_summary summary_of(test::tagged_model& tagged) {
    stemma::evidence_context<test::tagged_model::operators, stemma::module_tree> context(
        tagged.ops, tagged.modules);
    return stemma::summarize(tagged.model, tagged.modules, tagged.found,
                             stemma::detail::detect_dialects(context));
}

} // namespace

TEST_CASE("summarize: every node is counted once") {
    for (const auto& path : test::files_called("model.onnx", ".onnx")) {
        CAPTURE(path);
        const auto bytes = test::read_bytes(path);
        test::tagged_model tagged(bytes);
        const auto summary = summary_of(tagged);
        const auto& by = summary.provenance;
        CHECK(summary.nodes == tagged.model.node_count());
        CHECK(std::accumulate(by.begin(), by.end(), std::size_t{0}) == summary.nodes);
        CHECK(summary.tagged ==
              summary.nodes - by[static_cast<std::size_t>(stemma::provenance::root)]);
        CHECK(summary.full_scope + summary.path_only + summary.name_only == summary.nodes);
        CHECK(summary.values_tagged == summary.values);
        std::size_t tags = 0;
        for (std::size_t i = 0; i < summary.tags.size(); ++i) {
            tags += summary.tags[i].second;
            CHECK((i == 0 || summary.tags[i - 1].second >= summary.tags[i].second));
        }
        CHECK(tags == summary.nodes);
    }
}

TEST_CASE("summarize: some nodes are summarized like all") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    test::tagged_model tagged(bytes);
    stemma::evidence_context<test::tagged_model::operators, stemma::module_tree> context(
        tagged.ops, tagged.modules);
    const auto dialects = stemma::detail::detect_dialects(context);
    const std::vector<stemma::id> one{0};
    const auto summary =
        stemma::summarize(tagged.model, tagged.modules, tagged.found, dialects, one);
    CHECK(summary.nodes == 1);
    REQUIRE(summary.tags.size() == 1);
    CHECK(summary.tags[0].first == tagged.found.tags.text(tagged.found.attributions[0].module));
}

TEST_CASE("summarize: if nothing names a module, no node is tagged") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/anonymous.onnx"));
    test::tagged_model tagged(bytes);
    const auto summary = summary_of(tagged);
    CHECK(summary.tagged == 0);
    CHECK(summary.coverage() == 0);
    // Scopes that are all the root's name nothing either.
    const auto flat = test::model(test::graph({test::node("Relu", {"x"}, {"a"}, "/Relu"),
                                               test::node("Neg", {"a"}, {"y"}, "/Neg")},
                                              {"x"}, {"y"}))
                          .bytes();
    test::tagged_model one(flat);
    CHECK(summary_of(one).tagged == 0);
}

TEST_CASE("is_tagged: holds below the root, or if surely the root's") {
    using stemma::attribution;
    using stemma::provenance;
    const auto none = stemma::no_id;
    CHECK(stemma::detail::is_tagged({0, none, 0.95F, provenance::scope, false}));
    CHECK(stemma::detail::is_tagged({0, none, 0.9F, provenance::consumer, false}));
    CHECK_FALSE(stemma::detail::is_tagged({0, none, 0.6F, provenance::parameter, false}));
    CHECK_FALSE(stemma::detail::is_tagged({0, none, 0.5F, provenance::between, false}));
    CHECK_FALSE(stemma::detail::is_tagged({0, none, 0, provenance::root, false}));
    CHECK(stemma::detail::is_tagged({3, none, 0.3F, provenance::producer, false}));
}

TEST_CASE("is_only_below: holds for low confidence, or an uncertain root") {
    using stemma::provenance;
    const auto none = stemma::no_id;
    CHECK(stemma::detail::is_only_below({3, none, 0.5F, provenance::between, false}));
    CHECK(stemma::detail::is_only_below({3, none, 0.4F, provenance::trace, false}));
    CHECK(stemma::detail::is_only_below({0, none, 0.6F, provenance::parameter, false}));
    CHECK_FALSE(stemma::detail::is_only_below({3, none, 0.6F, provenance::producer, false}));
    CHECK_FALSE(stemma::detail::is_only_below({0, none, 0.95F, provenance::scope, false}));
}

TEST_CASE("tag_summary: no nodes count as fully covered") {
    CHECK(stemma::tag_summary{}.coverage() == 1);
    stemma::tag_summary half;
    half.nodes = 4;
    half.tagged = 2;
    CHECK(half.coverage() == 0.5);
}

TEST_CASE("write_json: writes the counts") {
    const auto bytes = test::read_bytes(test::fixture("control_flow/model.onnx"));
    test::tagged_model tagged(bytes);
    auto summary = summary_of(tagged);
    for (const bool with_oracle : {false, true}) {
        if (with_oracle) {
            summary.against_oracle.emplace();
            summary.against_oracle->exact = 7;
            summary.oracle_modules.emplace_back("a.b", stemma::accuracy{});
        }
        stemma::string_sink sink;
        stemma::json_writer json(sink);
        json.begin_object();
        stemma::write_json(json, summary);
        json.end_object();
        json.finish();
        const auto read = nlohmann::json::parse(sink.text);
        CHECK(read["nodes"] == summary.nodes);
        CHECK(read["coverage"] == summary.coverage());
        CHECK(read["tags"].size() == summary.tags.size());
        CHECK(read["tags"][summary.tags[0].first] == summary.tags[0].second);
        CHECK(read.contains("exact") == with_oracle);
        CHECK(read.contains("oracle_modules") == with_oracle);
    }
}

} // namespace test::record_summary
