// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <stemma/report/export_model.hpp>

#include <string>

namespace cli {

namespace {

struct dag_command {
    common_options common;
    output_options output;
    std::string operations;
    std::string level = "subtree";
    bool multi = false;
};

int dag(const dag_command& options) {
    const auto opened = open_model(options.common);
    const auto level =
        options.level == "direct" ? stemma::dag_level::direct : stemma::dag_level::subtree;
    write_output(options.output, [&](auto& sink) {
        stemma::write_module_dags(sink, *opened, {level, options.multi});
    });
    if (!options.operations.empty()) {
        write_output({.path = options.operations, .no_sync = options.output.no_sync},
                     [&](auto& sink) { stemma::write_operation_metadata(sink, *opened); });
    }
    return done;
}

} // namespace

void add_dag(CLI::App& app, action& chosen) {
    add_command<dag_command>(
        app, chosen, "dag", "write the graph inside every module as JSON", dag,
        [](command_line takes, dag_command& options) {
            takes.common(options.common, "text");
            takes.output(options.output);
            takes.written("--operations", options.operations, "OPS",
                          "write type, inputs, outputs and tags of every node and weight as "
                          "JSON");
            takes.choice("--level", options.level, "subtree|direct",
                         "nodes of a module: all below it, or only its own");
            takes.flag("--multi", options.multi,
                       "list nodes under all their tags, not only the primary one");
            takes.footer("Examples:\n  stemma dag model.onnx -o dag.json\n"
                         "  stemma dag model.onnx -o dag.json --operations operations.json\n"
                         "  stemma dag model.onnx -m modules.json --select all --level direct");
        });
}

} // namespace cli
