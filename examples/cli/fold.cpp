// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "terminal.hpp"
#include "untagged.hpp"

#include <stemma/error.hpp>
#include <stemma/io/file.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/model_record.hpp>
#include <stemma/onnx/plan_fold.hpp>
#include <stemma/onnx/wire/external_data.hpp>
#include <stemma/onnx/wire/fold_model.hpp>
#include <stemma/onnx/wire/node_shapes.hpp>
#include <stemma/onnx/wire/open_folds.hpp>
#include <stemma/policy/fold.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cli {

namespace {

using stemma::id;
using stemma::no_id;

struct fold_options {
    common_options common;
    std::string output;
    std::string module;
    std::string data = "keep";
    std::string old_versions = "lift";
    std::string constants = "equal";
    id depth = no_id;
    std::size_t least = 2;
    bool no_sync = false;
};

/// The modules that the command line asks for.
struct asked_modules {
    using policy_category = stemma::selection_category;

    std::vector<bool> asked;

    template <stemma::module_view Modules>
    [[nodiscard]] bool selects(const Modules&, id m) const {
        return asked[m];
    }
};

asked_modules find_asked(const fold_options& options, const stemma::attributed_model& opened) {
    const auto& index = opened.modules().index();
    asked_modules result{std::vector<bool>(index.size(), options.module.empty())};
    std::vector<bool> named(index.size(), false);
    if (!options.module.empty()) {
        for (auto top : find_modules(opened, options.module)) {
            std::fill(result.asked.begin() + top, result.asked.begin() + index.end(top), true);
            named[top] = true;
        }
    }
    for (id m = 0; m < index.size(); ++m) {
        result.asked[m] = result.asked[m] && index.depth(m) <= options.depth &&
                          (named[m] || opened.tags().tags.is_selected(m));
    }
    return result;
}

/// What one graph or function calls, also in bodies of its nodes.
struct region_calls {
    std::size_t calls = 0;
    std::vector<std::pair<id, id>> functions;     // how often, in the order of the first calls
    std::unordered_map<id, std::size_t> place_of; // in `functions`
};

void add_calls(const stemma::fold_plan& plan, const stemma::graph_contents& contents, id region,
               region_calls& found);

void add_calls_in(const stemma::fold_plan& plan, const stemma::graph_contents& contents, id node,
                  region_calls& found) {
    if (!plan.changes_inside(node)) {
        return;
    }
    for (auto g : contents.bodies_of(node)) {
        plan.look_into(
            g, contents, [&](id region) { add_calls(plan, contents, region, found); },
            [&](id inside) { add_calls_in(plan, contents, inside, found); });
    }
}

void add_calls(const stemma::fold_plan& plan, const stemma::graph_contents& contents, id region,
               region_calls& found) {
    for (const auto& item : plan.regions[region].items) {
        if (!item.is_region) {
            add_calls_in(plan, contents, item.index, found);
            continue;
        }
        found.calls += 1;
        const auto f = plan.function[item.index];
        const auto known = found.place_of.try_emplace(f, found.functions.size());
        if (known.second) {
            found.functions.emplace_back(f, 0);
        }
        found.functions[known.first->second].second += 1;
    }
}

std::size_t nodes_in(const stemma::fold_plan& plan, id region) {
    const auto& items = plan.regions[region].items;
    return static_cast<std::size_t>(std::count_if(
        items.begin(), items.end(), [](const auto& item) { return !item.is_region; }));
}

void print_tree(const stemma::fold_plan& plan, const stemma::graph_contents& contents, id region,
                std::string_view label, std::size_t level) {
    region_calls found;
    add_calls(plan, contents, region, found);
    const auto nodes = nodes_in(plan, region);
    const auto text = nodes == 0         ? counted(found.calls, "call")
                      : found.calls == 0 ? counted(nodes, "node")
                                         : fmt::format("{}, {}", counted(nodes, "node"),
                                                       counted(found.calls, "call"));
    put("{} {}\n", fitted(fmt::format("{:{}}{}", "", 2 * level, label), 44),
        shaded(text, shade::dim));
    for (const auto& [f, count] : found.functions) {
        const auto& function = plan.functions[f];
        print_tree(plan, contents, function.region,
                   fmt::format("{} x {}", count, function.numbered()), level + 1);
    }
}

/// Returns: by region, its number among the calls, behind those that are graphs.
std::vector<id> number_calls(const stemma::fold_plan& plan) {
    std::vector<id> number(plan.regions.size(), no_id);
    id next = 0;
    for (id r = 0; r < number.size(); ++r) {
        number[r] = plan.is_graph(r) ? no_id : next++;
    }
    return number;
}

void print_json(const stemma::fold_plan& plan, const stemma::attributed_model& opened,
                std::uint64_t bytes) {
    standard_output out;
    stemma::json_writer json(out);
    const auto& modules = opened.modules();
    json.begin_object();
    json.member("schema", "stemma.folds/1");
    json.member("nodes", opened.model().node_count());
    json.member("bytes", opened.file().bytes().size());
    json.member("folded_bytes", bytes);
    json.key("functions");
    json.begin_array();
    for (const auto& function : plan.functions) {
        json.begin_object(true);
        json.member("domain", function.domain);
        json.member("name", function.numbered());
        json.member("calls", function.calls);
        json.member("nodes", nodes_in(plan, function.region));
        json.member("inputs", plan.inputs[function.region].size());
        json.member("activations", function.activations);
        json.member("outputs", plan.outputs[function.region].size());
        json.member("attributes", function.attributes);
        json.end_object();
    }
    json.end_array();
    json.key("calls");
    json.begin_array();
    const auto numbers = number_calls(plan);
    for (id r = 0; r < plan.regions.size(); ++r) {
        if (plan.is_graph(r)) {
            continue;
        }
        const auto& region = plan.regions[r];
        const auto& function = plan.functions[plan.function[r]];
        json.begin_object(true);
        json.member("module", modules.path(region.module));
        json.member("tag", opened.tags().tags.text(region.module));
        json.member("call", region.call);
        json.member("run", region.run);
        json.member("runs", region.runs);
        json.member("function", function.domain + "::" + function.numbered());
        json.key("inside");
        auto around = region.parent;
        while (around != no_id && plan.is_graph(around)) {
            around = plan.regions[around].parent;
        }
        around == no_id ? json.null() : json.value(numbers[around]);
        json.member("graph", opened.model().graph_path(plan.graph[r]));
        json.member("nodes", region.operators);
        json.end_object();
    }
    json.end_array();
    json.key("left");
    json.begin_array();
    for (const auto& left : plan.left) {
        json.begin_object(true);
        json.member("module", modules.path(left.module));
        json.member("call", left.call);
        json.member("nodes", left.operators);
        json.member("reason", left.runs > 1 ? "non_convex" : "too_small");
        json.end_object();
    }
    json.end_array();
    json.member("in_bodies", plan.in_bodies);
    json.end_object();
    json.finish();
}

void print_text(const fold_options& options, const stemma::fold_plan& plan,
                const stemma::graph_contents& contents, const stemma::attributed_model& opened,
                std::uint64_t bytes) {
    const auto& name = options.output;
    put("{}: {} in {}, {} bytes of {}\n", name, counted(plan.functions.size(), "function"),
        counted(plan.call_count(), "call"), grouped(bytes), grouped(opened.file().bytes().size()));
    print_tree(plan, contents, 0, "main graph", 0);
}

void say_what_is_left(const fold_options& options, const stemma::fold_plan& plan) {
    std::size_t small = 0;
    std::size_t divided = 0;
    for (const auto& left : plan.left) {
        (left.runs > 1 ? divided : small) += left.operators;
    }
    const auto say = [&](std::size_t nodes, std::string_view why) {
        if (nodes > 0) {
            note(options.common, fmt::format("{}: {} left in place: {}", options.common.model,
                                             counted(nodes, "node"), why));
        }
    };
    say(small, fmt::format("their modules have fewer than {} nodes", options.least));
    say(divided, "ways lead out of their modules and back, and they are alone between these");
    say(plan.in_bodies,
        "they stand in functions, or in bodies that operators of other modules hold");
}

int fold(const fold_options& options) {
    const auto opened = open_model(options.common);
    if (stemma::find_model_metadata(opened->model(), stemma::fold_key)) {
        throw stemma::error(stemma::error_code::refused, options.common.model, "",
                            "is folded already; unfold it first");
    }
    const untagged_model source(opened->file(), opened->model(), options.output);
    const auto& model = source.model();
    const stemma::graph_contents contents(model);
    stemma::node_shapes shapes(model, contents);
    stemma::fold_selected<asked_modules> policy{find_asked(options, *opened), options.least,
                                                options.old_versions == "lift",
                                                options.constants == "attributes"};
    const auto& tags = opened->tags();
    const auto plan =
        stemma::plan_fold(model, contents, opened->modules(), tags.attributions, shapes, policy);
    if (plan.functions.empty()) {
        throw stemma::error(stemma::error_code::not_found, options.common.model, "",
                            "no module to fold: none that is selected has enough nodes");
    }
    const auto version = model.ir_version();
    if (version < stemma::first_version_with_functions) {
        if (!policy.lifts(version)) {
            throw stemma::error(stemma::error_code::refused, options.common.model, "",
                                fmt::format("is of IR version {}, functions need {}", version,
                                            stemma::first_version_with_functions));
        }
        note(options.common,
             fmt::format("{}: IR version {} is lifted to {}, which functions need",
                         options.common.model, version, stemma::first_version_with_functions));
    }
    if (source.was_tagged()) {
        note(options.common, fmt::format("{}: tags are kept for unfolding; tag {} for new ones",
                                         options.common.model, options.output));
    }
    stemma::model_record tree;
    tree.carriers = {.metadata = false};
    stemma::fold_writer writer(model, contents, opened->modules(), tags.tags, tags.attributions,
                               plan);
    const auto record = stemma::to_json(tree, opened->modules());
    const auto source_tags = source.tags();
    const auto rope = writer.build({record, source_tags});
    write_rope(rope, source.file(), model, options.output, options.data, !options.no_sync);
    if (options.common.format == "json") {
        print_json(plan, *opened, rope.size());
    } else if (!options.common.quiet) {
        print_text(options, plan, contents, *opened, rope.size());
    }
    say_what_is_left(options, plan);
    return done;
}

} // namespace

