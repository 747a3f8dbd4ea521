// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_REPORT_STEMMA_REPORT_HTML_REPORT_HPP
#define STEMMA_EXAMPLES_REPORT_STEMMA_REPORT_HTML_REPORT_HPP

#include <stemma/core/id.hpp>
#include <stemma/io/detail/xml_text.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/record/summary.hpp>
#include <stemma/report/detail/module_looks.hpp>
#include <stemma/report/detail/report_names.hpp>
#include <stemma/report/detail/shape_arithmetic.hpp>
#include <stemma/report/line_table.hpp>
#include <stemma/report/overlay_table.hpp>
#include <stemma/report/summarize_model.hpp>
#include <stemma/tagging/selection.hpp>
#include <stemma/tagging/tagger.hpp>
#include <stemma/types/described_attribute.hpp>
#include <stemma/types/value_description.hpp>
#include <stemma/types/value_descriptions.hpp>
#include <stemma_report/page.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace stemma_report {

namespace detail {

/// Passes JSON on so that it can stand in a script element: `<` only occurs in its strings.
template <stemma::text_sink Sink>
class script_sink {
public:
    explicit script_sink(Sink& sink) : sink_(sink) {}

    void write(std::string_view text) {
        while (!text.empty()) {
            const auto mark = std::min(text.find('<'), text.size());
            sink_.write(text.substr(0, mark));
            text.remove_prefix(mark);
            if (!text.empty()) {
                sink_.write("\\u003c");
                text.remove_prefix(1);
            }
        }
    }

private:
    Sink& sink_;
};

/// Writes what the page shows, as rows of arrays: values and nodes are too many for a tree in
/// memory.
template <stemma::text_sink Sink>
class report_data {
public:
    report_data(Sink& sink, const stemma::attributed_model& opened)
        : json_(sink)
        , opened_(opened)
        , model_(opened.model())
        , graph_(opened.operators().graph())
        , modules_(opened.modules())
        , tags_(opened.tags())
        , counts_(stemma::collect_statistics(model_, modules_, tags_))
        , describe_(model_)
        , names_(model_)
        , looks_(stemma::detail::module_looks(opened.operators(), modules_, tags_)) {}

    void write(const stemma::tag_summary& summary,
               std::span<const stemma::overlay_table> overlays) {
        json_.begin_object();
        json_.key("summary");
        json_.begin_object(true);
        write_json(json_, summary);
        json_.end_object();
        json_.member("producer", std::string(model_.producer_name()) + " " +
                                     std::string(model_.producer_version()));
        json_.member("ir", model_.ir_version());
        json_.key("opsets");
        json_.begin_object(true);
        for (const auto& opset : model_.opset_imports()) {
            json_.member(stemma::detail::spelled_domain(opset.domain), opset.version);
        }
        json_.end_object();
        write_texts();
        write_modules();
        write_values();
        write_nodes();
        write_graphs();
        write_overlays(overlays);
        write_lines();
        json_.end_object();
        json_.finish();
    }

private:
    void write_texts() {
        json_.key("operators");
        json_.begin_array(true);
        for (stemma::id op = 0; op < model_.operator_count(); ++op) {
            json_.value(model_.operator_type(op));
        }
        json_.end_array();
        json_.key("provenances");
        json_.begin_array(true);
        for (std::size_t p = 0; p < tags_.provenances.size(); ++p) {
            json_.value(tags_.provenances[static_cast<stemma::provenance>(p)]);
        }
        json_.end_array();
    }

    void write_modules() {
        const stemma::infrastructure_packages infrastructure;
        json_.key("modules");
        json_.begin_array();
        for (stemma::id m = 0; m < modules_.size(); ++m) {
            json_.begin_array(true);
            json_.value(modules_.name(m));
            json_.value(modules_.class_name(m));
            json_.value(modules_.qualified_class(m));
            write_id(m == 0 ? stemma::no_id : modules_.index().parent(m));
            json_.value(tags_.tags.is_selected(m) ? tags_.tags.text(m) : std::string());
            json_.value(infrastructure.contain(modules_.qualified_class(m)));
            json_.value(counts_.own_nodes[m]);
            json_.value(counts_.nodes[m]);
            json_.value(counts_.parameters[m]);
            write_id(modules_.calls(m));
            json_.value(stemma::weights_text(counts_.weights[m]));
            json_.begin_array(true);
            for (std::size_t i = 0; i < modules_.parameter_count(m); ++i) {
                write_tensor(modules_.parameter(m, i), "parameter");
            }
            for (std::size_t i = 0; i < modules_.buffer_count(m); ++i) {
                write_tensor(modules_.buffer(m, i), "buffer");
            }
            json_.end_array();
            write_id(looks_[m]);
            json_.end_array();
        }
        json_.end_array();
    }

