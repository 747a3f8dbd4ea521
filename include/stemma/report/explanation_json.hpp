// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_EXPLANATION_JSON_HPP
#define STEMMA_REPORT_EXPLANATION_JSON_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/sidecar.hpp>
#include <stemma/report/explanation.hpp>
#include <stemma/report/module_explanation.hpp>
#include <stemma/weights/write_parameters.hpp>

#include <algorithm>
#include <span>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Writes explanations as JSON, with names from the model.
template <text_sink Sink>
class explanation_writer {
public:
    /// `counts` may be null if no answer is about a module.
    explanation_writer(json_writer<Sink>& json, const attributed_model& opened,
                       const module_statistics* counts)
        : json_(json)
        , opened_(opened)
        , model_(opened.model())
        , tags_(opened.tags())
        , counts_(counts) {}

    void write(const explanation& answer) const {
        json_.begin_object();
        json_.member("asked", answer.asked);
        write_list("nodes", answer.nodes);
        write_list("values", answer.values);
        write_list("modules", answer.modules);
        write_list("parameters", answer.parameters);
        write_list("functions", answer.functions);
        json_.end_object();
    }

private:
    template <class List>
    void write_list(std::string_view key, const List& list) const {
        json_.list(key, list, [&](const auto& one) { write_one(one); });
    }

    void write_one(const explanation::of_node& one) const {
        json_.begin_object();
        write_place(one.node);
        json_.member("op_type", model_.op_type(one.node));
        json_.member("scope_module", opened_.modules().path(one.module));
        json_.member("module", opened_.modules().path(one.selected));
        json_.member("tag", one.tag);
        write_tags(one.tags);
        json_.member("provenance", tags_.provenances[one.source]);
        json_.member("confidence", one.confidence);
        json_.key("call");
        one.call == no_id ? json_.null() : json_.value(one.call);
        write_origins(json_, opened_.modules(), tags_.origins, one.node);
        write_source(json_, opened_.lines(), one.chain);
        write_list("claims", one.claims);
        json_.member("conflict", one.conflict);
        write_list("attributes", one.attributes);
        json_.objects("inputs", one.inputs, [&](const auto& input) {
            json_.member("name", model_.value_name(input.value));
            json_.member("type", input.type);
        });
        json_.objects("outputs", one.outputs, [&](const auto& output) {
            json_.member("name", model_.value_name(output.value));
            json_.member("type", output.type);
        });
        json_.list("producers", one.inputs, [&](const auto& input) {
            if (input.node != no_id) {
                write_one(input);
            }
        });
        json_.list("consumers", one.outputs, [&](const auto& output) {
            for (auto reader : output.readers) {
                write_one(explanation::neighbour{output.value, reader, {}});
            }
        });
        json_.end_object();
    }

    void write_one(const explanation::of_value& one) const {
        json_.begin_object(true);
        json_.member("name", model_.value_name(one.value));
        json_.member("graph", model_.graph_path(model_.graph_of_value(one.value)));
        json_.member("kind", to_string(model_.kind(one.value)));
        json_.member("type", one.type);
        write_tags(one.tags);
        json_.key("weight");
        if (one.weight) {
            write_one(*one.weight);
        } else {
            json_.null();
        }
        json_.key("origin");
        if (one.origin) {
            json_.begin_object();
            detail::write_origin(json_, *one.origin);
            json_.end_object();
        } else {
            json_.null();
        }
        json_.end_object();
    }

    void write_one(const described_attribute& one) const {
        json_.begin_object(true);
        json_.member("name", one.name);
        json_.member("type", one.type);
        json_.member("text", one.text);
        json_.member("length", one.length);
        json_.member("cut", one.cut);
        json_.end_object();
    }

    void write_one(const module_explanation::placed_weight& one) const {
        json_.begin_object(true);
        json_.member("name", model_.value_name(one.weight.value));
        json_.member("kind", to_string(one.weight.kind));
        json_.member("type", one.type);
        json_.member("elements", one.weight.elements);
        json_.member("bytes", one.weight.bytes);
        json_.member("module", opened_.modules().report_path(one.module));
        json_.end_object();
    }

    void write_one(const module_explanation::crossing& one) const {
        json_.begin_object(true);
        json_.member("name", model_.value_name(one.value));
        json_.member("graph", model_.graph_path(model_.graph_of_value(one.value)));
        json_.member("type", one.type);
        write_paths("modules", one.modules);
        json_.member("of_model", one.of_model);
        json_.end_object();
    }

