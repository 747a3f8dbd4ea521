// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "onnx_library.hpp"

#include <stemma/core/id.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/cut/split_manifest.hpp>
#include <stemma/cut/split_to_folder.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cli {

namespace {

using stemma::id;
using stemma::no_id;

struct split_request {
    common_options common;
    stemma::split_options how;
    std::string folder;
    std::vector<std::string> modules;
    std::optional<id> depth;
    std::optional<std::size_t> parts;
    std::string cost = "bytes";
    std::string data = "copy";
    std::vector<std::string> dims;
    bool no_sync = false;
};

/// Returns: by module, whether it or one below has a node of the main graph.
std::vector<bool> find_modules_with_nodes(const stemma::attributed_model& opened) {
    const auto& modules = opened.modules().index();
    std::vector<bool> has(modules.size(), false);
    for (id node = 0; node < opened.model().node_count(); ++node) {
        auto m =
            opened.model().graph_of(node) == 0 ? opened.tags().attributions[node].module : no_id;
        for (; m != no_id && !has[m]; m = modules.parent(m)) {
            has[m] = true;
        }
    }
    return has;
}

stemma::any_policy<stemma::partition_category, stemma::operator_graph>
partition_of(const split_request& asked, const stemma::attributed_model& opened,
             std::vector<std::string>& notes) {
    if (asked.parts) {
        return stemma::balanced_parts{*asked.parts};
    }
    if (asked.depth) {
        return stemma::parts_by_depth{*asked.depth};
    }
    stemma::parts_by_modules policy;
    const auto has_nodes = find_modules_with_nodes(opened);
    for (const auto& query : asked.modules) {
        const auto modules = find_modules(opened, query);
        if (std::none_of(modules.begin(), modules.end(),
                         [&](id m) { return bool{has_nodes[m]}; })) {
            notes.push_back(fmt::format("'{}' has no nodes in the main graph, and no part", query));
        }
        policy.modules.insert(policy.modules.end(), modules.begin(), modules.end());
    }
    return policy;
}

void report(const split_request& asked, const stemma::split_manifest& manifest) {
    if (print_json(asked.common.format, manifest)) {
        return;
    }
    if (asked.common.quiet) {
        return;
    }
    put("{:>5} {:>7} {:>6} {:>14}  {}\n", "part", "nodes", "copies",
        fmt::format("cost ({})", asked.cost), "file");
    for (std::size_t p = 0; p < manifest.parts.size(); ++p) {
        const auto& part = manifest.parts[p];
        put("{:>5} {:>7} {:>6} {:>14}  {}\n", p, part.nodes.size(), part.clones.size(), part.cost,
            part.at.file);
    }
    put("{}: {}, {} between them; `stemma join` restores the model\n", asked.folder,
        counted(manifest.parts.size(), "part"),
        counted(static_cast<std::size_t>(
                    std::count_if(manifest.tensors.begin(), manifest.tensors.end(),
                                  [](const auto& t) { return t.from != no_id && !t.to.empty(); })),
                "value"));
}

int split(split_request asked) {
    const std::array chosen{asked.parts.has_value(), asked.depth.has_value(),
                            !asked.modules.empty()};
    if (std::count(chosen.begin(), chosen.end(), true) != 1) {
        throw refused("split", "requires one of --depth N, --module QUERY and --parts N");
    }
    const auto opened = open_model(asked.common);
    std::vector<std::string> notes;
    auto& how = asked.how;
    how.partition = partition_of(asked, *opened, notes);
    how.cost = known_policies().costs.get("cost", asked.cost);
    how.work = cost_options_of(asked.dims);
    how.data = stemma::parse_name<stemma::data_placement>(asked.data).value();
    how.spared = files_read(*asked.common.rules);
    how.sync = !asked.no_sync;
    how.infer = add_inferred_types;
    how.note = [&](std::string_view text) { notes.emplace_back(text); };
    report(asked, stemma::split_to_folder(*opened, asked.folder, how));
    warn_of_external_data(
        asked.common, asked.folder,
        stemma::files_left_behind(opened->model(), asked.folder + "/x", how.data));
    for (const auto& text : notes) {
        note(asked.common, fmt::format("{}: {}", asked.common.model, text));
    }
    return done;
}

} // namespace

void add_split(CLI::App& app, action& chosen) {
    add_command<split_request>(
        app, chosen, "split", "divide a model into parts that run in order", split,
        [](command_line takes, split_request& asked) {
            takes.common(asked.common);
            takes
                .written("-d,--directory", asked.folder, "DIR",
                         "folder for the parts, with split.json")
                ->required();
            takes.value("--depth", asked.depth, "N", "one part per module at this depth");
            takes
                .value("--module", asked.modules, "QUERY",
                       "one part per matching module; the rest is a part of the root; "
                       "repeatable")
                ->allow_extra_args(false);
            takes.positive("--parts", asked.parts, "N", "exactly N parts of about equal cost");
            takes.value("--cost", asked.cost, "C",
                        "what a part costs: " + known_policies().costs.names(), "bytes");
            takes.dims(asked.dims, "fix a symbolic dimension, for --cost macs, "
                                   "flops and activations");
            takes.flag("--merge", asked.how.merge,
                       "merge levels of one module if no dependency separates them");
            takes.data(asked.data);
            takes.flag("--force", asked.how.force, "replace existing files");
            takes.no_sync(asked.no_sync);
            takes.applies("--merge", "does not apply to --parts", [&] { return !asked.parts; });
            takes.applies("--dim", "requires --cost macs, flops or activations", [&] {
                return stemma::parse_name<stemma::cost_measure>(asked.cost).has_value();
            });
            takes.footer("Examples:\n  stemma split model.onnx --parts 4 -d parts\n"
                         "  stemma split model.onnx --module 'encoder.layer.*' -d parts\n"
                         "  stemma join parts -o model.onnx");
        });
}

} // namespace cli
