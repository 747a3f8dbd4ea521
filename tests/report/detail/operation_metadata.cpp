// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/detail/operation_metadata.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../tagged_bytes.hpp"

#include <stemma/record/detail/value_tags.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace test::report_detail_operation_metadata {

TEST_CASE("write_operation_metadata: has type, inputs, outputs and tags of everything",
          "[operation_metadata]") {
    using stemma::id;
    for (const auto* name : {"bert_mlm", "control_flow", "shared_twice", "two_tower"}) {
        CAPTURE(name);
        const auto bytes = test::read_bytes(test::fixture(std::string(name) + "/model.onnx"));
        const auto tree = test::read_capture(test::fixture(std::string(name) + "/modules.json"));
        test::tagged_model tagged(bytes, &tree);
        const auto& model = tagged.model;
        const auto values = stemma::detail::find_value_tags(model, tree, tagged.found);
        const stemma::detail::report_names names(model);
        stemma::string_sink sink;
        stemma::detail::write_operation_metadata(sink, model, tagged.found, values, names);
        const auto read = nlohmann::json::parse(sink.text);
        const auto tags_in = [&](stemma::detail::id_set set) {
            std::vector<std::string> tags;
            values.pool.for_each(set, [&](id m) { tags.push_back(tagged.found.tags.text(m)); });
            return tags;
        };
        std::size_t entries = 0;
        for (id node = 0; node < model.node_count(); ++node, ++entries) {
            REQUIRE(read.contains(names.node(node)));
            const auto& said = read[names.node(node)];
            CHECK(said["op_type"] == std::string(model.op_type(node)));
            REQUIRE(said["inputs"].size() == model.inputs(node).size());
            for (std::size_t i = 0; i < said["inputs"].size(); ++i) {
                const auto value = model.inputs(node)[i];
                CHECK(said["inputs"][i] ==
                      (value == stemma::no_id ? "" : std::string(model.value_name(value))));
            }
            CHECK(said["outputs"].size() == model.output_count(node));
            CHECK(said["tags"] == tags_in(tagged.found.tag_sets[node]));
        }
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.is_initializer(value)) {
                ++entries;
                const auto& said = read[names.initializer(value)];
                CHECK(said["op_type"] == "Initializer");
                CHECK(said["inputs"].empty());
                CHECK(said["outputs"] == std::vector{std::string(model.value_name(value))});
                CHECK(said["tags"] == tags_in(values.sets[value]));
            }
        }
        CHECK(read.size() == entries);
    }
}

} // namespace test::report_detail_operation_metadata
