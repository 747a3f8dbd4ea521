// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <stemma/cost/model_cost.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/query/parse_query.hpp>
#include <stemma/query/sort_answer.hpp>

#include <fmt/core.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

namespace {

using stemma::id;

struct query_options {
    common_options common;
    std::string text;
    std::string list; ///< "" for the default of the query
    std::string sort;
    std::vector<std::string> dims;
    std::size_t top = std::numeric_limits<std::size_t>::max();
};

/// Prints names, each once; as `#7`, which `explain` accepts, nodes without one or with line
/// breaks.
void print_node_names(const query_options& options, const stemma::onnx_model& model,
                      const std::vector<id>& nodes) {
    const auto listing = stemma::names_of(model, nodes);
    for (const auto& name : listing.names) {
        put_names(name + "\n");
    }
    if (listing.unnamed > 0) {
        note(options.common, fmt::format("{} without a name", counted(listing.unnamed, "node")));
    }
    if (listing.broken > 0) {
        note(options.common,
             fmt::format("{} with line breaks in the name", counted(listing.broken, "node")));
    }
    if (listing.others > 0) {
        note(options.common, fmt::format("{} that do not match share names with matching ones",
                                         counted(listing.others, "node")));
    }
}

void print_list(const query_options& options, std::string_view list,
                const stemma::attributed_model& opened, const stemma::query_answer& answer) {
    const bool by_index = options.common.format == "indices";
    if (list == "nodes" && !by_index) {
        print_node_names(options, opened.model(), answer.nodes);
    } else if (list == "nodes") {
        for (auto node : answer.nodes) {
            put_names(stemma::position_text(opened.model(), node) + "\n");
        }
    } else if (list == "modules") {
        for (auto m : answer.modules) {
            by_index ? put_names(fmt::format("{}\n", m))
                     : put_names(in_one_line(opened.modules().path(m)) + "\n");
        }
    } else {
        for (auto value : list == "values" ? answer.values : answer.initializers) {
            put_names(in_one_line(opened.model().value_name(value)) + "\n");
        }
    }
}

int run_query(const query_options& options) {
    const auto opened = open_model(options.common);
    const auto asked = stemma::parse_query(*opened, options.text);
    const auto list =
        options.list.empty()
            ? (asked.asks_for_sizes() && !asked.asks_for_operators() ? "modules" : "nodes")
            : options.list;
    if (options.common.format == "indices" && list != "nodes" && list != "modules") {
        throw refused("--list", "values have names, but no indices");
    }
    auto answer = stemma::answer_query(asked, *opened);
    if (options.list == "modules" && asked.asks_for_operators()) {
        answer.modules = stemma::modules_of(answer.nodes, opened->tags());
    }
    const bool none =
        (list == "nodes" && answer.nodes.empty()) || (list == "modules" && answer.modules.empty());
    if (none && options.common.format != "json" && asked.kind != stemma::query_kind::everything) {
        stemma::refuse_unmatched(*opened, asked);
    }
    if (options.common.format != "json" && asked.kind != stemma::query_kind::everything &&
        (list == "values" ? answer.values : answer.initializers).empty() &&
        (list == "values" || list == "initializers")) {
        throw stemma::error(stemma::error_code::not_found, opened->file().path(), "query",
                            asked.asks_for_values()
                                ? fmt::format("no {} match", list)
                                : fmt::format("the matching nodes {} no {}",
                                              list == "values" ? "make" : "read", list));
    }
    if (const auto by = stemma::parse_name<stemma::cost_measure>(options.sort)) {
        const auto cost = stemma::find_cost(*opened, cost_options_of(options.dims));
        stemma::sort_answer(answer, cost, *by, options.top);
        note_gaps(options.common, cost);
    } else {
        stemma::sort_answer(answer, *opened,
                            stemma::parse_name<stemma::query_answer::order>(options.sort),
                            options.top);
    }
    if (!print_json(options.common.format, answer, options.text, *opened)) {
        const pager paged;
        print_list(options, list, *opened, answer);
    }
    return done;
}

} // namespace

void add_query(CLI::App& app, action& chosen) {
    add_command<query_options>(
        app, chosen, "query", "list the nodes, modules or values that match a query", run_query,
        [](command_line takes, query_options& options) {
            options.common.format = "names";
            takes.common(options.common, "names,indices,json");
            takes.argument("QUERY", options.text,
                           "module paths, tags, conditions; see docs/query.md");
            takes.choice("--list", options.list, "nodes,modules,values,initializers",
                         "what to list; by default modules for queries about sizes, else nodes");
            takes.choice("--sort", options.sort,
                         "nodes,parameters,bytes,name,macs,flops,activations",
                         "sort, largest first; by name ascending");
            takes.dims(options.dims, "fix a symbolic dimension, for --sort macs, "
                                     "flops and activations");
            takes.positive("--top", options.top, "N", "list only the first N");
            takes.applies("--sort", "macs, flops and activations sort nodes and modules only", [&] {
                return !stemma::parse_name<stemma::cost_measure>(options.sort) ||
                       (options.list != "values" && options.list != "initializers");
            });
            takes.applies("--dim", "requires --sort macs, flops or activations", [&] {
                return stemma::parse_name<stemma::cost_measure>(options.sort).has_value();
            });
            takes.footer("Examples:\n  stemma query model.onnx 'encoder.layer.{0,1}.**'\n"
                         "  stemma query model.onnx 'class:Attention and op:MatMul'\n"
                         "  stemma query model.onnx 'op:Conv and attr:strides=[2,2]'\n"
                         "  stemma query model.onnx 'parameters>1M' --sort parameters --top 10\n"
                         "  stemma query model.onnx 'not class:LayerNorm and reads:**.weight' "
                         "--format json");
        });
}

} // namespace cli
