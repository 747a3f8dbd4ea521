// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/cost_report.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"
#include "../written_text.hpp"

#include <stemma/io/json_writer.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/report/export_model.hpp>
#include <stemma/stemma.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace test::cost_cost_report {

TEST_CASE("write_json: the code in docs/library.md works", "[cost]") {
    const auto model = stemma::open(test::fixture("mlp/model.onnx"));
    const auto cost = stemma::find_cost(model);
    const test::scratch_folder scratch;
    const auto folder = scratch.path();
    stemma::string_sink json;
    stemma::write_json(json, cost, model);
    stemma::output_file tree(folder + "/tree.json");
    stemma::write_tree(tree, model);
    tree.commit();

    const auto costs = nlohmann::json::parse(json.text);
    const auto modules = nlohmann::json::parse(test::read_bytes(folder + "/tree.json"));
    CHECK(costs["schema"] == "stemma.cost/1");
    CHECK(costs["modules"].size() == model.modules().size());
    CHECK(modules["modules"].size() == model.modules().size());
    CHECK(costs["modules"][0]["macs"] == "56*batch");
}

TEST_CASE("write_csv: a row for each module", "[cost]") {
    const auto model = stemma::open(test::fixture("mlp/model.onnx"));
    const auto csv = test::csv_of(stemma::find_cost(model), model);
    CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) ==
          model.modules().size() + 1);
}

} // namespace test::cost_cost_report
