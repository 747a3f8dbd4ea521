// SPDX-License-Identifier: Apache-2.0
#include <stemma/open/policy_names.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../refusal.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/error.hpp>
#include <stemma/open/attributed_model.hpp>

#include <string>
#include <vector>

namespace test::open_policy_names {

namespace {

std::vector<std::string> tags_of(const stemma::policy_names& names) {
    const stemma::onnx_policy_registry registry;
    stemma::attribution_options how;
    how.captures = stemma::captures({test::fixture("bert_micro/modules.json")});
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"),
                                          names.found_in(registry, how));
    std::vector<std::string> tags;
    for (const auto& attribution : opened.tags().attributions) {
        tags.push_back(opened.tags().tags.text(attribution.module));
    }
    return tags;
}

std::string refusal(const stemma::policy_names& names) {
    const stemma::onnx_policy_registry registry;
    const auto refused = test::find_refusal([&] { return names.found_in(registry); });
    CHECK((!refused || refused->code() == stemma::error_code::refused));
    return refused ? refused->what() : std::string();
}

} // namespace

TEST_CASE("policy_names: names choose the same as types") {
    CHECK(tags_of({}) == tags_of({.selection = "default"}));
    CHECK(tags_of({.selection = "all"}) != tags_of({}));
    CHECK(tags_of({.keep = {"Linear"}}) != tags_of({}));
    CHECK(tags_of({.selection = "all", .keep = {"Linear"}}) == tags_of({.selection = "all"}));
}

TEST_CASE("policy_names: only named sources are queried") {
    const stemma::onnx_policy_registry registry;
    const auto how = stemma::policy_names{.sources = {"scope", "parameter"}}.found_in(registry);
    REQUIRE(how.sources);
    CHECK(*how.sources == std::vector{stemma::provenance::scope, stemma::provenance::parameter});
    CHECK(!stemma::policy_names{}.found_in(registry).sources);
    CHECK(how.known == &registry);
}

TEST_CASE("policy_names: rejects unknown names, listing the known ones") {
    CHECK(refusal({.propagation = "residul"}).find("residual") != std::string::npos);
    CHECK(refusal({.sources = {"skope"}}).find("scope") != std::string::npos);
    CHECK(!refusal({.sources = {"consumer"}}).empty()); // a rule, no source
    CHECK(!refusal({.naming = "nothing"}).empty());
    CHECK(refusal({.naming = "default"}).empty());
}

TEST_CASE("policy_names: lists all available sources") {
    const auto names = stemma::policy_names::all_sources({});
    CHECK(names.starts_with("export, "));
    CHECK(names.find("leftover") != std::string::npos);
    CHECK(names.find("consumer") == std::string::npos);
}

} // namespace test::open_policy_names
