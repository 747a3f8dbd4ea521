// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <stemma/plan/annotate_layers.hpp>
#include <stemma/plan/placement.hpp>
#include <stemma/plan/precision_plan.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>

namespace cli {

namespace {

struct plan_request {
    common_options common;
    output_options output;
    std::string exclude;
    std::string from;
    std::string placement;
    std::string to = "ort";
    std::string annotation = "stemma";
    std::size_t top = 0;
    stemma::id depth = 3;
};

int show_placement(const plan_request& asked, const stemma::attributed_model& opened) {
    const auto placement = stemma::place_modules(opened, asked.placement);
    if (print_json(asked.common.format, placement, opened)) {
        return done;
    }
    const auto& tree = opened.modules().index();
    for (stemma::id m = 0; m < tree.size(); ++m) {
        // Below a module that runs in one place, everything does.
        const bool implied = m != 0 && placement.modules[tree.parent(m)].size() < 2;
        if (tree.depth(m) > asked.depth || placement.modules[m].empty() || implied) {
            continue;
        }
        std::string text;
        for (const auto& [provider, count] : placement.modules[m]) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", provider, grouped(count));
        }
        put("{}  {}\n", shaded(m == 0 ? "(root)" : opened.modules().path(m), shade::name), text);
    }
    if (placement.unmatched > 0) {
        note(asked.common, fmt::format("{} of the log {} unnamed or not in the model: give the "
                                       "optimized model, or a log of a run without optimizations",
                                       counted(placement.unmatched, "node"),
                                       placement.unmatched == 1 ? "is" : "are"));
    }
    return done;
}

int list_for_tool(const plan_request& asked) {
    if (asked.exclude.empty() + asked.from.empty() + asked.placement.empty() != 2) {
        throw refused("plan", "takes one of --exclude QUERY, --from REPORT and --placement LOG");
    }
    const auto opened = open_model(asked.common);
    if (!asked.placement.empty()) {
        return show_placement(asked, *opened);
    }
    stemma::precision_plan result;
    if (asked.from.empty()) {
        result = stemma::plan_for_query(*opened, asked.exclude);
    } else {
        result = stemma::plan_for_report(*opened, asked.from, asked.top);
        if (result.modules == 0) {
            note(asked.common, asked.from + ": no module is known to exceed a bound");
        }
    }
    if (asked.to == "layer-ann") {
        if (asked.output.path == "-") {
            throw refused("plan", "--to layer-ann writes a model, and requires -o OUT");
        }
        warn_of_external_data(asked.common, asked.output.path, opened->model(), asked.output.data);
        stemma::annotate_layers(*opened, result.nodes, asked.annotation, asked.output.path,
                                writing(asked.output));
        result.unnamed = 0;
    } else {
        const auto format = stemma::parse_name<stemma::plan_format>(asked.to).value();
        write_output(asked.output, [&](auto& out) {
            if (const auto unreadable = stemma::write_plan(out, result, *opened, format);
                unreadable > 0) {
                note(asked.common, fmt::format("{} left out: trtexec cannot read their names",
                                               counted(unreadable, "node")));
            }
        });
    }
    if (result.unnamed > 0) {
        note(asked.common,
             fmt::format("{} without a name left out", counted(result.unnamed, "node")));
    }
    if (result.inside > 0) {
        note(asked.common,
             fmt::format("{} in bodies and functions left out", counted(result.inside, "node")));
    }
    return done;
}

} // namespace

void add_plan(CLI::App& app, action& chosen) {
    add_command<plan_request>(
        app, chosen, "plan", "list nodes for quantizers and runtimes, or show where modules run",
        list_for_tool, [](command_line takes, plan_request& asked) {
            takes.common(asked.common);
            takes.value("--exclude", asked.exclude, "QUERY", "the nodes to exclude");
            takes.value("--from", asked.from, "REPORT",
                        "the sensitive modules of a report of `numerics --format json`");
            takes.value("--top", asked.top, "N", "only the N worst of them; 0: all", "0");
            takes
                .choice("--to", asked.to, "ort,ort-overrides,olive,nncf,tensorrt,aimet,layer-ann",
                        "the tool: ort, ort-overrides, olive, nncf, tensorrt, aimet; "
                        "layer-ann writes a model")
                ->type_name("FORMAT");
            takes.value("--annotation", asked.annotation, "TEXT", "layer-ann: the annotation",
                        "stemma");
            takes.value("--placement", asked.placement, "LOG",
                        "a verbose log or a profile of ONNX Runtime: show what runs where");
            takes.value("--depth", asked.depth, "N", "--placement: maximum depth of modules", "3");
            takes.output(asked.output);
            takes.data(asked.output);
            const auto lists = [&] { return asked.placement.empty(); };
            const auto annotates = [&] { return asked.to == "layer-ann"; };
            takes.applies("--to", "does not apply to --placement", lists);
            takes.applies("--output", "does not apply to --placement", lists);
            takes.applies("--format", "requires --placement", [=] { return !lists(); });
            takes.applies("--depth", "requires --placement", [=] { return !lists(); });
            takes.applies("--top", "requires --from", [&] { return !asked.from.empty(); });
            takes.applies("--annotation", "requires --to layer-ann", annotates);
            takes.applies("--data", "requires --to layer-ann", annotates);
            takes.applies("--force", "requires --to layer-ann", annotates);
            takes.footer(
                "Examples:\n  stemma plan model.onnx --exclude 'class:LayerNorm' --to ort\n"
                "  stemma plan model.onnx --from numerics.json --top 5 --to nncf -o scope.json\n"
                "  stemma plan model.onnx --placement ort.log");
        });
}

} // namespace cli
