// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/compare_modules.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../written_text.hpp"

#include <stemma/io/detail/json_stream.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/open/attributed_model.hpp>

#include <string>

namespace test::compare_compare_modules {

namespace {

struct one_model {
    stemma::attributed_model opened = test::captured_model("bert_micro");

    [[nodiscard]] stemma::module_comparison compare(const std::string& first,
                                                    const std::string& second,
                                                    const stemma::diff_options& how = {}) const {
        const stemma::module_lookup<stemma::module_tree> lookup(opened.modules());
        return stemma::compare_modules(opened, stemma::find_module(lookup, first), opened,
                                       stemma::find_module(lookup, second), how);
    }
};

} // namespace

TEST_CASE("compare_modules: layers have the same function and different weights") {
    const one_model bert;
    const auto same = bert.compare("encoder.layer.0", "encoder.layer.0");
    CHECK(same.same_function);
    CHECK(same.difference.weights.empty());
    const auto comparison = bert.compare("encoder.layer.0", "encoder.layer.1");
    CHECK(comparison.same_function);
    CHECK(comparison.matched_nodes == comparison.first_nodes);
    CHECK(comparison.first_nodes == comparison.second_nodes);
    CHECK(comparison.difference.only_first.empty());
    CHECK(comparison.difference.rewired.empty());
    CHECK(comparison.compared_weights > 8);
    CHECK_FALSE(comparison.difference.weights.empty());
    CHECK(comparison.difference.weights.size() <= comparison.compared_weights);
}

TEST_CASE("compare_modules: a negative tolerance is refused") {
    CHECK_THROWS_WITH(one_model().compare("pooler", "pooler", {.tolerance = -1e-3}),
                      "tolerance: -0.001 is not a number from 0");
}

TEST_CASE("compare_modules: lists the differing nodes of modules with different functions") {
    const one_model bert;
    const auto comparison =
        bert.compare("encoder.layer.0.output", "encoder.layer.0.attention.output.dense");
    CHECK_FALSE(comparison.same_function);
    CHECK(comparison.matched_nodes < comparison.first_nodes);
    CHECK(comparison.difference.only_first.size() ==
          comparison.first_nodes - comparison.matched_nodes);
    CHECK(comparison.difference.only_second.size() ==
          comparison.second_nodes - comparison.matched_nodes);
    const auto json = test::json_of(comparison, bert.opened, bert.opened, true);
    CHECK(json["schema"] == "stemma.module_diff/1");
    CHECK(json["same_function"] == false);
    CHECK(json["first"]["module"] == "encoder.layer.0.output");
    CHECK(json["list"]["only_first"].size() == comparison.difference.only_first.size());
}

} // namespace test::compare_compare_modules
