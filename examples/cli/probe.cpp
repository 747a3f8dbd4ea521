// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "onnx_library.hpp"

#include <stemma/error.hpp>
#include <stemma/numerics/model_prober.hpp>
#include <stemma/onnx/external_data.hpp>

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace cli {

namespace {

struct probe_request {
    common_options common;
    output_options output{.path = ""};
    std::string module;
    std::string like;
    std::string manifest;
    stemma::id depth = stemma::no_id;
};

int probe(const probe_request& asked) {
    const auto opened = open_model(asked.common);
    stemma::probe_options how;
    how.modules = stemma::find_branches(*opened, asked.module, asked.depth);
    how.infer = add_inferred_types;
    if (!asked.like.empty()) {
        how.names = stemma::probed_names(asked.like);
    }
    const bool named = !asked.manifest.empty();
    const auto manifest = named ? asked.manifest : asked.output.path + ".json";
    std::error_code unknown; // writing says what is wrong
    if (!named && (is_standard_output(asked.output.path) ||
                   (std::filesystem::exists(asked.output.path, unknown) &&
                    std::filesystem::is_other(asked.output.path, unknown)))) {
        throw stemma::error(stemma::error_code::refused, asked.output.path, "-o",
                            "cannot have a manifest beside it: requires --manifest");
    }
    if (!named && !asked.output.force && std::filesystem::exists(manifest, unknown)) {
        throw stemma::error(stemma::error_code::exists, manifest, "", "already exists");
    }
    if (!named) {
        check_output(*asked.common.rules, "--manifest", manifest);
    }
    stemma::detail::refuse_own_data(opened->model(), manifest);
    warn_of_external_data(asked.common, asked.output.path, opened->model(), asked.output.data);
    const stemma::model_prober prober(*opened, std::move(how));
    stemma::output_file list(manifest);
    prober.write_manifest(list, asked.output.path);
    prober.write(asked.output.path, writing(asked.output));
    list.commit(!asked.output.no_sync);
    if (asked.common.format == "json") {
        standard_output out;
        prober.write_manifest(out, asked.output.path);
    } else if (!asked.common.quiet) {
        put("{}: {} added; {} lists {}\n", asked.output.path,
            counted(prober.added().size(), "output"), manifest,
            counted(prober.shown().size(), "value"));
    }
    if (const auto count = prober.left_out().size(); count > 0) {
        note(asked.common,
             fmt::format("{}: {} at module boundaries cannot be exposed; see left_out "
                         "in {}",
                         asked.common.model, counted(count, "value"), manifest));
    }
    return done;
}

} // namespace

void add_probe(CLI::App& app, action& chosen) {
    add_command<probe_request>(
        app, chosen, "probe", "add the values at module boundaries to the outputs of a model",
        probe, [](command_line takes, probe_request& asked) {
            takes.common(asked.common);
            takes.output(asked.output.path, "the model with additional outputs");
            takes.written("--manifest", asked.manifest, "FILE",
                          "the manifest of values and modules", "OUT.json");
            takes.value("--module", asked.module, "QUERY",
                        "only matching modules, their ancestors and descendants");
            takes.value("--depth", asked.depth, "N", "only modules down to this depth");
            takes.value("--like", asked.like, "MANIFEST",
                        "add those values of another model's manifest that exist here");
            takes.data(asked.output);
            takes.no_sync(asked.output.no_sync);
            takes.footer("Examples:\n  stemma probe model.onnx -o probed.onnx\n"
                         "  stemma probe model.onnx -o probed.onnx --depth 3\n"
                         "  stemma probe int8.onnx -o probed8.onnx --like probed.onnx.json");
        });
}

} // namespace cli
