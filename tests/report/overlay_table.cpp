// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/overlay_table.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../refusal.hpp"

#include <stemma/error.hpp>
#include <stemma/open/attributed_model.hpp>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace test::report_overlay_table {

namespace {

using stemma::id;

const stemma::attributed_model& mlp() {
    static const auto opened = test::captured_model("mlp");
    return opened;
}

stemma::overlay_table read(const std::string& text) {
    return stemma::read_overlay(text, "over.json", mlp());
}

double number(const stemma::overlay_table::cell& cell) {
    REQUIRE(std::holds_alternative<double>(cell));
    return std::get<double>(cell);
}

} // namespace

TEST_CASE("read_overlay: reads columns and rows of any program") {
    const auto table = read(R"({"schema": "stemma.overlay/1", "title": "a run", "more": [1],
        "columns": [{"name": "heat", "unit": "K", "direction": "lower", "additive": true},
                    {"name": "chip"}],
        "modules": [{"path": "", "values": [3, null]}, {"path": "fc2", "values": [1.5, "A"]},
                    {"path": "fc3", "values": [1, "A"]}],
        "nodes": [{"name": "/fc1/Gemm", "values": [-2e3, "B"]}]})");
    CHECK(table.title == "a run");
    REQUIRE(table.columns.size() == 2);
    CHECK(table.columns[0].unit == "K");
    CHECK(table.columns[0].better == stemma::column_direction::lower);
    CHECK(table.columns[0].additive);
    CHECK(table.columns[1].better == stemma::column_direction::neither);
    CHECK_FALSE(table.columns[1].additive);
    REQUIRE(table.modules.size() == 2);
    CHECK(table.unmatched == 1);
    CHECK(table.modules[0].of == 0);
    CHECK(std::holds_alternative<std::monostate>(table.modules[0].cells[1]));
    CHECK(mlp().modules().path(table.modules[1].of) == "fc2");
    CHECK(number(table.modules[1].cells[0]) == Approx(1.5));
    REQUIRE(table.nodes.size() == 1);
    CHECK(mlp().model().name(table.nodes[0].of) == "/fc1/Gemm");
    CHECK(std::get<std::string>(table.nodes[0].cells[1]) == "B");
}

TEST_CASE("read_overlay: reads reports of this program") {
    const auto time = read(R"({"schema": "stemma.profile/1", "runs": 4, "modules": [
        {"path": "fc1", "us": 8, "own_us": 4, "calls": 4, "min_us": 1, "max_us": 3,
         "providers": {"CPU": 6, "QNN": 2}}]})");
    REQUIRE(time.modules.size() == 1);
    CHECK(time.title == "over.json");
    CHECK(number(time.modules[0].cells[0]) == Approx(2));
    CHECK(number(time.modules[0].cells[2]) == Approx(1)); // the fastest run is one run
    CHECK(std::get<std::string>(time.modules[0].cells.back()) == "CPU, QNN");
    const auto cost = read(R"({"schema": "stemma.cost/1", "modules": [
        {"path": "", "macs": "16*batch", "flops": null, "parameters": 7}]})");
    CHECK(std::get<std::string>(cost.modules[0].cells[0]) == "16*batch");
    CHECK(std::holds_alternative<std::monostate>(cost.modules[0].cells[1]));
    CHECK(number(cost.modules[0].cells[2]) == Approx(7));
    const auto numbers = read(R"({"schema": "stemma.numerics/1",
        "modules": [{"module": "fc1", "verdict": "adds", "outgoing": {"max_abs": 0.5},
                     "own": null}],
        "values": [{"name": "x", "difference": {"max_abs": 0}},
                   {"name": "/fc1/Gemm_output_0", "difference": {"max_abs": 0.25}}]})");
    CHECK(number(numbers.modules[0].cells[0]) == Approx(0.5));
    CHECK(std::get<std::string>(numbers.modules[0].cells.back()) == "adds");
    REQUIRE(numbers.nodes.size() == 1); // x is an input of the model
    CHECK(number(numbers.nodes[0].cells[0]) == Approx(0.25));
}

TEST_CASE("read_overlay: says in one line what is wrong, and where") {
    const std::string head = R"({"schema": "stemma.overlay/1", "columns": [{"name": "a"}], )";
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"", "over.json"},
        {"{\"schema\": ", "byte"},
        {"[]", "over.json"},
        {std::string(100000, '['), "over.json"},
        {"{}", "has no \"schema\""},
        {R"({"schema": 1})", "has no \"schema\""},
        {R"({"schema": "stemma.tree/1"})",
         "unknown schema 'stemma.tree/1'; known: stemma.overlay/1"},
        {R"({"schema": "stemma.overlay/1"})", "columns: not 1 to 100"},
        {R"({"schema": "stemma.overlay/1", "columns": {}})", "columns: not a list"},
        {R"({"schema": "stemma.overlay/1", "columns": [1]})", "columns[0]: has no \"name\""},
        {R"({"schema": "stemma.overlay/1", "columns": [{"name": ""}]})",
         "columns[0].name: is empty"},
        {R"({"schema": "stemma.overlay/1", "columns": [{"name": "a", "direction": "up"}]})",
         "unknown 'up'; known: lower, higher, neither"},
        {R"({"schema": "stemma.overlay/1", "columns": [{"name": "a", "additive": 1}]})",
         "columns[0].additive: neither true nor false"},
        {head + R"("modules": 1})", "modules: not a list"},
        {head + R"("modules": [1]})", "modules[0]: has no \"path\""},
        {head + R"("modules": [{"path": 1}]})", "modules[0].path: not a string"},
        {head + R"("modules": [{"path": "fc1", "values": [1, 2]}]})",
         "modules[0].values: not a list of one value for each column"},
        {head + R"("modules": [{"path": "fc1", "values": [[]]}]})",
         "modules[0].values[0]: neither number, string nor null"},
        {head + R"("nodes": [{"name": "/fc1/Gemm", "values": [1e999]}]})", "over.json"},
        {head + R"("modules": [{"path": "fc1", "values": [1]}, {"path": "fc1", "values": [1]}]})",
         "modules[1]: a second row for 'fc1'"},
        {head + R"("modules": [{"path": "none", "values": [1]}]})",
         "matches no module or node of the model"},
        {R"({"schema": "stemma.profile/1", "modules": [{"us": 1}]})",
         "modules[0]: has no \"path\""},
        {R"({"schema": "stemma.numerics/1", "modules": [], "values": [{"name": 3}]})",
         "values[0].name: not a string"},
    };
    for (const auto& [text, reason] : wrong) {
        CAPTURE(text.substr(0, 80), reason);
        const std::string said = test::refusal([&text = text] { return read(text); }).what();
        CHECK(said.find(reason) != said.npos);
        CHECK(said.find('\n') == said.npos);
    }
}

TEST_CASE("find_overlay_format: every report has columns of different names") {
    CHECK(stemma::detail::find_overlay_format("stemma.tree/1") == nullptr);
    CHECK(stemma::detail::find_overlay_format(stemma::detail::own_overlay_schema) == nullptr);
    for (const auto& format : stemma::detail::overlay_formats) {
        CHECK(stemma::detail::find_overlay_format(format.schema) == &format);
        CHECK(stemma::detail::known_overlay_schemas().find(format.schema) != std::string::npos);
        std::set<std::string_view> names;
        for (const auto& field : format.fields) {
            CHECK(names.insert(field.name).second);
            CHECK_FALSE(field.of_module.empty());
            CHECK((format.divisor.empty() ? !field.divided : true));
        }
    }
}

} // namespace test::report_overlay_table
