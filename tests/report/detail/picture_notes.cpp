// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/detail/picture_notes.hpp>

#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../tagged_bytes.hpp"
#include "../../tagged_fixture.hpp"

#include <stemma/types/value_descriptions.hpp>

#include <limits>
#include <set>
#include <string>

namespace test::report_detail_picture_notes {

namespace {

using stemma::overlay_table;
using stemma::detail::overlay_colours;

overlay_table table_of(stemma::column_direction better, bool additive = false) {
    overlay_table table;
    table.title = "a run";
    table.columns = {{"note", "", stemma::column_direction::neither, false},
                     {"time", "us", better, additive}};
    table.modules = {{0, {std::string("all"), 100.0}}, {1, {std::string(), 10.0}}, {2, {{}, 5.0}}};
    table.nodes = {{3, {{}, 0.0}}, {4, {{}, std::numeric_limits<double>::infinity()}}, {5, {}}};
    return table;
}

} // namespace

TEST_CASE("picture_notes: list weights, parameters, and inputs and outputs of the model",
          "[picture_notes]") {
    using stemma::id;
    const test::tagged_fixture tagged("mlp");
    const auto& model = tagged.model;
    const stemma::value_descriptions describe(model);
    const auto counts = stemma::collect_statistics(model, tagged.modules, tagged.found);
    const stemma::detail::picture_notes notes(model, counts, describe);
    std::set<id> inputs;
    std::set<id> outputs;
    for (id node = 0; node < model.node_count(); ++node) {
        const auto note = notes.operator_note(node);
        CHECK((model.op_type(node) == "Gemm") == (note.find("weight ") != note.npos));
        CHECK((model.op_type(node) == "Gemm") == (note.find(", bias ") != note.npos));
        notes.for_each_input(node, [&](id value) { inputs.insert(value); });
        notes.for_each_output(node, [&](id value) { outputs.insert(value); });
    }
    CHECK(inputs.size() == 1);
    CHECK(outputs == std::set<id>(model.graph(0).outputs.begin(), model.graph(0).outputs.end()));
    CHECK(notes.module_note(0) ==
          stemma::short_number(static_cast<std::int64_t>(counts.parameters[0])) + " parameters");
}

TEST_CASE("overlay_colours: the worst is red, even if high numbers are good") {
    const overlay_colours low(table_of(stemma::column_direction::lower), "");
    CHECK(low.of_module(0) == "#f87171");
    CHECK(low.of_node(3) == "#ffffff");
    CHECK(low.of_module(2) > low.of_module(0));
    const overlay_colours high(table_of(stemma::column_direction::higher), "time");
    CHECK(high.of_module(0) == "#ffffff");
    CHECK(high.of_node(3) == "#f87171");
}

TEST_CASE("overlay_colours: for additive numbers, the root does not count") {
    const overlay_colours colours(table_of(stemma::column_direction::lower, true), "");
    CHECK(colours.of_module(1) == "#f87171");
    CHECK(colours.of_module(0) == "#f87171");
    CHECK(colours.text_of_module(1) == "10 us");
    auto large = table_of(stemma::column_direction::lower);
    large.columns[1].unit = "";
    large.modules[1].cells[1] = 147456.0;
    CHECK(overlay_colours(large, "").text_of_module(1) == "147 k time");
}

TEST_CASE("overlay_colours: unknown values have no colour") {
    const overlay_colours colours(table_of(stemma::column_direction::lower), "");
    CHECK(colours.of_module(7).empty());
    CHECK(colours.of_node(4).empty());
    CHECK(colours.of_node(5).empty());
    CHECK(colours.text_of_node(5).empty());
}

TEST_CASE("overlay_colours: a column without numbers is refused") {
    const auto table = table_of(stemma::column_direction::lower);
    CHECK_THROWS_WITH(overlay_colours(table, "note"),
                      "a run: no numeric column is named 'note'; known: time");
    CHECK_THROWS_WITH(overlay_colours(overlay_table(), ""), "has no column of numbers");
}

} // namespace test::report_detail_picture_notes