    void write_one(const module_explanation& one) const {
        const auto& modules = opened_.modules();
        json_.begin_object();
        json_.member("path", modules.report_path(one.module));
        json_.member_or_null("class", modules.class_name(one.module));
        json_.member_or_null("qualified_class", modules.qualified_class(one.module));
        json_.member("tag", tags_.tags.text(one.module));
        json_.member("selected", tags_.tags.is_selected(one.module));
        json_.values("aliases", one.aliases);
        if (const auto at = opened_.lines().frame_of_module(one.module); at != no_id) {
            const auto position = opened_.lines().position(at);
            json_.object("source", [&] {
                json_.member("file", position.file);
                json_.member("line", position.line);
                json_.member("function", position.function);
            });
        }
        json_.key("calls");
        write_id(modules.calls(one.module));
        json_.member("modules", modules.index().end(one.module) - one.module - 1);
        json_.member("own_nodes", counts_->own_nodes[one.module]);
        json_.member("nodes", counts_->nodes[one.module]);
        json_.member("parameter_count", counts_->parameters[one.module]);
        json_.member("stored_parameter_count", counts_->stored[one.module]);
        json_.member("parameter_bytes", counts_->bytes[one.module]);
        write_list("inputs", one.inputs);
        write_list("outputs", one.outputs);
        write_list("weights", one.weights);
        write_paths("alike", one.alike);
        json_.member("convex", !one.reentry);
        if (one.reentry) {
            json_.values("witness", one.reentry->nodes,
                         [&](auto node) { return position_text(model_, node); });
            json_.member("runs", one.reentry->runs);
            json_.member("absorbed", one.reentry->absorbed);
        }
        json_.end_object();
    }

    void write_one(const explanation::of_parameter& one) const {
        const auto& modules = opened_.modules();
        const auto tensor = one.buffer ? modules.buffer(one.module, one.number)
                                       : modules.parameter(one.module, one.number);
        json_.begin_object(true);
        json_.member("module", modules.report_path(one.module));
        json_.member("name", tensor.name);
        json_.member("buffer", one.buffer);
        json_.member("dtype", tensor.dtype);
        json_.values("shape", tensor.shape);
        json_.member("trainable", tensor.trainable);
        json_.end_object();
    }

    void write_one(const explanation::of_function& one) const {
        const auto& graph = model_.graph(model_.functions()[one.function].graph);
        json_.begin_object();
        json_.member("graph", model_.graph_path(model_.functions()[one.function].graph));
        json_.member("nodes", graph.node_count);
        json_.objects("calls", one.calls, [&](auto node) {
            write_place(node);
            json_.member("module", opened_.modules().report_path(tags_.attributions[node].module));
        });
        json_.end_object();
    }

    void write_id(id number) const { number == no_id ? json_.null() : json_.value(number); }

    void write_paths(std::string_view key, std::span<const id> modules) const {
        json_.values(key, modules, [&](auto m) { return opened_.modules().report_path(m); });
    }

    void write_one(const explanation::made_claim& one) const {
        json_.begin_object(true);
        json_.member("source", tags_.provenances[one.made.source]);
        json_.member("module", opened_.modules().path(one.made.module));
        json_.member("confidence", one.made.confidence);
        json_.member("exact", one.made.exact);
        json_.end_object();
    }

    void write_one(const explanation::neighbour& one) const {
        json_.begin_object(true);
        json_.member("value", model_.value_name(one.value));
        write_place(one.node);
        json_.member("tag", tags_.tags.text(tags_.attributions[one.node].module));
        json_.end_object();
    }

    void write_place(id node) const {
        json_.member("graph", model_.graph_path(model_.graph_of(node)));
        json_.member("index", model_.position(node));
        json_.member("name", model_.name(node));
    }

    void write_tags(std::span<const id> modules) const {
        json_.values("tags", modules, [&](auto m) { return tags_.tags.text(m); });
    }

    json_writer<Sink>& json_;
    const attributed_model& opened_;
    const wire_model& model_;
    const tagging& tags_;
    const module_statistics* counts_;
};

} // namespace detail

/// Writes answers of an explainer about its model (`stemma.explain/1`).
/// Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, std::span<const explanation> answers, const explainer& source) {
    const auto& opened = source.model();
    const bool has_modules = detail::range::any_of(
        answers, [](const explanation& answer) { return !answer.modules.empty(); });
    detail::write_document(sink, "stemma.explain/1", [&](auto& json) {
        json.member("model", opened.model().file());
        json.key("answers");
        json.begin_array();
        const detail::explanation_writer<Sink> writer(json, opened,
                                                      has_modules ? &source.counts() : nullptr);
        for (const auto& answer : answers) {
            writer.write(answer);
        }
        json.end_array();
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_EXPLANATION_JSON_HPP
