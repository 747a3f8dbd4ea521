// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "explanation_text.hpp"
#include "report.hpp"

#include <stemma/model/source_lines.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/record/sidecar.hpp>
#include <stemma/report/explanation.hpp>
#include <stemma/report/explanation_json.hpp>
#include <stemma/report/source_text.hpp>
#include <stemma/report/why_nothing.hpp>
#include <stemma/weights/identify_parameters.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

namespace {

using stemma::id;
using stemma::no_id;

struct explain_options {
    common_options common;
    std::vector<std::string> wanted;
    std::string source_root;
};

/// Appends one answer after the other to a text.
class answer_printer {
public:
    answer_printer(std::string& text, const stemma::attributed_model& opened,
                   const stemma::explainer& explainer, stemma::source_folder* texts)
        : text_(text)
        , opened_(opened)
        , explainer_(explainer)
        , model_(opened.model())
        , tags_(opened.tags())
        , texts_(texts) {}

    /// Values only if no node has the name, and parameters if no value has.
    void print(const stemma::explanation& answer) {
        for (const auto& one : answer.nodes) {
            print_node(one);
        }
        for (std::size_t i = 0; answer.nodes.empty() && i < answer.values.size(); ++i) {
            print_value(answer.values[i]);
        }
        for (const auto& one : answer.modules) {
            print_module(one);
        }
        for (std::size_t i = 0; answer.values.empty() && i < answer.parameters.size(); ++i) {
            print_parameter(answer.parameters[i]);
        }
        for (const auto& one : answer.functions) {
            print_function(one);
        }
    }

private:
    static constexpr std::size_t max_lines = 6;

    void title(std::string_view name, std::string_view type) {
        text_ += fmt::format("{}{}{}{}\n", text_.empty() ? "" : "\n",
                             shaded(in_one_line(name), shade::strong), type.empty() ? "" : " ",
                             shaded(in_one_line(type), shade::dim));
    }

    void row(std::string_view label, std::string_view text, bool unknown = false) const {
        if (!unknown) {
            text_ +=
                fmt::format("  {} {}\n", shaded(fitted(label, 11), shade::dim), in_one_line(text));
        }
    }

    void print_node(const stemma::explanation::of_node& one) {
        const auto domain = model_.domain(one.node);
        title(node_text(one.node), fmt::format("{}{}{}", model_.op_type(one.node),
                                               domain.empty() ? "" : " of ", domain));
        row("module", module_text(one.module));
        row("tag", shaded(one.tag, shade::name));
        if (one.tags.size() > 1) {
            print_some("serves", one.tags.size(), [&](std::size_t i) {
                return shaded(tags_.tags.text(one.tags[i]),
                              one.tags[i] == one.selected ? shade::name : shade::plain);
            });
        }
        row("evidence",
            fmt::format("{}, confidence {:.2f}{}", tags_.provenances[one.source], one.confidence,
                        one.call == no_id ? "" : fmt::format(", call {}", one.call)));
        print_origins(one.node);
        print_source(one.chain);
        for (auto caller : one.callers) {
            row("called by", module_text(caller));
        }
        using relation = stemma::explanation::claim_relation;
        for (const auto& [claim, how] : one.claims) {
            row("claim",
                fmt::format("{} says {} ({:.2f}){}", tags_.provenances[claim.source],
                            path_text(opened_, claim.module), claim.confidence,
                            how == relation::decided  ? ""
                            : how == relation::agrees ? ", which agrees"
                                                      : shaded(", which disagrees", shade::bad)));
        }
        std::string attributes;
        for (const auto& attribute : one.attributes) {
            attributes += (attributes.empty() ? "" : ", ") + to_text(attribute);
        }
        row("attributes", attributes, attributes.empty());
        for (const auto& input : one.inputs) {
            const auto from =
                input.node == no_id
                    ? std::string(stemma::to_string(model_.kind(input.value)))
                    : "from " + path_text(opened_, tags_.attributions[input.node].module);
            row("reads",
                fmt::format("{}  {}", typed(input.value, input.type), shaded(from, shade::dim)));
        }
        for (const auto& output : one.outputs) {
            row("makes", typed(output.value, output.type));
            print_readers(output.readers);
        }
    }