void add_fold(CLI::App& app, action& chosen) {
    auto options = std::make_shared<fold_options>();
    auto& command = *app.add_subcommand("fold", "make modules functions of the model");
    add_common_options(command, options->common);
    command.add_option("-o,--output", options->output, "where the folded model goes")
        ->type_name("OUT")
        ->required();
    command
        .add_option("--module", options->module,
                    "path, tag or glob: these modules, and selected ones below them")
        ->type_name("QUERY");
    command.add_option("--depth", options->depth, "modules at most so far below the root")
        ->type_name("N");
    command.add_option("--least", options->least, "leave modules of fewer nodes where they are")
        ->type_name("N")
        ->default_str("2");
    command
        .add_option("--old-versions", options->old_versions,
                    "a model of an IR version without functions: lift or refuse it")
        ->type_name("lift|refuse")
        ->check(CLI::IsMember({"lift", "refuse"}))
        ->default_str("lift");
    command
        .add_option("--constants", options->constants,
                    "what calls that share a function may differ in: equal constants, or ones that "
                    "become attributes")
        ->type_name("equal|attributes")
        ->check(CLI::IsMember({"equal", "attributes"}))
        ->default_str("equal");
    add_data_option(command, options->data);
    add_no_sync_option(command, options->no_sync);
    command.footer("Examples:\n  stemma fold model.onnx -o folded.onnx\n"
                   "  stemma fold model.onnx --module 'encoder.layer.*' -o folded.onnx\n"
                   "  stemma fold model.onnx --depth 2 -m modules.json -o folded.onnx");
    command.callback([&chosen, options] { chosen = [options] { return fold(*options); }; });
}

} // namespace cli
