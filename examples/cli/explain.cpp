// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "terminal.hpp"

#include <stemma/core/grouped_ids.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/sidecar.hpp>
#include <stemma/onnx/value_tags.hpp>
#include <stemma/onnx/wire/tensor_header.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace cli {

namespace {

using stemma::id;
using stemma::no_id;

struct explain_options {
    common_options common;
    std::vector<std::string> wanted;
};

/// Answers one question after the other about an open model.
class explainer {
public:
    explicit explainer(stemma::attributed_model& opened)
        : opened_(opened)
        , model_(opened.model())
        , modules_(opened.modules())
        , found_(opened.tags())
        , readers_(stemma::collect_value_readers(model_))
        , value_tags_(stemma::find_value_tags(model_, modules_, opened.tags())) {}

    /// Returns: the nodes that `text` names: `#7` and `5/body#2` by position, else by name.
    [[nodiscard]] std::vector<id> nodes_called(std::string_view text) const {
        std::vector<id> nodes;
        const auto hash = text.rfind('#');
        id position = no_id;
        if (hash != text.npos && hash + 1 < text.size()) {
            const auto end = text.data() + text.size();
            if (std::from_chars(text.data() + hash + 1, end, position).ptr != end) {
                position = no_id;
            }
        }
        for (id node = 0; node < model_.node_count(); ++node) {
            const bool by_position =
                position != no_id && model_.position(node) == position &&
                model_.graph_path(model_.graph_of(node)) == text.substr(0, hash);
            if (by_position || (!text.empty() && model_.name(node) == text)) {
                nodes.push_back(node);
            }
        }
        return nodes;
    }

    [[nodiscard]] std::vector<id> values_called(std::string_view text) const {
        std::vector<id> values;
        for (id value = 0; value < model_.value_count(); ++value) {
            if (!text.empty() && model_.value_name(value) == text) {
                values.push_back(value);
            }
        }
        return values;
    }

    /// Returns: names of nodes and values that look most like `text`.
    [[nodiscard]] std::vector<std::string> names_like(std::string_view text) const {
        stemma::nearest_texts nearest(text, 3);
        for (id node = 0; node < model_.node_count(); ++node) {
            nearest.offer(model_.name(node));
        }
        for (id value = 0; value < model_.value_count(); ++value) {
            nearest.offer(model_.value_name(value));
        }
        return nearest.take();
    }

    void print_node(id node) {
        const auto& made = found_.attributions[node];
        put("{} {}\n", shaded(node_text(node), shade::strong),
            shaded(fmt::format("{}{}", model_.op_type(node),
                               model_.domain(node).empty()
                                   ? std::string()
                                   : fmt::format(" of {}", model_.domain(node))),
                   shade::dim));
        row("module", module_text(made.module));
        row("tag", shaded(found_.tags.text(made.module), shade::name));
        print_tags(found_.tag_sets[node], found_.selected(node));
        std::string how =
            fmt::format("{}, confidence {:.2f}", stemma::to_string(made.source), made.confidence);
        if (made.call != no_id) {
            how += fmt::format(", call {}", made.call);
        }
        row("known from", how);
        for (auto caller : found_.callers.of(node)) {
            row("called by", module_text(caller));
        }
        for (const auto& one : opened_.claims_about(node)) {
            const bool agrees = one.module == made.module;
            const bool related = modules_.index().are_related(one.module, made.module);
            row("claim",
                fmt::format("{} says {} ({:.2f}){}", stemma::to_string(one.source),
                            path_text(one.module), one.confidence,
                            agrees                  ? ""
                            : related && !one.exact ? ", which agrees"
                                                    : shaded(", which disagrees", shade::bad)));
        }
        for (auto value : model_.inputs(node)) {
            if (value != no_id) {
                row("reads", value_line(value));
            }
        }
        for (id i = 0; i < model_.output_count(node); ++i) {
            print_consumers(model_.first_output(node) + i);
        }
    }

