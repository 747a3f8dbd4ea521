// SPDX-License-Identifier: Apache-2.0
#include <stemma/plan/annotate_layers.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace test::plan_annotate_layers {

namespace {

std::vector<std::string> annotations_of(const stemma::wire_model& model, stemma::id node) {
    std::vector<std::string> annotations;
    model.for_each_metadata(node, [&](std::string_view key, std::string_view value) {
        if (key == stemma::detail::layer_annotation_key) {
            annotations.emplace_back(value);
        }
    });
    return annotations;
}

} // namespace

TEST_CASE("annotate_layers: the given nodes have one annotation, the others none") {
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const test::scratch_folder folder;
    const std::vector<stemma::id> nodes{3, 5, 8};
    const auto once = folder.file("once.onnx");
    stemma::annotate_layers(opened, nodes, "first", once, {.sync = false});
    const stemma::attributed_model again(once, {});
    const auto twice = folder.file("twice.onnx");
    stemma::annotate_layers(again, nodes, "second", twice, {.sync = false});
    const stemma::attributed_model last(twice, {});
    for (stemma::id node = 0; node < last.model().node_count(); ++node) {
        const bool asked = std::find(nodes.begin(), nodes.end(), node) != nodes.end();
        CHECK(annotations_of(last.model(), node) ==
              (asked ? std::vector<std::string>{"second"} : std::vector<std::string>{}));
    }
    const auto none = folder.file("none.onnx");
    stemma::annotate_layers(opened, {}, "x", none, {.sync = false});
    CHECK(stemma::mapped_file(none).bytes() == opened.file().bytes());
}

} // namespace test::plan_annotate_layers