    /// Its source line, and the call stack.
    void print_source(id chain) {
        if (chain == no_id) {
            return;
        }
        const auto& lines = opened_.lines();
        print_line("source", lines.frame_of_chain(chain));
        bool inside = true; // of the frame that is shown
        std::size_t calls = 0;
        for (const auto number : lines.frames_of_chain(chain)) {
            const bool shown = inside && number == lines.frame_of_chain(chain);
            inside = inside && !shown;
            const bool tells = lines.frames()[number].kind != stemma::frame_kind::library || inside;
            if (!shown && tells && calls++ < max_lines) {
                row(inside ? "through" : "called at", stemma::to_text(lines.position(number)));
            }
        }
        if (calls > max_lines) {
            row("", fmt::format("and {} more", grouped(calls - max_lines)));
        }
    }

    /// A line, with its text if that is known to be unchanged.
    void print_line(std::string_view label, id frame) {
        row(label, shaded(stemma::to_text(opened_.lines().position(frame)), shade::name));
        if (texts_ == nullptr) {
            return;
        }
        const auto line = texts_->line(opened_.lines(), frame);
        row("", !line ? shaded("not there", shade::dim)
                : line->changed
                    ? shaded("the line has changed since", shade::bad)
                    : shortened(line->text, 100) +
                          shaded(line->unchecked ? "  (may have changed)" : "", shade::dim));
    }

    /// The origins, if tags were carried over from an original.
    void print_origins(id node) {
        const auto& origins = tags_.origins;
        const auto numbers = origins.of(node);
        const auto kind = origins.kind(node);
        if (kind == stemma::origin_kind::inserted || kind == stemma::origin_kind::served) {
            row("inserted", kind == stemma::origin_kind::inserted ? "after its data's producer"
                                                                  : "before its readers");
        }
        print_some("came from", numbers.size(), [&](std::size_t i) {
            const auto one = origins[numbers[i]];
            return fmt::format("{}  {}",
                               one.name.empty() ? fmt::format("{}#{}", one.graph, one.position)
                                                : std::string(one.name),
                               shaded(module_text(one.module), shade::dim));
        });
    }

    void print_value(const stemma::explanation::of_value& one) {
        title(model_.value_name(one.value),
              fmt::format("{} value", stemma::to_string(model_.kind(one.value))));
        row("type", shaded(one.type, shade::number), one.type.empty());
        if (one.weight) {
            row("weight", fmt::format("{} of {}, {}, {}", to_string(one.weight->weight.kind),
                                      path_text(opened_, one.weight->module),
                                      counted(one.weight->weight.elements, "element"),
                                      stemma::bytes_text(one.weight->weight.bytes)));
        }
        if (one.origin) {
            row("made from",
                fmt::format("{}, {} ({}, {:.2f})", fmt::join(one.origin->entries, ", "),
                            stemma::transform_text(*one.origin), to_string(one.origin->basis),
                            one.origin->confidence));
        }
        for (auto m : one.tags) {
            row("tag", shaded(tags_.tags.text(m), shade::name));
        }
        if (one.producer != no_id) {
            row("made by", node_line(one.producer));
        }
        print_readers(one.readers);
    }

