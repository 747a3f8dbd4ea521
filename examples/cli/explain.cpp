// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/onnx/definitions.hpp>
#include <stemma/record/sidecar.hpp>
#include <stemma/report/explanation.hpp>

#include <fmt/core.h>

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
};

/// Prints one answer after the other.
class answer_printer {
public:
    explicit answer_printer(const stemma::attributed_model& opened)
        : opened_(opened), model_(opened.model()), found_(opened.tags()) {}

    /// Nodes, or values where no node is called so.
    void print(const stemma::explanation& answer) {
        for (const auto& one : answer.nodes) {
            print_node(one);
        }
        if (answer.nodes.empty()) {
            for (const auto& one : answer.values) {
                print_value(one);
            }
        }
    }

private:
    static constexpr std::size_t max_lines = 6;

    void title(std::string_view name, std::string_view type) {
        put("{}{} {}\n", first_ ? "" : "\n", shaded(name, shade::strong), shaded(type, shade::dim));
        first_ = false;
    }

    static void row(std::string_view label, std::string_view text) {
        put("  {} {}\n", shaded(fitted(label, 11), shade::dim), text);
    }

    void print_node(const stemma::node_explanation& one) {
        const auto domain = model_.domain(one.node);
        title(node_text(one.node), fmt::format("{}{}{}", model_.op_type(one.node),
                                               domain.empty() ? "" : " of ", domain));
        row("module", module_text(one.module));
        row("tag", shaded(one.tag, shade::name));
        if (one.tags.size() > 1) {
            print_some("serves", one.tags.size(), [&](std::size_t i) {
                return shaded(found_.tags.text(one.tags[i]),
                              one.tags[i] == one.selected ? shade::name : shade::plain);
            });
        }
        row("known from",
            fmt::format("{}, confidence {:.2f}{}", found_.provenances[one.source], one.confidence,
                        one.call == no_id ? "" : fmt::format(", call {}", one.call)));
        print_origins(one.node);
        for (auto caller : one.callers) {
            row("called by", module_text(caller));
        }
        using relation = stemma::claim_relation;
        for (const auto& [made, how] : one.claims) {
            row("claim",
                fmt::format("{} says {} ({:.2f}){}", found_.provenances[made.source],
                            path_text(opened_, made.module), made.confidence,
                            how == relation::decided  ? ""
                            : how == relation::agrees ? ", which agrees"
                                                      : shaded(", which disagrees", shade::bad)));
        }
        for (const auto& input : one.inputs) {
            const auto from =
                input.node == no_id
                    ? std::string(stemma::to_string(model_.kind(input.value)))
                    : "from " + path_text(opened_, found_.attributions[input.node].module);
            row("reads",
                fmt::format("{}  {}", model_.value_name(input.value), shaded(from, shade::dim)));
        }
        for (const auto& output : one.outputs) {
            print_readers(output.readers);
        }
    }

    /// The nodes of the original, where tags were carried over from one.
    void print_origins(id node) {
        const auto& origins = found_.origins;
        const auto numbers = origins.of(node);
        const auto kind = origins.kind(node);
        if (kind == stemma::origin_kind::inserted || kind == stemma::origin_kind::served) {
            row("put in", kind == stemma::origin_kind::inserted ? "behind what its data come from"
                                                                : "in front of what reads it");
        }
        print_some("came from", numbers.size(), [&](std::size_t i) {
            const auto one = origins[numbers[i]];
            return fmt::format("{}  {}",
                               one.name.empty() ? fmt::format("{}#{}", one.graph, one.position)
                                                : std::string(one.name),
                               shaded(module_text(one.module), shade::dim));
        });
    }

    void print_value(const stemma::value_explanation& one) {
        title(model_.value_name(one.value),
              fmt::format("{} value", stemma::to_string(model_.kind(one.value))));
        for (auto m : one.tags) {
            row("tag", shaded(found_.tags.text(m), shade::name));
        }
        if (one.producer != no_id) {
            row("made by", node_line(one.producer));
        }
        print_readers(one.readers);
    }

    void print_readers(std::span<const id> readers) const {
        print_some("read by", readers.size(), [&](std::size_t i) { return node_line(readers[i]); });
    }

    /// Prints rows of one label, the first ones where there are many.
    template <class Text>
    static void print_some(std::string_view label, std::size_t count, Text text) {
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
        return fmt::format(
            "{}  {}", node_text(node),
            shaded(path_text(opened_, found_.attributions[node].module), shade::dim));
    }

    const stemma::attributed_model& opened_;
    const stemma::wire_model& model_;
    const stemma::tagging& found_;
    bool first_ = true;
};

int explain(const explain_options& options) {
    const auto opened = open_model(options.common);
    const stemma::explainer explainer(*opened);
    answer_printer printer(*opened);
    int status = done;
    std::vector<stemma::explanation> answers;
    for (const auto& asked : options.wanted) {
        answers.push_back(explainer.explain(asked));
        if (options.common.format != "json") {
            printer.print(answers.back());
        }
        if (answers.back().empty()) {
            status = found_something;
            std::string like;
            for (const auto& name : explainer.names_like(asked)) {
                like += fmt::format("{}'{}'", like.empty() ? "; like it are " : ", ", name);
            }
            print_error(fmt::format("{}: no node or value is called '{}'{}", options.common.model,
                                    asked, like));
        }
    }
    if (options.common.format == "json") {
        standard_output out;
        stemma::write_explanations(out, answers, *opened, options.common.model);
    }
    return status;
}

} // namespace

void add_explain(CLI::App& app, action& chosen) {
    add_command<explain_options>(
        app, chosen, "explain", "say which module a node or value came from, and how it is known",
        explain, [](command_line takes, explain_options& options) {
            takes.common(options.common);
            takes.argument("NODE", options.wanted, "names of nodes or values, or #INDEX of a node");
            takes.footer("Examples:\n  stemma explain model.onnx /encoder/layer.0/attention/Add\n"
                         "  stemma explain model.onnx '#42' encoder.layer.0.output.dense.bias");
        });
}

} // namespace cli
