// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/weights/identify_parameters.hpp>
#include <stemma/weights/write_parameters.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cli {

namespace {

struct weights_request {
    common_options common;
    std::string checkpoint;
};

/// A line of the list.
struct origin_row {
    std::string initializer;
    std::string entry;
    std::string transform;
    std::string evidence;
};

void print_rows(const std::vector<origin_row>& rows) {
    const auto widest = [&](std::string origin_row::*column) {
        std::size_t width = 0;
        for (const auto& row : rows) {
            width = std::max(width, width_of(row.*column));
        }
        return width;
    };
    const auto initializer = widest(&origin_row::initializer);
    const auto entry = widest(&origin_row::entry);
    const auto transform = widest(&origin_row::transform);
    for (const auto& row : rows) {
        put("{}  {}  {}  {}\n", fitted(row.initializer, initializer),
            shaded(fitted(row.entry, entry), shade::name), fitted(row.transform, transform),
            shaded(row.evidence, shade::dim));
    }
}

void print_origins(const std::vector<stemma::parameter_origin>& origins,
                   const stemma::attributed_model& opened) {
    std::vector<origin_row> rows;
    std::size_t unknown = 0;
    for (const auto& origin : origins) {
        if (origin.basis == stemma::parameter_origin::basis_kind::none) {
            ++unknown;
            continue;
        }
        const auto name =
            printable(opened.model().text(opened.model().tensors()[origin.tensor].name));
        const auto evidence =
            fmt::format("{}, {:.2f}", stemma::to_string(origin.basis), origin.confidence);
        rows.push_back({name, printable(fmt::format("{}", fmt::join(origin.entries, ", "))),
                        std::string(stemma::transform_text(origin)), evidence});
        for (const auto& other : origin.shared) {
            rows.push_back({name, printable(other), "shared", evidence});
        }
    }
    print_rows(rows);
    if (unknown > 0) {
        put("{} of unknown origin\n", counted(unknown, "initializer"));
    }
}

int show_weights(const weights_request& asked) {
    const auto opened = open_model(asked.common);
    std::optional<stemma::checkpoint> checkpoint;
    stemma::identify_options options;
    if (!asked.checkpoint.empty()) {
        options.known = &checkpoint.emplace(stemma::read_checkpoint(asked.checkpoint));
    }
    const auto origins = stemma::identify_parameters(*opened, options);
    if (print_json(asked.common.format, origins, *opened, options.known)) {
        return done;
    }
    const auto is_known = [](const auto& origin) {
        return origin.basis != stemma::parameter_origin::basis_kind::none;
    };
    if (checkpoint && std::none_of(origins.begin(), origins.end(), is_known)) {
        note(asked.common, fmt::format("{}: has values of none of the initializers; it seems "
                                       "to belong to another model",
                                       asked.checkpoint));
    }
    print_origins(origins, *opened);
    if (checkpoint) {
        if (const auto unused = stemma::unused_entries(*checkpoint, origins); !unused.empty()) {
            note(asked.common, fmt::format("{}: {} used by no initializer: {}", asked.checkpoint,
                                           counted(unused.size(), "tensor"), first_names(unused)));
        }
    }
    return done;
}

} // namespace

void add_weights(CLI::App& app, action& chosen) {
    add_command<weights_request>(
        app, chosen, "weights", "find the state dict entry of every initializer", show_weights,
        [](command_line takes, weights_request& asked) {
            takes.common(asked.common);
            takes.value("--checkpoint", asked.checkpoint, "FILE",
                        "the checkpoint with the model's values: safetensors, an archive of "
                        "torch, an index of several");
            takes.footer("Examples:\n  stemma weights model.onnx\n"
                         "  stemma weights model.onnx --checkpoint model.safetensors\n"
                         "  stemma weights model.onnx -m modules.json --format json");
        });
}

} // namespace cli
