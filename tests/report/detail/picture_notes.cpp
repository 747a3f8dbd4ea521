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
          stemma::short_number(static_cast<std::int64_t>(counts.parameters[0])) + " parameters");
}

} // namespace test::report_detail_picture_notes
