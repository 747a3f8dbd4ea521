// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/weights/low_rank_adapter.hpp>
#include <stemma/weights/patch_weights.hpp>

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

namespace {

struct patch_request {
    common_options common;
    output_options output;
    std::string weights;
    std::string adapter;
    std::string known;
    stemma::patch_options options;
};

/// Notes how many names there are, and the first ones.
void note_names(const patch_request& asked, const std::vector<std::string>& names,
                std::string_view what, std::string_view text) {
    if (!names.empty()) {
        note(asked.common,
             fmt::format("{} {}: {}", counted(names.size(), what), text, first_names(names)));
    }
}

int patch(patch_request& asked) {
    if (asked.weights.empty() && asked.adapter.empty()) {
        throw refused("patch", "takes --weights NEW, --lora ADAPTER, or both");
    }
    std::optional<stemma::checkpoint> weights;
    std::optional<stemma::checkpoint> checkpoint;
    std::optional<stemma::low_rank_adapter> adapter;
    auto options = asked.options;
    if (!asked.weights.empty()) {
        options.weights = &weights.emplace(stemma::read_checkpoint(asked.weights));
    }
    if (!asked.known.empty()) {
        options.known = &checkpoint.emplace(stemma::read_checkpoint(asked.known));
    }
    if (!asked.adapter.empty()) {
        options.adapter = &adapter.emplace(asked.adapter);
    }
    options.writing = writing(asked.output);
    const auto opened = open_model(asked.common);
    const auto report = stemma::patch_weights(*opened, asked.output.path, options);
    if (report.assumed_epsilon > 0) {
        note(
            asked.common,
            fmt::format("{} folded with an assumed epsilon of {:g}; --checkpoint OLD determines it",
                        counted(report.assumed_epsilon, "batch norm"), report.epsilon));
    }
    const auto stay = [](std::string_view text, const std::vector<std::string>& names) {
        return fmt::format("{} {}", text,
                           names.size() == 1 ? "stays as it is" : "stay as they are");
    };
    note_names(asked, report.missing, "initializer",
               stay("not in the new weights", report.missing));
    note_names(asked, report.unknown, "weight", stay("of unknown origin", report.unknown));
    if (asked.options.modules.empty()) {
        note_names(asked, report.unused, "tensor", "of the new weights used by no initializer");
    }
    if (!asked.common.quiet) {
        put("{}  {}{} changed\n", asked.output.path,
            report.changed == report.written ? "" : fmt::format("{} of ", report.changed),
            counted(report.written, "initializer"));
    }
    return done;
}

} // namespace

void add_patch(CLI::App& app, action& chosen) {
    add_command<patch_request>(
        app, chosen, "patch", "put new weights into an exported model",
        [](const patch_request& options) {
            auto asked = options;
            return patch(asked);
        },
        [](command_line takes, patch_request& asked) {
            takes.common(asked.common, "text");
            takes.in_place();
            takes.value("--weights", asked.weights, "NEW",
                        "the checkpoint with the new values: safetensors, an archive of torch, an "
                        "index of several");
            takes.value("--lora", asked.adapter, "ADAPTER",
                        "a low-rank adapter (PEFT folder or file) to merge into them, or into the "
                        "model's own values");
            takes.value("--checkpoint", asked.known, "OLD",
                        "the checkpoint with the model's current values: identifies initializers "
                        "without names");
            takes.value("--prefix", asked.options.prefix, "PATH",
                        "the weights below it in NEW, which has those of several models");
            takes.value("--module", asked.options.modules, "QUERY",
                        "only weights of these modules");
            takes
                .value("--epsilon", asked.options.epsilon, "E",
                       "epsilon of folded batch norms, unless OLD determines it", "")
                ->check([](const std::string& text) { return number_up_to(text); });
            takes.flag("--partial", asked.options.partial, "keep values that the new weights lack");
            takes.output(asked.output.path, "the model with the new weights");
            takes.flag("--force", asked.output.force, "replace existing weight files beside OUT");
            takes.no_sync(asked.output.no_sync);
            takes.applies("--partial", "requires --weights",
                          [&] { return !asked.weights.empty(); });
            takes.applies("--prefix", "requires --weights", [&] { return !asked.weights.empty(); });
            takes.footer(
                "Examples:\n  stemma patch model.onnx --weights tuned.safetensors -o tuned.onnx\n"
                "  stemma patch model.onnx --weights tuned.pt --module 'encoder.**' -o tuned.onnx\n"
                "  stemma patch model.onnx --lora adapter -o merged.onnx");
        });
}

} // namespace cli