    void write_tensor(const stemma::tensor_info& tensor, std::string_view kind) {
        std::string shape;
        for (auto extent : tensor.shape) {
            shape.append(shape.empty() ? "" : ",").append(std::to_string(extent));
        }
        json_.row(tensor.name, std::string(tensor.dtype) + "[" + shape + "]",
                  kind == "parameter" && !tensor.trainable ? "frozen parameter" : kind,
                  tensor.elements());
    }

    /// Names and kinds of values; types by number, as many have the same.
    void write_values() {
        std::unordered_map<std::string, stemma::id> types;
        std::string texts;
        json_.key("values");
        json_.begin_array();
        for (stemma::id value = 0; value < model_.value_count(); ++value) {
            const stemma::value_description about = describe_(value);
            const auto [type, is_new] =
                types.emplace(about.type_and_shape(), static_cast<stemma::id>(types.size()));
            json_.begin_array(true);
            json_.value(model_.value_name(value));
            json_.value(static_cast<int>(model_.kind(value)));
            // A type stands where it occurs first.
            is_new ? json_.value(type->first) : json_.value(type->second);
            json_.end_array();
        }
        json_.end_array();
        json_.flat_list("results", model_.graph(0).outputs, [&](auto value) { write_id(value); });
    }

    /// Nodes by the lines of programs where they were written, if any is known.
    void write_lines() {
        if (opened_.lines().empty()) {
            return;
        }
        json_.key("lines");
        json_.begin_array();
        for (const auto& row : stemma::group_by_line(opened_)) {
            if (row.line == 0) {
                continue;
            }
            json_.begin_array(true);
            json_.value(row.file);
            json_.value(row.line);
            json_.value(row.function);
            json_.begin_array(true);
            for (const auto node : row.nodes) {
                json_.value(node);
            }
            json_.end_array();
            json_.end_array();
        }
        json_.end_array();
    }

    void write_nodes() {
        json_.key("nodes");
        json_.begin_array();
        for (stemma::id node = 0; node < model_.node_count(); ++node) {
            const auto& attribution = tags_.attributions[node];
            json_.begin_array(true);
            json_.value(names_.node(node));
            json_.value(model_.operator_id(node));
            json_.value(attribution.module);
            json_.value(static_cast<int>(attribution.source));
            json_.value(attribution.confidence);
            json_.begin_array(true);
            for (auto value : model_.inputs(node)) {
                write_id(value);
            }
            json_.end_array();
            json_.begin_array(true);
            for (auto value : model_.outputs(node)) {
                json_.value(value);
            }
            json_.end_array();
            write_hidden_reads(node);
            json_.begin_array(true);
            for (const auto& claim : tags_.conflicts.of(node)) {
                json_.row(tags_.provenances[claim.source], modules_.path(claim.module),
                          claim.confidence);
            }
            json_.end_array();
            write_attributes(node);
            json_.value(model_.graph_of(node));
            json_.end_array();
        }
        json_.end_array();
        json_.key("quiet");
        json_.begin_array(true);
        const auto quiet = stemma::detail::find_shape_arithmetic(model_);
        for (stemma::id node = 0; node < model_.node_count(); ++node) {
            if (quiet[node]) {
                json_.value(node);
            }
        }
        json_.end_array();
    }

    /// Graphs with the node that owns each, inputs and outputs; by operator the graph of its
    /// function.
    void write_graphs() {
        json_.key("graphs");
        json_.begin_array();
        for (stemma::id g = 0; g < model_.graph_count(); ++g) {
            const auto& graph = model_.graph(g);
            const bool is_function = graph.kind == stemma::graph_kind::function;
            json_.begin_array(true);
            write_id(graph.owner);
            json_.value(model_.text(is_function ? model_.functions()[graph.function].name
                                                : graph.attribute));
            for (const auto* values : {&graph.inputs, &graph.outputs}) {
                json_.begin_array(true);
                for (auto value : *values) {
                    if (value != stemma::no_id) {
                        json_.value(value);
                    }
                }
                json_.end_array();
            }
            json_.end_array();
        }
        json_.end_array();
        json_.key("callees");
        json_.begin_array(true);
        for (stemma::id op = 0; op < model_.operator_count(); ++op) {
            const auto callee = model_.operator_callee(op);
            write_id(callee == stemma::no_id ? callee : model_.functions()[callee].graph);
        }
        json_.end_array();
    }

