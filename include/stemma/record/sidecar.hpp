// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_SIDECAR_HPP
#define STEMMA_RECORD_SIDECAR_HPP

#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/node_origins.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/onnx/detail/value_readers.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/record/detail/origin_texts.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/record/summary.hpp>
#include <stemma/tagging/selection.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Writes one module as reports show it: an object on one line.
/// Complexity: O(length of the output).
template <text_sink Sink>
void write_module(json_writer<Sink>& json, const module_tree& modules, const tagging& tagged,
                  const module_statistics& counts, id m) {
    const infrastructure_packages infrastructure;
    const auto& tree = modules.index();
    const auto write_tensors = [&](std::string_view key, std::size_t count, auto tensor_at) {
        json.flat_list(key, [&] {
            for (std::size_t i = 0; i < count; ++i) {
                const auto tensor = tensor_at(i);
                json.object([&] {
                    json.member("name", tensor.name);
                    json.values("shape", tensor.shape);
                    json.member_or_null("dtype", tensor.dtype);
                    json.member("trainable", tensor.trainable);
                });
            }
        });
    };
    json.begin_object(true);
    json.member("path", modules.report_path(m));
    json.member_or_null("class", modules.class_name(m));
    json.member_or_null("qualified_class", modules.qualified_class(m));
    json.member("infrastructure", infrastructure.contain(modules.qualified_class(m)));
    json.member_or_null("tag", tagged.tags.is_selected(m) ? tagged.tags.text(m) : std::string());
    json.key("parent");
    m == 0 ? json.null() : json.value(modules.report_path(tree.parent(m)));
    json.member("level", tree.depth(m));
    json.member("leaf", tree.is_leaf(m));
    json.values(
        "aliases", modules.aliases_of(m), [&](id alias) -> const auto& {
            return modules.aliases()[alias].path;
        });
    json.key("calls");
    modules.calls(m) == no_id ? json.null() : json.value(modules.calls(m));
    write_tensors("parameters", modules.parameter_count(m),
                  [&](std::size_t i) { return modules.parameter(m, i); });
    write_tensors("buffers", modules.buffer_count(m),
                  [&](std::size_t i) { return modules.buffer(m, i); });
    json.member("own_nodes", counts.own_nodes[m]);
    json.member("nodes", counts.nodes[m]);
    json.member("own_parameter_count", counts.own_parameters[m]);
    json.member("parameter_count", counts.parameters[m]);
    json.key("trainable_parameter_count");
    counts.declared ? json.value(counts.trainable[m]) : json.null();
    json.member("stored_parameter_count", counts.stored[m]);
    json.member("parameter_bytes", counts.bytes[m]);
    detail::write_weights(json, counts.weights[m]);
    json.end_object();
}

} // namespace detail

/// Source lines for a sidecar.
struct sidecar_sources {
    const source_lines* lines = nullptr; ///< null for none
    bool full_paths = false;             ///< with the exporter's full paths
};

