// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "parts.hpp"
#include "terminal.hpp"

#include <stemma/error.hpp>
#include <stemma/io/file.hpp>
#include <stemma/onnx/cut_planner.hpp>
#include <stemma/onnx/split_plan.hpp>
#include <stemma/onnx/wire/cut_model.hpp>
#include <stemma/onnx/wire/external_data.hpp>
#include <stemma/onnx/wire/known_policies.hpp>
#include <stemma/onnx/wire/random_nodes.hpp>
#include <stemma/onnx/wire/split_folder.hpp>
#include <stemma/onnx/wire/split_model.hpp>
#include <stemma/onnx/wire/weight_store.hpp>
#include <stemma/onnx/wire/write_split.hpp>
#include <stemma/policy/any_policy.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cli {

namespace {

namespace fs = std::filesystem;
using stemma::id;
using stemma::no_id;

struct split_options {
    common_options common;
    std::string folder;
    std::vector<std::string> modules;
    std::optional<id> depth;
    std::optional<std::size_t> parts;
    std::string cost = "bytes";
    std::string data = "copy";
    bool merge = false;
    bool force = false;
    bool no_sync = false;
};

using planner = stemma::split_planner<stemma::any_cost>;

std::vector<stemma::split_part> plan_parts(const split_options& options,
                                           const stemma::attributed_model& opened, planner& plan) {
    if (options.parts) {
        return plan.into(*options.parts);
    }
    const auto& modules = opened.modules().index();
    std::vector<id> part_of(modules.size(), 0); // by module, parents first
    if (options.depth) {
        for (id m = 1; m < modules.size(); ++m) {
            part_of[m] = modules.depth(m) <= *options.depth ? m : part_of[modules.parent(m)];
        }
    } else {
        std::vector<bool> wanted(modules.size(), false);
        for (const auto& query : options.modules) {
            for (auto m : find_modules(opened, query)) {
                wanted[m] = true;
            }
        }
        for (id m = 1; m < modules.size(); ++m) {
            part_of[m] = wanted[m] ? m : part_of[modules.parent(m)];
        }
    }
    return plan.by_module([&](id m) { return m == no_id ? id{0} : part_of[m]; }, options.merge);
}

std::vector<stemma::split_part_names> name_parts(const stemma::attributed_model& opened,
                                                 const std::vector<stemma::split_part>& parts) {
    const auto digits = fmt::format("{}", parts.size() - 1).size();
    std::vector<stemma::split_part_names> names;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto module = parts[p].module;
        const auto& tag = opened.tags().tags.text(module);
        names.push_back({fmt::format("{:0{}}-{}.onnx", p, digits, as_file_name(tag)),
                         opened.modules().path(module), tag});
    }
    return names;
}

void refuse_untyped(const split_options& options, std::vector<stemma::split_part>& parts,
                    boundary_types& types, const stemma::cut_planner<>& cuts) {
    for (auto& part : parts) {
        const auto reason = types.refuse_unknown(part.plan, cuts.contents());
        if (part.plan.refusal != stemma::cut_refusal::none) {
            throw stemma::error(stemma::error_code::not_found, options.common.model, "split",
                                reason.empty() ? stemma::to_string(part.plan.refusal) : reason);
        }
    }
}

void make_room(const split_options& options, const std::vector<stemma::split_part_names>& names) {
    make_folder(options.folder);
    const fs::path folder(options.folder);
    for (const auto& part : names) {
        check_replaceable((folder / part.file).string(), options.force);
    }
    for (auto name :
         {stemma::split_skeleton_name, stemma::split_weights_name, stemma::split_manifest_name}) {
        check_replaceable((folder / name).string(), options.force);
    }
    // Until the new one stands, nobody shall take the folder for a whole.
    std::error_code ignored;
    fs::remove(folder / stemma::split_manifest_name, ignored);
}

