// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_WRITE_DIFF_HPP
#define STEMMA_COMPARE_WRITE_DIFF_HPP

#include <stemma/compare/model_diff.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/open/attributed_model.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

template <text_sink Sink>
void write_diff_node(json_writer<Sink>& json, const onnx_model& model, id node) {
    json.begin_object(true);
    json.member("node", position_text(model, node));
    json.member("name", model.name(node));
    json.member("op_type", model.op_type(node));
    json.end_object();
}

template <text_sink Sink>
void write_diff_nodes(json_writer<Sink>& json, const model_diff::changed_module& entry,
                      const onnx_model& first, const onnx_model& second) {
    const auto list = [&](std::string_view key, const onnx_model& model,
                          const std::vector<id>& nodes) {
        json.list(key, nodes, [&](auto node) { write_diff_node(json, model, node); });
    };
    const auto pairs = [&](std::string_view key, const std::vector<std::pair<id, id>>& nodes) {
        json.list(key, nodes, [&](const auto& pair) {
            const auto& [v, w] = pair;
            json.begin_array(true);
            write_diff_node(json, first, v);
            write_diff_node(json, second, w);
            json.end_array();
        });
    };
    list("only_first", first, entry.only_first);
    list("only_second", second, entry.only_second);
    pairs("changed", entry.changed);
    pairs("rewired", entry.rewired);
}

template <text_sink Sink>
void write_diff_counts(json_writer<Sink>& json, const model_diff::changed_module& entry) {
    json.object("nodes", [&] {
        json.member("only_first", entry.only_first.size());
        json.member("only_second", entry.only_second.size());
        json.member("rewired", entry.rewired.size());
    });
}

/// Writes the weights, and the `nodes` if asked for.
template <text_sink Sink>
void write_diff_contents(json_writer<Sink>& json, const model_diff::changed_module& entry,
                         const onnx_model& first, const onnx_model& second, bool nodes) {
    json.objects("weights", entry.weights, [&](const auto& weight) {
        json.member("first", first.value_name(weight.first));
        json.member("second", second.value_name(weight.second));
        json.member("text", weight.text);
        json.key("difference");
        if (weight.comparable) {
            json.begin_object(true);
            json.member("elements", weight.difference.elements);
            json.member("different", weight.difference.different);
            json.member("absolute", weight.difference.absolute);
            json.member("relative", weight.difference.relative);
            json.end_object();
        } else {
            json.null();
        }
    });
    if (nodes) {
        json.key("list");
        json.begin_object();
        write_diff_nodes(json, entry, first, second);
        json.end_object();
    }
}

template <text_sink Sink>
void write_diff_module(json_writer<Sink>& json, const model_diff::changed_module& entry,
                       const attributed_model& first, const attributed_model& second, bool nodes) {
    const auto path = [&](std::string_view key, const module_tree& tree, id m) {
        json.key(key);
        m == no_id ? json.null() : json.value(tree.report_path(m));
    };
    json.begin_object();
    path("first", first.modules(), entry.first);
    path("second", second.modules(), entry.second);
    json.member_or_null("class", entry.first != no_id ? first.modules().class_name(entry.first)
                                                      : second.modules().class_name(entry.second));
    json.values("changes", entry.changes, [&](auto change) { return to_string(change); });
    json.member("same_boundary", entry.same_boundary);
    write_diff_counts(json, entry);
    json.values("into", entry.has(model_diff::change::fused) ? entry.into : std::vector<id>(),
                [&](id m) { return second.modules().report_path(m); });
    write_diff_contents(json, entry, first.model(), second.model(), nodes);
    json.end_object();
}

} // namespace detail

/// Writes the differences between two models (`stemma.diff/1`), with `nodes` including every
/// changed node. Both must be the compared models. Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, const model_diff& diff, const attributed_model& first,
                const attributed_model& second, bool nodes = false) {
    detail::write_document(sink, "stemma.diff/1", [&](auto& json) {
        json.member("first", first.model().file());
        json.member("second", second.model().file());
        json.member("equal", diff.is_equal());
        json.object("matched", [&] {
            json.member("modules", diff.paired_modules);
            json.member("same_modules", diff.same_modules);
            json.member("nodes", diff.matched_nodes);
            json.member("weights", diff.compared_weights);
            json.member("missing_weights", diff.missing_weights);
        });
        const auto write_size = [&](std::string_view key, std::size_t modules, std::size_t count) {
            json.object(key, [&] {
                json.member("modules", modules);
                json.member("nodes", count);
            });
        };
        write_size("size_first", diff.first_modules, diff.first_nodes);
        write_size("size_second", diff.second_modules, diff.second_nodes);
        json.objects("header", diff.header, [&](const auto& one) {
            json.member("what", one.what);
            json.member("first", one.first);
            json.member("second", one.second);
        });
        json.list("modules", diff.modules, [&](const auto& entry) {
            detail::write_diff_module(json, entry, first, second, nodes);
        });
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_WRITE_DIFF_HPP