    /// The attributes of a node as texts; by number, as many nodes have the same.
    void write_attributes(stemma::id node) {
        std::string key;
        const auto all = stemma::describe_attributes(model_, node);
        for (const auto& one : all) {
            key.append(to_text(one)).push_back('\0');
        }
        const auto [number, is_new] =
            attributes_.emplace(std::move(key), static_cast<stemma::id>(attributes_.size()));
        if (!is_new) {
            json_.value(number->second);
            return;
        }
        json_.begin_array(true);
        for (const auto& one : all) {
            json_.value(to_text(one));
        }
        json_.end_array();
    }

    /// What reaches a node otherwise than as an input of its own: results of bodies, and what a
    /// loop passes on to them.
    void write_hidden_reads(stemma::id node) {
        const auto inputs = model_.inputs(node);
        json_.begin_array(true);
        for (auto [it, last] = in_edges(node, graph_); it != last; ++it) {
            const auto value = get(stemma::value_index, graph_, *it);
            if (std::find(inputs.begin(), inputs.end(), value) == inputs.end()) {
                json_.value(value);
            }
        }
        json_.end_array();
    }

    void write_overlays(std::span<const stemma::overlay_table> overlays) {
        json_.list("overlays", overlays, [&](const auto& overlay) {
            json_.begin_object();
            json_.member("title", overlay.title);
            json_.member("unmatched", overlay.unmatched);
            json_.list("columns", overlay.columns, [&](const auto& column) {
                json_.row(column.name, column.unit, static_cast<int>(column.better),
                          column.additive);
            });
            json_.key("modules");
            write_rows(overlay.modules);
            json_.key("nodes");
            write_rows(overlay.nodes);
            json_.end_object();
        });
    }

    void write_rows(const std::vector<stemma::overlay_table::row>& rows) {
        json_.begin_array();
        for (const auto& row : rows) {
            json_.begin_array(true);
            json_.value(row.of);
            for (const auto& cell : row.cells) {
                if (const auto* number = std::get_if<double>(&cell)) {
                    json_.value(*number);
                } else if (const auto* text = std::get_if<std::string>(&cell)) {
                    json_.value(*text);
                } else {
                    json_.null();
                }
            }
            json_.end_array();
        }
        json_.end_array();
    }

    void write_id(stemma::id number) {
        number == stemma::no_id ? json_.value(-1) : json_.value(number);
    }

    stemma::json_writer<Sink> json_;
    const stemma::attributed_model& opened_;
    const stemma::wire_model& model_;
    const stemma::operator_graph& graph_;
    const stemma::module_tree& modules_;
    const stemma::tagging& tags_;
    stemma::module_statistics counts_;
    stemma::value_descriptions describe_;
    stemma::detail::report_names names_;
    std::vector<stemma::id> looks_;                          // by module
    std::unordered_map<std::string, stemma::id> attributes_; // those of nodes that were written
};

} // namespace detail

/// Writes a page about a model that needs nothing but a browser: the tree of modules, and for each
/// its nodes, graph, parameters, what goes in and out, and conflicts.
///
/// `overlays` are numbers that colour it, with tables and flame graphs of their own; `read_overlay`
/// makes them for this model.
///
/// Requires: the evidence was not forgotten. Complexity: O(length of the result); memory for a
/// buffer and the different types.
template <stemma::text_sink Sink>
void write_html_report(Sink& sink, const stemma::attributed_model& opened,
                       std::span<const stemma::overlay_table> overlays = {}) {
    const auto summary = stemma::summarize(opened);
    sink.write(detail::page[0]);
    sink.write(stemma::detail::xml_text(summary.model));
    sink.write(detail::page[1]);
    detail::script_sink script(sink);
    detail::report_data(script, opened).write(summary, overlays);
    sink.write(detail::page[2]);
}

} // namespace stemma_report

#endif // STEMMA_EXAMPLES_REPORT_STEMMA_REPORT_HTML_REPORT_HPP