    void print_module(const stemma::module_explanation& one) {
        const auto m = one.module;
        const auto& modules = opened_.modules();
        const auto& counts = explainer_.counts();
        title(path_text(opened_, m),
              modules.class_name(m).empty() ? "module" : modules.class_name(m));
        row("class", modules.qualified_class(m), modules.qualified_class(m).empty());
        if (const auto at = opened_.lines().frame_of_module(m); at != no_id) {
            print_line("source", at);
        }
        row("tag", shaded(tags_.tags.text(m), shade::name) +
                       (tags_.tags.is_selected(m) ? "" : ", of the module around it"));
        row("calls", grouped(modules.calls(m)), modules.calls(m) == no_id);
        for (const auto& alias : one.aliases) {
            row("also called", alias);
        }
        const auto inside = modules.index().end(m) - m - 1;
        row("nodes",
            fmt::format("{}, {} of them its own  {}", grouped(counts.nodes[m]),
                        grouped(counts.own_nodes[m]),
                        shaded(top_operators(model_, counts.operators[m], 48), shade::dim)));
        row("modules", fmt::format("{} inside", grouped(inside)), inside == 0);
        const auto weights = stemma::weights_text(counts.weights[m]);
        row("parameters", fmt::format("{}{}{}{}", grouped(counts.parameters[m]),
                                      counts.parameters[m] == counts.stored[m]
                                          ? std::string()
                                          : fmt::format(" ({} stored)", grouped(counts.stored[m])),
                                      weights.empty() ? "" : "  ", shaded(weights, shade::dim)));
        print_some("weight", one.weights.size(), [&](std::size_t i) {
            const auto& weight = one.weights[i];
            return fmt::format("{}  {}", typed(weight.weight.value, weight.type),
                               shaded(to_string(weight.weight.kind), shade::dim));
        });
        print_crossing("in", "from", one.inputs);
        print_crossing("out", "to", one.outputs);
        print_some("alike", one.alike.size(),
                   [&](std::size_t i) { return path_text(opened_, one.alike[i]); });
        if (!one.reentry) {
            row("convex", "yes", counts.nodes[m] == 0);
            return;
        }
        const auto& way = *one.reentry;
        row("not convex",
            "leaves at " + node_line(way.nodes.front()) + " to " + node_line(way.nodes[1]));
        row("", "and returns to " + node_line(way.nodes.back()));
        row("", fmt::format("cut --non-convex runs: {}; absorb: includes {}",
                            counted(way.runs, "part"), counted(way.absorbed, "node")));
    }

    void print_crossing(std::string_view label, std::string_view other,
                        const std::vector<stemma::module_explanation::crossing>& values) const {
        print_some(label, values.size(), [&](std::size_t i) {
            const auto& one = values[i];
            const auto kind = model_.kind(one.value);
            std::string ends = one.of_model && kind == stemma::value_kind::result
                                   ? fmt::format("{} the graph's result", other)
                               : one.modules.empty() ? std::string(to_string(kind))
                                                     : std::string();
            for (std::size_t k = 0; k < one.modules.size() && k < 3; ++k) {
                ends += fmt::format("{}{}", ends.empty() ? fmt::format("{} ", other) : ", ",
                                    path_text(opened_, one.modules[k]));
            }
            return fmt::format("{}  {}{}", typed(one.value, one.type), shaded(ends, shade::dim),
                               one.modules.size() > 3 ? ", \xe2\x80\xa6" : "");
        });
    }

    void print_parameter(const stemma::explanation::of_parameter& one) {
        const auto& modules = opened_.modules();
        const auto tensor = one.buffer ? modules.buffer(one.module, one.number)
                                       : modules.parameter(one.module, one.number);
        title(tensor.name, one.buffer         ? "buffer"
                           : tensor.trainable ? "parameter"
                                              : "frozen parameter");
        row("module", module_text(one.module));
        row("type", fmt::format("{}[{}], {}", tensor.dtype, fmt::join(tensor.shape, ","),
                                counted(tensor.elements(), "element")));
        row("in the file", "no initializer has this name");
    }

    void print_function(const stemma::explanation::of_function& one) {
        const auto g = model_.functions()[one.function].graph;
        title(model_.graph_path(g),
              fmt::format("function of {}", counted(model_.graph(g).node_count, "node")));
        for (auto value : model_.graph(g).inputs) {
            row("takes", value == no_id ? "" : model_.value_name(value));
        }
        for (auto value : model_.graph(g).outputs) {
            row("gives", value == no_id ? "" : model_.value_name(value));
        }
        print_some("called by", one.calls.size(),
                   [&](std::size_t i) { return node_line(one.calls[i]); });
    }

