// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_OPERATION_METADATA_HPP
#define STEMMA_REPORT_DETAIL_OPERATION_METADATA_HPP

#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/record/sidecar.hpp>
#include <stemma/report/detail/report_names.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Writes type, inputs, outputs and tags of every node and initializer, by name
/// (docs/operations.schema.json).
///
/// An omitted input or output is "". `values` are from `find_value_tags`.
/// Complexity: O(length of the result); memory for a buffer.
template <text_sink Sink>
void write_operation_metadata(Sink& sink, const onnx_model& model, const tagging& tagged,
                              const value_tags& values, const report_names& names) {
    json_writer json(sink);
    json.begin_object();
    for (id node = 0; node < model.node_count(); ++node) {
        json.key(names.node(node));
        json.begin_object(true);
        json.member("op_type", model.op_type(node));
        json.values("inputs", model.inputs(node), [&](auto value) {
            return value == no_id ? std::string_view() : model.value_name(value);
        });
        json.key("outputs");
        json.begin_array(true);
        for (id i = 0; i < model.output_count(node); ++i) {
            json.value(model.value_name(model.first_output(node) + i));
        }
        json.end_array();
        json.key("tags");
        write_tags(json, tagged.tags, tagged.pool, tagged.tag_sets[node]);
        json.end_object();
    }
    for (id value = 0; value < model.value_count(); ++value) {
        if (!model.is_initializer(value)) {
            continue;
        }
        json.key(names.initializer(value));
        json.begin_object(true);
        json.member("op_type", "Initializer");
        json.key("inputs");
        json.begin_array(true);
        json.end_array();
        json.key("outputs");
        json.row(model.value_name(value));
        json.key("tags");
        write_tags(json, tagged.tags, values.pool, values.sets[value]);
        json.end_object();
    }
    json.end_object();
    json.finish();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_REPORT_DETAIL_OPERATION_METADATA_HPP
