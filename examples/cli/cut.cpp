// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "onnx_library.hpp"

#include <stemma/cut/cut_plan.hpp>
#include <stemma/cut/model_cutter.hpp>
#include <stemma/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace cli {

namespace {

using stemma::id;

struct cut_request {
    common_options common;
    stemma::cut_options how;
    std::string module;
    std::string output;
    std::string folder;
    std::string pull = "weights";
    std::string gaps;
    std::string data = "copy";
    bool all = false;
    bool no_sync = false;

    [[nodiscard]] bool to_folder() const noexcept { return !folder.empty(); }
};

void report(const cut_request& asked, const stemma::attributed_model& opened,
            const std::vector<stemma::cut_record>& records) {
    if (print_json(asked.common.format, records,
                   std::filesystem::path(asked.common.model).filename().string(), opened.modules(),
                   opened.tags().tags)) {
        return;
    }
    constexpr std::size_t most_refusals = 20;
    std::size_t refused = 0;
    const bool by_nodes =
        !asked.all && stemma::parse_query(opened, asked.module).asks_for_operators();
    for (const auto& record : records) {
        const auto module = by_nodes             ? asked.module
                            : record.module == 0 ? std::string("the root")
                                                 : opened.modules().path(record.module);
        if (record.is_refused()) {
            if (++refused <= most_refusals || !asked.to_folder()) {
                const bool gap = record.refusal == stemma::cut_refusal::non_convex;
                print_error(fmt::format(
                    "{}: {}: {}{}", asked.common.model, module, record.text,
                    gap ? "; --non-convex runs makes one part per run, absorb includes the nodes "
                          "between"
                        : ""));
            }
        } else if (!asked.common.quiet && !asked.to_folder()) {
            put("{}: {} in, {} out{}\n", record.file, counted(record.inputs.size(), "value"),
                record.outputs.size(), record.exact ? "" : ", nondeterministic");
        }
    }
    if (refused > most_refusals && asked.to_folder()) {
        print_error(fmt::format("{}: {} more refused; see index.json", asked.common.model,
                                refused - most_refusals));
    }
    if (asked.to_folder() && !asked.common.quiet) {
        put("{}: {}, {} refused\n", asked.folder, counted(records.size() - refused, "part"),
            refused);
    }
}

/// Returns: the modules to write to a folder: the named ones, or all.
std::vector<id> modules_to_cut(const cut_request& asked, const stemma::attributed_model& opened) {
    if (!asked.all) {
        return find_modules(opened, asked.module);
    }
    std::vector<id> modules(opened.modules().size());
    std::iota(modules.begin(), modules.end(), id{0});
    return modules;
}

/// Returns: the requested module or nodes.
stemma::cut_subject find_subject(const cut_request& asked, const stemma::attributed_model& opened) {
    if (stemma::parse_query(opened, asked.module).asks_for_operators()) {
        return {.nodes = find_nodes(opened, asked.module)};
    }
    const auto modules = find_modules(opened, asked.module);
    if (modules.size() > 1) {
        throw stemma::error(
            stemma::error_code::not_found, asked.common.model, "",
            fmt::format("'{}' matches {} modules, among them '{}' and '{}'; name one", asked.module,
                        modules.size(), opened.modules().path(modules[0]),
                        opened.modules().path(modules[1])));
    }
    return {.module = modules.front()};
}

int cut(cut_request asked) {
    if (asked.all != asked.module.empty() || asked.to_folder() != asked.output.empty() ||
        (asked.all && !asked.to_folder())) {
        throw refused("cut", "takes --module QUERY with -o OUT or -d DIR, or --all with -d DIR");
    }
    auto& how = asked.how;
    how.many = asked.to_folder();
    const auto gaps = stemma::parse_name<stemma::gap_rule>(asked.gaps);
    how.policy = stemma::standard_cut{
        stemma::parse_pull(asked.pull).value(),
        gaps.value_or(how.many ? stemma::gap_rule::runs : stemma::gap_rule::refuse)};
    how.data = stemma::parse_name<stemma::data_placement>(asked.data).value();
    how.spared = files_read(*asked.common.rules);
    how.sync = !asked.no_sync;
    how.infer = add_inferred_types;
    how.note = [&](std::string_view text) {
        note(asked.common, fmt::format("{}: {}", asked.common.model, text));
    };
    std::optional<stemma::model_cutter> cutter;
    const auto opened = open_model(
        asked.common, [&](const stemma::wire_model& model) { cutter.emplace(model, how); });
    const auto records =
        asked.to_folder() ? cutter->write_all(*opened, modules_to_cut(asked, *opened), asked.folder)
                          : cutter->write(*opened, find_subject(asked, *opened), asked.output);
    warn_of_external_data(
        asked.common, asked.to_folder() ? asked.folder : asked.output,
        stemma::files_left_behind(
            opened->model(), asked.to_folder() ? asked.folder + "/x" : asked.output, how.data));
    report(asked, *opened, records);
    return std::any_of(records.begin(), records.end(), [](const auto& r) { return r.is_refused(); })
               ? found_something
               : done;
}

} // namespace

void add_cut(CLI::App& app, action& chosen) {
    add_command<cut_request>(
        app, chosen, "cut", "write a module as a standalone, runnable model", cut,
        [](command_line takes, cut_request& asked) {
            takes.common(asked.common);
            takes.value("--module", asked.module, "QUERY",
                        "the module, or a query for nodes; with -d several modules");
            takes.written("-o,--output", asked.output, "OUT", "the part");
            takes.flag("--all", asked.all, "write every module that has nodes");
            takes.written("-d,--directory", asked.folder, "DIR",
                          "folder for parts of several modules, with index.json");
            takes
                .choice("--pull", asked.pull, "none,constants,weights,shapes,all",
                        "what to copy rather than make an input: none, constants, weights, "
                        "shapes, all")
                ->type_name("P");
            takes.choice("--non-convex", asked.gaps, "refuse|absorb|runs",
                         "modules that are not convex: refuse, absorb the path, or one "
                         "part per run");
            takes.data(asked.data);
            takes.flag("--force", asked.how.force, "replace existing files");
            takes.no_sync(asked.no_sync);
            takes.footer("Examples:\n"
                         "  stemma cut model.onnx --module encoder.layer.3.attention -o part.onnx\n"
                         "  stemma cut model.onnx --module 'encoder.layer.*' -d blocks\n"
                         "  stemma cut model.onnx --all -d parts");
        });
}

} // namespace cli
