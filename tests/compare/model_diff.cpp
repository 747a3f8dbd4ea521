// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/model_diff.hpp>

#include "../catch.hpp"

#include <set>
#include <string_view>

namespace test::compare_model_diff {

TEST_CASE("module_change: every change has a unique name") {
    std::set<std::string_view> names;
    for (auto change = stemma::model_diff::change::added;;
         change = static_cast<stemma::model_diff::change>(static_cast<int>(change) + 1)) {
        CHECK(names.insert(to_string(change)).second);
        if (change == stemma::model_diff::change::weights) {
            break;
        }
    }
    CHECK(names.count("") == 0);
}

TEST_CASE("model_diff: is equal without differences") {
    stemma::model_diff diff;
    CHECK(diff.is_equal());
    diff.modules.emplace_back();
    CHECK(!diff.is_equal());
    diff.modules.clear();
    diff.header.push_back({"opset ai.onnx", "17", "18"});
    CHECK(!diff.is_equal());
}

TEST_CASE("module_difference: says what it has") {
    stemma::model_diff::changed_module entry;
    entry.changes = {stemma::model_diff::change::moved, stemma::model_diff::change::weights};
    CHECK(entry.has(stemma::model_diff::change::weights));
    CHECK(!entry.has(stemma::model_diff::change::fused));
}

} // namespace test::compare_model_diff
