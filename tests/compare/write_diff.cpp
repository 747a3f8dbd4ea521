// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/write_diff.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/compare/diff_models.hpp>
#include <stemma/open/attributed_model.hpp>

#include <nlohmann/json.hpp>

namespace test::compare_write_diff {

namespace {

nlohmann::json written(const stemma::attributed_model& a, const stemma::attributed_model& b,
                       bool nodes) {
    stemma::string_sink sink;
    stemma::write_json(sink, stemma::diff_models(a, b), a, b, nodes);
    return nlohmann::json::parse(sink.text);
}

} // namespace

TEST_CASE("write_json: counts equal modules and lists differences") {
    const stemma::attributed_model a(test::fixture("mlp/model.onnx"), {});
    const auto same = written(a, a, false);
    CHECK(same["schema"] == "stemma.diff/1");
    CHECK(same["equal"] == true);
    CHECK(same["modules"].empty());
    CHECK(same["matched"]["nodes"] == same["size_first"]["nodes"]);
    const stemma::attributed_model b(test::fixture("bert_micro/model.onnx"), {});
    const auto other = written(a, b, true);
    CHECK(other["equal"] == false);
    REQUIRE(!other["modules"].empty());
    for (const auto& entry : other["modules"]) {
        CHECK(!entry["changes"].empty());
        CHECK(entry["list"]["only_first"].size() == entry["nodes"]["only_first"]);
    }
    CHECK(!written(a, b, false)["modules"][0].contains("list"));
}

} // namespace test::compare_write_diff
