// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/write_diff.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../written_text.hpp"

#include <stemma/compare/diff_models.hpp>
#include <stemma/open/attributed_model.hpp>

namespace test::compare_write_diff {

TEST_CASE("write_json: counts equal modules and lists differences") {
    const stemma::attributed_model a(test::fixture("mlp/model.onnx"), {});
    const auto same = test::json_of(stemma::diff_models(a, a), a, a, false);
    CHECK(same["schema"] == "stemma.diff/1");
    CHECK(same["equal"] == true);
    CHECK(same["modules"].empty());
    CHECK(same["matched"]["nodes"] == same["size_first"]["nodes"]);
    const stemma::attributed_model b(test::fixture("bert_micro/model.onnx"), {});
    const auto other = test::json_of(stemma::diff_models(a, b), a, b, true);
    CHECK(other["equal"] == false);
    REQUIRE(!other["modules"].empty());
    for (const auto& entry : other["modules"]) {
        CHECK(!entry["changes"].empty());
        CHECK(entry["list"]["only_first"].size() == entry["nodes"]["only_first"]);
    }
    CHECK(!test::json_of(stemma::diff_models(a, b), a, b, false)["modules"][0].contains("list"));
}

} // namespace test::compare_write_diff
