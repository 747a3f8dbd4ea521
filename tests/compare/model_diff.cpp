// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/model_diff.hpp>

#include "../catch.hpp"

#include <set>
#include <string_view>

namespace test::compare_model_diff {

TEST_CASE("module_change: every change has a unique name") {
    std::set<std::string_view> names;
    for (auto change = stemma::module_change::added;;
         change = static_cast<stemma::module_change>(static_cast<int>(change) + 1)) {
        CHECK(names.insert(to_string(change)).second);
        if (change == stemma::module_change::weights) {
            break;
        }
    }
    CHECK(names.count("") == 0);
}

TEST_CASE("model_diff: is equal without differences") {
    stemma::model_diff found;
    CHECK(found.is_equal());
    found.modules.emplace_back();
    CHECK(!found.is_equal());
    found.modules.clear();
    found.header.push_back({"opset ai.onnx", "17", "18"});
    CHECK(!found.is_equal());
}

TEST_CASE("module_difference: says what it has") {
    stemma::module_difference entry;
    entry.changes = {stemma::module_change::moved, stemma::module_change::weights};
    CHECK(entry.has(stemma::module_change::weights));
    CHECK(!entry.has(stemma::module_change::fused));
}

} // namespace test::compare_model_diff
