// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <stemma/fold/model_fold.hpp>

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

namespace {

struct fold_options {
    common_options common;
    output_options output;
    stemma::module_folding folding;
    std::string old_versions = "lift";
    std::string constants = "equal";
};

void print_text(const fold_options& options, const stemma::model_fold& folded,
                std::uint64_t bytes_before, std::uint64_t bytes) {
    const auto& plan = folded.plan();
    put("{}: {} in {}, {} bytes of {}\n", options.output.path,
        counted(plan.functions.size(), "function"), counted(plan.call_count(), "call"),
        grouped(bytes), grouped(bytes_before));
    for (const auto& row : folded.outline()) {
        const auto label =
            row.function == stemma::no_id
                ? std::string("main graph")
                : fmt::format("{} x {}", row.count, plan.functions[row.function].numbered());
        const auto text = row.nodes == 0   ? counted(row.calls, "call")
                          : row.calls == 0 ? counted(row.nodes, "node")
                                           : fmt::format("{}, {}", counted(row.nodes, "node"),
                                                         counted(row.calls, "call"));
        put("{} {}\n", fitted(fmt::format("{:{}}{}", "", 2 * row.level, label), 44),
            shaded(text, shade::dim));
    }
}

void say_what_is_left(const fold_options& options,
                      const stemma::model_fold::nodes_left& remaining) {
    const auto say = [&](std::size_t nodes, std::string_view why) {
        if (nodes > 0) {
            note(options.common, fmt::format("{}: {} left in place: {}", options.common.model,
                                             counted(nodes, "node"), why));
        }
    };
    say(remaining.too_few,
        fmt::format("their modules have fewer than {} nodes", options.folding.least));
    say(remaining.between, "their modules are not convex, and they are alone between the paths");
    say(remaining.in_bodies, "they are in functions, or in bodies owned by other modules");
}

/// Plans the fold; if nothing folds, suggests options with which something would.
stemma::model_fold plan(const stemma::attributed_model& opened,
                        const stemma::module_folding& folding, const std::string& output) {
    try {
        return stemma::model_fold(opened, folding, output);
    } catch (const stemma::error& problem) {
        if (problem.code() != stemma::error_code::not_found) {
            throw;
        }
        const auto other = stemma::model_fold::find_foldable(opened, folding);
        if (!other) {
            throw;
        }
        throw stemma::error(problem.code(), "", "",
                            fmt::format("{}; --select all{} would make {}", problem.what(),
                                        other->least == folding.least
                                            ? ""
                                            : fmt::format(" --least {}", other->least),
                                        counted(other->functions, "function")));
    }
}

int fold(const fold_options& options) {
    const auto opened = open_model(options.common);
    const auto& [model, output] = std::tie(options.common.model, options.output.path);
    auto folding = options.folding;
    folding.lift = options.old_versions == "lift";
    folding.vary_constants = options.constants == "attributes";
    const auto folded = plan(*opened, folding, output);
    if (folded.lifts()) {
        note(options.common,
             fmt::format("{}: IR version {} is raised to {}, which functions require", model,
                         opened->model().ir_version(),
                         stemma::detail::first_version_with_functions));
    }
    if (folded.was_tagged()) {
        note(options.common,
             fmt::format("{}: tags are kept for unfolding; tag {} to get new ones", model, output));
    }
    warn_of_external_data(options.common, options.output.path, opened->model(),
                          options.output.data);
    const auto bytes = folded.write(output, writing(options.output));
    if (!print_json(options.common.format, folded, *opened, bytes) && !options.common.quiet) {
        print_text(options, folded, opened->file().bytes().size(), bytes);
    }
    say_what_is_left(options, folded.left());
    return done;
}

} // namespace

void add_fold(CLI::App& app, action& chosen) {
    add_command<fold_options>(
        app, chosen, "fold", "turn modules into ONNX functions", fold,
        [](command_line takes, fold_options& options) {
            auto& folding = options.folding;
            takes.common(options.common);
            takes.in_place();
            takes.output(options.output.path, "the folded model");
            takes.value("--module", folding.modules, "QUERY",
                        "only these modules, and selected ones below them");
            takes.value("--depth", folding.depth, "N", "maximum depth of modules");
            takes.value("--least", folding.least, "N", "leave smaller modules in place", "2");
            takes.choice("--old-versions", options.old_versions, "lift|refuse",
                         "models of an IR version without functions: raise the version, or refuse");
            takes.choice("--constants", options.constants, "equal|attributes",
                         "constants of calls that share a function: equal, or turned into "
                         "attributes where they differ");
            takes.data(options.output);
            takes.no_sync(options.output.no_sync);
            takes.footer("Examples:\n  stemma fold model.onnx -o folded.onnx\n"
                         "  stemma fold model.onnx --module 'encoder.layer.*' -o folded.onnx\n"
                         "  stemma fold model.onnx --depth 2 -m modules.json -o folded.onnx");
        });
}

} // namespace cli
