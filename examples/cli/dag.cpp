// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "output.hpp"

#include <stemma/algorithm/module_dag.hpp>
#include <stemma/io/module_dag_json.hpp>
#include <stemma/onnx/operation_metadata.hpp>
#include <stemma/onnx/report_names.hpp>
#include <stemma/onnx/value_tags.hpp>

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
    const auto& model = opened->model();
    const stemma::report_names names(model);
    const auto level =
        options.level == "direct" ? stemma::dag_level::direct : stemma::dag_level::subtree;
    write_output(options.output, [&](auto& sink) {
        stemma::write_module_dags(sink, opened->operators(), opened->modules().index(),
                                  opened->tags(), [&](stemma::id node) { return names.node(node); },
                                  {level, options.multi});
    });
    if (!options.operations.empty()) {
        const auto values = stemma::find_value_tags(model, opened->modules(), opened->tags());
        write_output({options.operations, options.output.no_sync}, [&](auto& sink) {
            stemma::write_operation_metadata(sink, model, opened->tags(), values, names);
        });
    }
    return done;
}

} // namespace

void add_dag(CLI::App& app, action& chosen) {
    auto options = std::make_shared<dag_command>();
    auto& command = *app.add_subcommand("dag", "write the graph inside of every module as JSON");
    add_common_options(command, options->common, "text");
    add_output_options(command, options->output);
    command
        .add_option("--operations", options->operations,
                    "write type, inputs, outputs and tags of every node and weight as JSON")
        ->type_name("OPS");
    command
        .add_option("--level", options->level,
                    "what a module holds: all nodes below it, or only its own")
        ->type_name("subtree|direct")
        ->check(CLI::IsMember({"subtree", "direct"}))
        ->default_str("subtree");
    command.add_flag("--multi", options->multi,
                     "nodes stand under all their tags, not only under the primary one");
    command.footer("Examples:\n  stemma dag model.onnx -o dag.json\n"
                   "  stemma dag model.onnx -o dag.json --operations operations.json\n"
                   "  stemma dag model.onnx -m modules.json --select all --level direct");
    command.callback([&chosen, options] { chosen = [options] { return dag(*options); }; });
}

} // namespace cli