    void print_value(id value) {
        put("{} {}\n", shaded(model_.value_name(value), shade::strong),
            shaded(fmt::format("{} value", stemma::to_string(model_.kind(value))), shade::dim));
        found_.pool.for_each(value_tags_[value],
                             [&](id m) { row("tag", shaded(found_.tags.text(m), shade::name)); });
        if (model_.producer(value) != no_id) {
            row("made by", node_line(model_.producer(value)));
        }
        print_consumers(value);
    }

    void write_json(stemma::json_writer<standard_output>& json, std::string_view asked) {
        json.begin_object();
        json.member("asked", asked);
        json.key("nodes");
        json.begin_array();
        for (auto node : nodes_called(asked)) {
            write_node(json, node);
        }
        json.end_array();
        json.key("values");
        json.begin_array();
        for (auto value : values_called(asked)) {
            write_value(json, value);
        }
        json.end_array();
        json.end_object();
    }

private:
    static constexpr std::size_t max_lines = 6;

    static void row(std::string_view label, std::string_view text) {
        put("  {} {}\n", shaded(fitted(label, 11), shade::dim), text);
    }

    [[nodiscard]] std::string path_text(id m) const {
        return m == 0 ? std::string("the root") : modules_.path(m);
    }

    [[nodiscard]] std::string module_text(id m) const {
        const auto type = modules_.qualified_class(m);
        return type.empty() ? path_text(m)
                            : path_text(m) + shaded(fmt::format("  {}", type), shade::dim);
    }

    [[nodiscard]] std::string node_text(id node) const {
        const auto graph = model_.graph_path(model_.graph_of(node));
        const auto position = fmt::format("{}#{}", graph, model_.position(node));
        return model_.name(node).empty() ? position
                                         : fmt::format("{} ({})", model_.name(node), position);
    }

    [[nodiscard]] std::string node_line(id node) const {
        return fmt::format("{}  {}", node_text(node),
                           shaded(path_text(found_.attributions[node].module), shade::dim));
    }

    [[nodiscard]] std::string value_line(id value) const {
        const auto producer = model_.producer(value);
        if (producer != no_id) {
            return fmt::format(
                "{}  {}", model_.value_name(value),
                shaded(fmt::format("from {}", path_text(found_.attributions[producer].module)),
                       shade::dim));
        }
        return fmt::format("{}  {}", model_.value_name(value),
                           shaded(stemma::to_string(model_.kind(value)), shade::dim));
    }

    void print_tags(stemma::id_set set, id primary) const {
        if (found_.pool.size_of(set) < 2) {
            return;
        }
        std::size_t shown = 0;
        found_.pool.for_each(set, [&](id m) {
            if (++shown <= max_lines) {
                row("serves",
                    shaded(found_.tags.text(m), m == primary ? shade::name : shade::plain));
            }
        });
        if (shown > max_lines) {
            row("", fmt::format("and {} more", shown - max_lines));
        }
    }

    void print_consumers(id value) const {
        const auto consumers = readers_[value];
        for (std::size_t i = 0; i < consumers.size() && i < max_lines; ++i) {
            row("read by", node_line(consumers[i]));
        }
        if (consumers.size() > max_lines) {
            row("", fmt::format("and {} more", grouped(consumers.size() - max_lines)));
        }
    }

