// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_EXPORT_MODEL_HPP
#define STEMMA_REPORT_EXPORT_MODEL_HPP

#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/detail/weight_places.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/record/sidecar.hpp>
#include <stemma/report/detail/picture_notes.hpp>
#include <stemma/report/detail/report_names.hpp>
#include <stemma/report/dot.hpp>
#include <stemma/report/explorer_overlay.hpp>
#include <stemma/report/graphml.hpp>
#include <stemma/report/model_explorer.hpp>
#include <stemma/report/module_dag.hpp>
#include <stemma/report/overlay_table.hpp>
#include <stemma/tagging/tag_operators.hpp>
#include <stemma/types/described_attribute.hpp>
#include <stemma/types/value_descriptions.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

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
        json.values("outputs", model.outputs(node),
                    [&](auto value) { return model.value_name(value); });
        json.key("tags");
        write_tags(json, tagged.tags, tagged.pool, tagged.tag_sets[node]);
        json.end_object();
    }
    for (id value = 0; value < model.value_count(); ++value) {
        if (!model.is_initializer(value)) {
            continue;
        }
        json.object(names.initializer(value), [&] {
            json.member("op_type", "Initializer");
            json.key("inputs");
            json.begin_array(true);
            json.end_array();
            json.key("outputs");
            json.row(model.value_name(value));
            json.key("tags");
            write_tags(json, tagged.tags, values.pool, values.sets[value]);
        });
    }
    json.end_object();
    json.finish();
}

} // namespace detail

/// Writes a model with its modules as GraphML. Requires, like all below: the model keeps its
/// evidence. Complexity: that of the overload with explicit parts, as below.
template <text_sink Sink>
void write_graphml(Sink& sink, const attributed_model& opened,
                   graphml_form form = graphml_form::nested) {
    const value_descriptions describe(opened.model());
    write_graphml(sink, opened.operators(), opened.modules(), opened.tags(), form, describe,
                  show_all{}, detail::attribute_texts(opened.model()));
}

namespace detail {

template <text_sink Sink>
void write_dot(Sink& sink, const attributed_model& opened, const collapse_options& options,
               const overlay_colours* colours) {
    const value_descriptions describe(opened.model());
    const auto counts = collect_statistics(opened.model(), opened.modules(), opened.tags());
    const picture_notes notes(opened.model(), counts, describe, colours);
    stemma::write_dot(sink, opened.operators(), opened.modules(), opened.tags(), options, describe,
                      notes);
}

} // namespace detail

/// Draws a module or the whole model as DOT. Complexity: as above.
template <text_sink Sink>
void write_dot(Sink& sink, const attributed_model& opened, const collapse_options& options = {}) {
    detail::write_dot(sink, opened, options, nullptr);
}

/// The same with closed modules and nodes coloured by a column of an overlay ("" for the first
/// numeric one): white for the best, red for the worst, with the number below. Throws: `error` of
/// `refused` if there is no such numeric column.
template <text_sink Sink>
void write_dot(Sink& sink, const attributed_model& opened, const collapse_options& options,
               const overlay_table& overlay, std::string_view column) {
    const detail::overlay_colours colours(overlay, column);
    detail::write_dot(sink, opened, options, &colours);
}

/// Writes a model for Model Explorer, named after its file.
/// Complexity: as above.
template <text_sink Sink>
void write_model_explorer(Sink& sink, const attributed_model& opened) {
    const auto& model = opened.model();
    const value_descriptions describe(model);
    const auto counts = collect_statistics(model, opened.modules(), opened.tags());
    const auto label = std::filesystem::path(opened.file().path()).filename().string();
    write_model_explorer(sink, label, model, opened.modules(), opened.tags(), counts, describe);
}

/// The numbers of an overlay for Model Explorer.
enum class overlay : bool {
    nodes,       ///< 1 per node
    weight_bytes ///< bytes of the weights that a node reads
};

/// Writes an overlay for the output of `write_model_explorer`. Complexity: as above.
template <text_sink Sink>
void write_explorer_overlay(Sink& sink, const attributed_model& opened, overlay what) {
    if (what == overlay::nodes) {
        write_explorer_overlay(sink, opened.model(), [](id) { return 1; });
        return;
    }
    const auto bytes = detail::weight_bytes(opened.model());
    write_explorer_overlay(sink, opened.model(), [&](id node) { return bytes[node]; });
}

/// Writes the DAG of every selected module as JSON, by tag. Complexity: as above.
template <text_sink Sink>
void write_module_dags(Sink& sink, const attributed_model& opened,
                       const dag_options& options = {}) {
    const detail::report_names names(opened.model());
    write_module_dags(
        sink, opened.operators(), opened.modules().index(), opened.tags(),
        [&](id node) { return names.node(node); }, options);
}

/// Writes type, inputs, outputs and tags of every node and initializer as JSON, by the names used
/// in `write_module_dags`. Complexity: as above.
template <text_sink Sink>
void write_operation_metadata(Sink& sink, const attributed_model& opened) {
    const detail::report_names names(opened.model());
    const auto values = detail::find_value_tags(opened.model(), opened.modules(), opened.tags());
    write_operation_metadata(sink, opened.model(), opened.tags(), values, names);
}

/// Writes the modules with their contents (`stemma.tree/1`) that are `shown`; see `find_branches`.
/// Complexity: O(length), and that of `collect_statistics`.
template <text_sink Sink>
void write_tree(Sink& sink, const attributed_model& opened, const std::vector<bool>& shown) {
    const auto& modules = opened.modules();
    const auto counts = collect_statistics(opened.model(), modules, opened.tags());
    detail::write_document(sink, "stemma.tree/1", [&](auto& json) {
        json.member("model", opened.file().path());
        json.key("modules");
        json.begin_array();
        for (id m = 0; m < modules.size(); ++m) {
            if (shown[m]) {
                detail::write_module(json, modules, opened.tags(), counts, m);
            }
        }
        json.end_array();
    });
}

/// The same with all modules.
template <text_sink Sink>
void write_tree(Sink& sink, const attributed_model& opened) {
    write_tree(sink, opened, std::vector<bool>(opened.modules().size(), true));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_EXPORT_MODEL_HPP