namespace detail {

template <text_sink Sink>
void write_tags(json_writer<Sink>& json, const tag_table& tags, const id_set_pool& pool,
                id_set set) {
    json.begin_array(true);
    pool.for_each(set, [&](id m) { json.value(tags.text(m)); });
    json.end_array();
}

/// Writes members about a node's origins, if tags were carried over from an original.
template <text_sink Sink>
void write_origins(json_writer<Sink>& json, const module_tree& modules, const node_origins& origins,
                   id node) {
    if (origins.empty()) {
        return;
    }
    json.member("origin_kind", to_string(origins.kind(node)));
    json.objects("origins", origins.of(node), [&](id number) {
        const auto one = origins[number];
        json.member("graph", one.graph);
        json.member("index", one.position);
        json.member("name", one.name);
    });
    json.values("origin_modules", modules_of(origins, node),
                [&](id module) { return modules.report_path(module); });
}

/// Writes `source` if a chain is known: the frame to show, and all of them.
template <text_sink Sink>
void write_source(json_writer<Sink>& json, const source_lines& lines, id chain,
                  bool full_paths = false) {
    if (chain == no_id) {
        return;
    }
    const auto write_frame = [&](id number) {
        const auto& one = lines.frames()[number];
        json.member("file", full_paths ? lines.path(one.file) : lines.file_name(one.file));
        json.member("line", one.line);
        json.member("function", lines.function(one.function));
    };
    json.object("source", [&] {
        write_frame(lines.frame_of_chain(chain));
        json.objects("frames", lines.frames_of_chain(chain), write_frame);
    });
}

/// Returns: as `module_tree::report_path`, of a graph.
[[nodiscard]] inline std::string report_graph_path(const onnx_model& model, id graph) {
    return model.graph_path(graph, module_tree::report_path_length);
}

template <text_sink Sink>
void write_node(json_writer<Sink>& json, const onnx_model& model, const module_tree& modules,
                const tagging& tagged, id node, const sidecar_sources& sources) {
    const auto& entry = tagged.attributions[node];
    json.begin_object(true);
    json.member("index", model.position(node));
    json.member("name", model.name(node));
    json.member("op_type", model.op_type(node));
    json.member("graph", report_graph_path(model, model.graph_of(node)));
    json.member("scope_module", modules.report_path(entry.module));
    json.member("module", modules.report_path(tagged.selected(node)));
    json.member("tag", tagged.tags.text(entry.module));
    json.key("tags");
    write_tags(json, tagged.tags, tagged.pool, tagged.tag_sets[node]);
    json.member("provenance", tagged.provenances[entry.source]);
    json.member("confidence", entry.confidence);
    json.key("call");
    entry.call == no_id ? json.null() : json.value(entry.call);
    for (auto caller : tagged.callers.of(node)) {
        json.member("caller", modules.report_path(caller));
    }
    json.key("conflict");
    const auto claims = tagged.conflicts.of(node);
    if (claims.empty()) {
        json.null();
    } else {
        json.object([&] {
            json.objects("claims", claims, [&](const auto& one) {
                json.member("source", tagged.provenances[one.source]);
                json.member("module", modules.report_path(one.module));
                json.member("confidence", one.confidence);
            });
        });
    }
    write_origins(json, modules, tagged.origins, node);
    if (sources.lines != nullptr) {
        write_source(json, *sources.lines, sources.lines->chain_of(node), sources.full_paths);
    }
    json.end_object();
}

} // namespace detail

/// Writes everything known about a tagged model (`stemma.sidecar/1`, docs/sidecar.schema.json).
///
/// `values` are from `find_value_tags`.
/// Complexity: O(length of the result); memory for a buffer, and the readers of values.
template <text_sink Sink>
void write_sidecar(Sink& sink, const onnx_model& model, const module_tree& modules,
                   const tagging& tagged, const module_statistics& counts,
                   const detail::value_tags& values, const tag_summary& summary,
                   const sidecar_sources& sources = {}) {
    detail::write_document(sink, "stemma.sidecar/1", [&](auto& json) {
        json.member("model", summary.model);
        json.key("modules");
        json.begin_array();
        for (id m = 0; m < modules.size(); ++m) {
            detail::write_module(json, modules, tagged, counts, m);
        }
        json.end_array();
        json.key("nodes");
        json.begin_array();
        for (id node = 0; node < model.node_count(); ++node) {
            detail::write_node(json, model, modules, tagged, node, sources);
        }
        json.end_array();
        json.key("values");
        json.begin_array();
        const auto readers = detail::value_readers(model);
        const auto write_place = [&](id node) {
            json.object([&] {
                json.member("graph", detail::report_graph_path(model, model.graph_of(node)));
                json.member("index", model.position(node));
            });
        };
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.value_name(value).empty()) {
                continue;
            }
            json.begin_object(true);
            json.member("name", model.value_name(value));
            json.member("graph", detail::report_graph_path(model, model.graph_of_value(value)));
            json.member("kind", to_string(model.kind(value)));
            json.key("tags");
            detail::write_tags(json, tagged.tags, values.pool, values.sets[value]);
            json.key("producer");
            const auto producer = model.producer(value);
            producer == no_id ? json.null() : write_place(producer);
            json.flat_list("consumers", readers[value], write_place);
            json.end_object();
        }
        json.end_array();
        json.key("summary");
        json.begin_object();
        json.member("schema", "stemma.summary/1");
        write_json(json, summary);
        json.end_object();
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_RECORD_SIDECAR_HPP
