// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "terminal.hpp"

#include <stemma/core/query.hpp>
#include <stemma/error.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/query_answer.hpp>

#include <fmt/core.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

namespace {

using stemma::id;

struct query_options {
    common_options common;
    std::string text;
    std::string list = "nodes";
};

/// Prints names, each once; nodes without one as `#7`, which `explain` takes.
void print_node_names(const query_options& options, const stemma::attributed_model& opened,
                      const std::vector<id>& nodes) {
    const auto& model = opened.model();
    std::set<std::string_view> names;
    std::size_t unnamed = 0;
    for (auto node : nodes) {
        const auto name = model.name(node);
        unnamed += name.empty() ? 1U : 0U;
        if (name.empty()) {
            put_names(fmt::format("{}\n", position_text(model, node)));
        } else if (names.insert(name).second) {
            put_names(fmt::format("{}\n", name));
        }
    }
    std::size_t more = 0; // nodes that were not asked for
    auto next = nodes.begin();
    for (id node = 0; node < model.node_count(); ++node) {
        if (next != nodes.end() && *next == node) {
            ++next;
        } else {
            more += names.count(model.name(node));
        }
    }
    if (unnamed > 0) {
        note(options.common, fmt::format("{} without a name", counted(unnamed, "node")));
    }
    if (more > 0) {
        note(options.common,
             fmt::format("{} that do not match have names of such that do", counted(more, "node")));
    }
}

void print_list(const query_options& options, const stemma::attributed_model& opened,
                const stemma::query_answer& answer) {
    const bool by_index = options.common.format == "indices";
    if (options.list == "nodes" && !by_index) {
        print_node_names(options, opened, answer.nodes);
    } else if (options.list == "nodes") {
        for (auto node : answer.nodes) {
            put_names(fmt::format("{}\n", position_text(opened.model(), node)));
        }
    } else if (options.list == "modules") {
        for (auto m : answer.modules) {
            by_index ? put_names(fmt::format("{}\n", m))
                     : put_names(fmt::format("{}\n", opened.modules().path(m)));
        }
    } else {
        for (auto value : options.list == "values" ? answer.values : answer.initializers) {
            put_names(fmt::format("{}\n", opened.model().value_name(value)));
        }
    }
}

int run_query(const query_options& options) {
    const auto asked = stemma::parse_query(options.text);
    const auto opened = open_model(options.common);
    const auto refuse = [](std::string_view why) {
        throw stemma::error(stemma::error_code::refused, "", "--list", why);
    };
    if (options.list == "modules" && asked.asks_for_operators()) {
        refuse("the query asks about nodes, so its answer has no modules");
    }
    if (options.common.format == "indices" && options.list != "nodes" &&
        options.list != "modules") {
        refuse("values have names, but no indices");
    }
    const auto answer = stemma::answer_query(asked, opened->model(), opened->operators(),
                                             opened->modules(), opened->tags());
    if (answer.nodes.empty() && answer.modules.empty()) {
        refuse_unmatched(*opened, asked);
    }
    if (options.common.format != "json") {
        print_list(options, *opened, answer);
        return done;
    }
    standard_output out;
    stemma::json_writer json(out);
    json.begin_object();
    json.member("schema", "stemma.query/1");
    json.member("model", options.common.model);
    json.member("query", options.text);
    stemma::write_answer(json, answer, opened->model(), opened->modules(), opened->tags());
    json.end_object();
    json.finish();
    return done;
}

} // namespace

void add_query(CLI::App& app, action& chosen) {
    auto options = std::make_shared<query_options>();
    auto& command = *app.add_subcommand("query", "list the nodes that fit a query");
    options->common.format = "names";
    add_common_options(command, options->common, "names,indices,json");
    command.add_option("QUERY", options->text, "module paths, tags, conditions; see docs/query.md")
        ->required();
    command.add_option("--list", options->list, "what is listed")
        ->type_name("nodes,modules,values,initializers")
        ->check(CLI::IsMember({"nodes", "modules", "values", "initializers"}))
        ->default_str("nodes");
    command.footer("Examples:\n  stemma query model.onnx 'encoder.layer.{0,1}.**'\n"
                   "  stemma query model.onnx 'class:Attention and op:MatMul'\n"
                   "  stemma query model.onnx 'not class:LayerNorm and reads:**.weight' "
                   "--format json");
    command.callback([&chosen, options] { chosen = [options] { return run_query(*options); }; });
}

} // namespace cli