void report(const split_options& options, const stemma::split_manifest& manifest) {
    if (options.common.format == "json") {
        standard_output out;
        stemma::write_split_manifest(manifest, out);
        return;
    }
    if (options.common.quiet) {
        return;
    }
    put("{:>5} {:>7} {:>6} {:>14}  {}\n", "part", "nodes", "copies",
        fmt::format("cost ({})", options.cost), "file");
    for (std::size_t p = 0; p < manifest.parts.size(); ++p) {
        const auto& part = manifest.parts[p];
        put("{:>5} {:>7} {:>6} {:>14}  {}\n", p, part.nodes.size(), part.clones.size(), part.cost,
            part.at.file);
    }
    put("{}: {}, {} between them; put together again by `stemma join`\n", options.folder,
        counted(manifest.parts.size(), "part"),
        counted(static_cast<std::size_t>(
                    std::count_if(manifest.tensors.begin(), manifest.tensors.end(),
                                  [](const auto& t) { return t.from != no_id && !t.to.empty(); })),
                "value"));
}

int split(const split_options& options) {
    const std::array chosen{options.parts.has_value(), options.depth.has_value(),
                            !options.modules.empty()};
    if (std::count(chosen.begin(), chosen.end(), true) != 1) {
        throw stemma::error(stemma::error_code::refused, "", "split",
                            "takes one of --depth N, --module QUERY and --parts N");
    }
    const auto cost = stemma::known_policies().costs.find(options.cost);
    if (!cost) {
        throw stemma::error(stemma::error_code::refused, "", "cost",
                            "'" + options.cost + "' is none that is known");
    }
    const auto opened = open_model(options.common);
    const auto& model = opened->model();
    const stemma::standard_cut policy;
    const auto random = stemma::find_random_nodes(model);
    stemma::cut_planner<> cuts(model, policy, random);
    const auto loads = stemma::find_loads(model);
    planner plan(model, cuts, opened->modules().index(), opened->tags().attributions, loads, *cost);
    auto parts = plan_parts(options, *opened, plan);
    boundary_types types(model);
    refuse_untyped(options, parts, types, cuts);
    const auto names = name_parts(*opened, parts);
    make_room(options, names);
    const bool beside =
        folder_of(fs::path(options.folder) / "x") == folder_of(options.common.model);
    if (options.data == "link" && !beside) {
        stemma::place_external_data(model, (fs::path(options.folder) / "x").string(),
                                    stemma::data_placement::link, options.force);
    }
    stemma::weight_store store(model, opened->file(), std::string(stemma::split_weights_name),
                               options.data == "copy" && !beside);
    stemma::cut_writer<> cut_writer(model, cuts.contents(), types.types(), policy);
    stemma::split_writer<> writer(model, opened->file(), cut_writer, types.types(), store);
    report(options, writer.write(parts, names, options.folder, !options.no_sync,
                                 threads_of(options.common)));
    if (std::any_of(parts.begin(), parts.end(), [](const auto& p) { return p.plan.random; })) {
        note(options.common,
             fmt::format("{}: some operators give other results each time", options.common.model));
    }
    return done;
}

} // namespace

void add_split(CLI::App& app, action& chosen) {
    auto options = std::make_shared<split_options>();
    auto& command =
        *app.add_subcommand("split", "divide a model into parts that run one after the other");
    add_common_options(command, options->common);
    command.add_option("-d,--directory", options->folder, "where the parts go, with split.json")
        ->type_name("DIR")
        ->required();
    command.add_option("--depth", options->depth, "one part for each module at this depth")
        ->type_name("N");
    command
        .add_option("--module", options->modules,
                    "one part for each module that fits; what is in none is a part of the root")
        ->type_name("QUERY");
    command.add_option("--parts", options->parts, "exactly so many parts, of about equal cost")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    command
        .add_option("--cost", options->cost,
                    "what a part costs: " + stemma::known_policies().costs.names())
        ->type_name("C")
        ->default_str("bytes");
    command.add_flag("--merge", options->merge,
                     "put levels of one module together again where nothing keeps them apart");
    add_data_option(command, options->data);
    command.add_flag("--force", options->force, "replace files that exist");
    add_no_sync_option(command, options->no_sync);
    command.footer("Examples:\n  stemma split model.onnx --parts 4 -d parts\n"
                   "  stemma split model.onnx --module 'encoder.layer.*' -d parts\n"
                   "  stemma join parts -o model.onnx");
    command.callback([&chosen, options] { chosen = [options] { return split(*options); }; });
}

} // namespace cli
