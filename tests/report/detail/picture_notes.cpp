// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/detail/picture_notes.hpp>

#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../tagged_bytes.hpp"

#include <stemma/types/value_descriptions.hpp>

#include <set>
#include <string>

namespace test::report_detail_picture_notes {

TEST_CASE("short_number: at most three digits and a unit", "[picture_notes]") {
    CHECK(stemma::detail::short_number(0) == "0");
    CHECK(stemma::detail::short_number(999) == "999");
    CHECK(stemma::detail::short_number(1000) == "1 k");
    CHECK(stemma::detail::short_number(1056) == "1 k");
    CHECK(stemma::detail::short_number(1156) == "1.1 k");
    CHECK(stemma::detail::short_number(110'000'000) == "110 M");
    CHECK(stemma::detail::short_number(~std::uint64_t{0}) == "18.4 E");
}

TEST_CASE("picture_notes: list weights, parameters, and inputs and outputs of the model",
          "[picture_notes]") {
    using stemma::id;
    const auto bytes = test::read_bytes(test::fixture("mlp/model.onnx"));
    const auto tree = test::read_capture(test::fixture("mlp/modules.json"));
    const test::tagged_model tagged(bytes, &tree);
    const auto& model = tagged.model;
    const stemma::value_descriptions describe(model);
    const auto counts = stemma::collect_statistics(model, tree, tagged.found);
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
          stemma::detail::short_number(counts.parameters[0]) + " parameters");
}

} // namespace test::report_detail_picture_notes