    void write_node(stemma::json_writer<standard_output>& json, id node) {
        const auto& made = found_.attributions[node];
        json.begin_object();
        json.member("graph", model_.graph_path(model_.graph_of(node)));
        json.member("index", model_.position(node));
        json.member("name", model_.name(node));
        json.member("op_type", model_.op_type(node));
        json.member("scope_module", modules_.path(made.module));
        json.member("module", modules_.path(found_.selected(node)));
        json.member("tag", found_.tags.text(made.module));
        json.key("tags");
        stemma::detail::write_tags(json, found_, found_.tag_sets[node]);
        json.member("provenance", stemma::to_string(made.source));
        json.member("confidence", made.confidence);
        json.key("call");
        made.call == no_id ? json.null() : json.value(made.call);
        json.key("claims");
        json.begin_array();
        for (const auto& one : opened_.claims_about(node)) {
            json.begin_object(true);
            json.member("source", stemma::to_string(one.source));
            json.member("module", modules_.path(one.module));
            json.member("confidence", one.confidence);
            json.member("exact", one.exact);
            json.end_object();
        }
        json.end_array();
        json.member("conflict", made.conflict);
        const auto write_neighbour = [&](id neighbour, std::string_view value) {
            json.begin_object(true);
            json.member("value", value);
            json.member("graph", model_.graph_path(model_.graph_of(neighbour)));
            json.member("index", model_.position(neighbour));
            json.member("name", model_.name(neighbour));
            json.member("tag", found_.tags.text(found_.attributions[neighbour].module));
            json.end_object();
        };
        json.key("producers");
        json.begin_array();
        for (auto value : model_.inputs(node)) {
            if (value != no_id && model_.producer(value) != no_id) {
                write_neighbour(model_.producer(value), model_.value_name(value));
            }
        }
        json.end_array();
        json.key("consumers");
        json.begin_array();
        for (id i = 0; i < model_.output_count(node); ++i) {
            const auto value = model_.first_output(node) + i;
            for (auto reader : readers_[value]) {
                write_neighbour(reader, model_.value_name(value));
            }
        }
        json.end_array();
        json.end_object();
    }

    void write_value(stemma::json_writer<standard_output>& json, id value) {
        json.begin_object(true);
        json.member("name", model_.value_name(value));
        json.member("graph", model_.graph_path(model_.graph_of_value(value)));
        json.member("kind", stemma::to_string(model_.kind(value)));
        json.key("tags");
        stemma::detail::write_tags(json, found_, value_tags_[value]);
        json.end_object();
    }

    stemma::attributed_model& opened_;
    const stemma::wire_model& model_;
    const stemma::module_tree& modules_;
    const stemma::tagging& found_;
    stemma::grouped_ids readers_;
    std::vector<stemma::id_set> value_tags_;
};

int explain(const explain_options& options) {
    const auto opened = open_model(options.common);
    explainer answers(*opened);
    int status = done;
    const auto complain = [&](const std::string& asked) {
        status = found_something;
        std::string like;
        for (const auto& name : answers.names_like(asked)) {
            like += fmt::format("{}'{}'", like.empty() ? "; like it are " : ", ", name);
        }
        print_error(fmt::format("{}: no node or value is called '{}'{}", options.common.model,
                                asked, like));
    };
    if (options.common.format == "json") {
        standard_output out;
        stemma::json_writer json(out);
        json.begin_object();
        json.member("schema", "stemma.explain/1");
        json.member("model", options.common.model);
        json.key("answers");
        json.begin_array();
        for (const auto& asked : options.wanted) {
            answers.write_json(json, asked);
            if (answers.nodes_called(asked).empty() && answers.values_called(asked).empty()) {
                complain(asked);
            }
        }
        json.end_array();
        json.end_object();
        json.finish();
        return status;
    }
    bool first = true;
    for (const auto& asked : options.wanted) {
        const auto nodes = answers.nodes_called(asked);
        const auto values = nodes.empty() ? answers.values_called(asked) : std::vector<id>{};
        for (auto node : nodes) {
            put("{}", first ? "" : "\n");
            answers.print_node(node);
            first = false;
        }
        for (auto value : values) {
            put("{}", first ? "" : "\n");
            answers.print_value(value);
            first = false;
        }
        if (nodes.empty() && values.empty()) {
            complain(asked);
        }
    }
    return status;
}

} // namespace

void add_explain(CLI::App& app, action& chosen) {
    auto options = std::make_shared<explain_options>();
    auto& command = *app.add_subcommand(
        "explain", "say which module a node or value came from, and how it is known");
    add_common_options(command, options->common);
    command.add_option("NODE", options->wanted, "names of nodes or values, or #INDEX of a node")
        ->required();
    command.footer("Examples:\n  stemma explain model.onnx /encoder/layer.0/attention/Add\n"
                   "  stemma explain model.onnx '#42' encoder.layer.0.output.dense.bias");
    command.callback([&chosen, options] { chosen = [options] { return explain(*options); }; });
}

} // namespace cli