    /// Returns: the name of a value, and its type if known.
    [[nodiscard]] std::string typed(id value, std::string_view type) const {
        return fmt::format("{}{}{}", model_.value_name(value), type.empty() ? "" : "  ",
                           shaded(type, shade::number));
    }

    void print_readers(std::span<const id> readers) const {
        print_some("read by", readers.size(), [&](std::size_t i) { return node_line(readers[i]); });
    }

    /// Prints rows with one label, at most the first few.
    template <class Text>
    void print_some(std::string_view label, std::size_t count, Text text) const {
        for (std::size_t i = 0; i < count && i < max_lines; ++i) {
            row(label, text(i));
        }
        if (count > max_lines) {
            row("", fmt::format("and {} more", grouped(count - max_lines)));
        }
    }

    [[nodiscard]] std::string module_text(id m) const {
        const auto type = opened_.modules().qualified_class(m);
        return path_text(opened_, m) +
               (type.empty() ? std::string() : shaded(fmt::format("  {}", type), shade::dim));
    }

    [[nodiscard]] std::string node_text(id node) const {
        const auto position = stemma::position_text(model_, node);
        return model_.name(node).empty() ? position
                                         : fmt::format("{} ({})", model_.name(node), position);
    }

    [[nodiscard]] std::string node_line(id node) const {
        return fmt::format("{}  {}", node_text(node),
                           shaded(path_text(opened_, tags_.attributions[node].module), shade::dim));
    }

    std::string& text_;
    const stemma::attributed_model& opened_;
    const stemma::explainer& explainer_;
    const stemma::wire_model& model_;
    const stemma::tagging& tags_;
    stemma::source_folder* texts_;
};

int explain(const explain_options& options) {
    const auto opened = open_model(options.common);
    stemma::explainer explainer(*opened);
    explainer.add_origins(stemma::identify_parameters(*opened));
    std::optional<stemma::source_folder> texts;
    if (!options.source_root.empty()) {
        texts.emplace(options.source_root);
    }
    int status = done;
    bool parted = false; // whether something was printed
    std::optional<pager> paged;
    if (options.common.format != "json") {
        paged.emplace();
    }
    std::vector<stemma::explanation> answers;
    for (const auto& asked : options.wanted) {
        answers.push_back(explainer.explain(asked));
        if (options.common.format != "json") {
            put("{}{}", parted && !answers.back().empty() ? "\n" : "",
                explanation_text(*opened, explainer, answers.back(), texts ? &*texts : nullptr));
            parted = parted || !answers.back().empty();
        }
        if (answers.back().empty()) {
            status = found_something;
            print_error(
                fmt::format("{}: {}", options.common.model, stemma::why_nothing(*opened, asked)));
        }
    }
    print_json(options.common.format, answers, explainer);
    return status;
}

} // namespace

std::string explanation_text(const stemma::attributed_model& opened,
                             const stemma::explainer& explainer, const stemma::explanation& answer,
                             stemma::source_folder* texts) {
    std::string text;
    answer_printer(text, opened, explainer, texts).print(answer);
    return text;
}

void add_explain(CLI::App& app, action& chosen) {
    add_command<explain_options>(
        app, chosen, "explain", "explain a node, value, module or function, with the evidence",
        explain, [](command_line takes, explain_options& options) {
            takes.common(options.common);
            takes.argument("NAME", options.wanted,
                           "nodes (also #INDEX), values, parameters, modules, functions");
            takes.value("--source-root", options.source_root, "DIR",
                        "show source lines from files below DIR; no others are read");
            takes.applies_to("--source-root", options.common, "text");
            takes.footer("Examples:\n  stemma explain model.onnx encoder.layer.0.attention\n"
                         "  stemma explain model.onnx /encoder/layer.0/attention/Add\n"
                         "  stemma explain model.onnx '#42' encoder.layer.0.output.dense.bias");
        });
}

} // namespace cli
