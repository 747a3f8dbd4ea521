// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "terminal.hpp"

#include <stemma/algorithm/explain_no_match.hpp>
#include <stemma/algorithm/find_matches.hpp>
#include <stemma/core/json_text.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/definitions.hpp>
#include <stemma/onnx/wire/known_policies.hpp>

#include <fmt/core.h>

#include <cstdio>

namespace cli {

void add_common_options(CLI::App& command, common_options& options, const std::string& formats) {
    auto& how = options.attribution;
    command.add_option("MODEL", options.model, "an ONNX file")->required();
    command
        .add_option("-m,--modules", how.captures,
                    "capture with what PyTorch knew (JSON); may repeat")
        ->type_name("CAPTURE")
        ->allow_extra_args(false);
    const auto& known = stemma::known_policies();
    command
        .add_option("--select", how.selection, "modules that get tags: " + known.selections.names())
        ->type_name("S");
    command.add_option("--keep", how.keep, "infrastructure classes that get tags too: LayerNorm")
        ->type_name("CLASS,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--naming", how.naming, "what tags look like: " + known.namings.names())
        ->type_name("N");
    command
        .add_option("--resolve", how.resolution,
                    "which claim is believed when sources differ: " + known.resolutions.names())
        ->type_name("R");
    command
        .add_option("--propagate", how.propagation,
                    "rule for nodes without evidence: " + known.propagations.names())
        ->type_name("P");
    const std::string added = known.sources.names();
    command
        .add_option("--sources", how.sources,
                    "evidence to use: export, recorded, metadata, function, scope, parameter, "
                    "torchscript, trace, fx, leftover" +
                        (added.empty() ? added : ", " + added))
        ->type_name("S,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--min-confidence", how.min_confidence, "ignore claims below, 0 to 1")
        ->type_name("X")
        ->check(CLI::Range(0.0, 1.0));
    command.add_flag("--recompute", how.recompute, "do not use tags that are in the file");
    command.add_option("--format", options.format, "how results are printed")
        ->type_name(formats)
        ->check(CLI::IsMember(stemma::split_list(formats)))
        ->default_str(options.format);
    command.add_flag("-q,--quiet", options.quiet, "no messages besides errors");
    add_threads_option(command, options);
}

void add_threads_option(CLI::App& command, common_options& options) {
    command
        .add_option("--threads", options.threads,
                    "how many threads may work; 0: as many as there are processors, at most 8")
        ->type_name("N")
        ->default_str("0");
}

void add_data_option(CLI::App& command, std::string& data) {
    command.add_option("--data", data, "weights in other files: keep, link or copy them")
        ->type_name("keep|link|copy")
        ->check(CLI::IsMember({"keep", "link", "copy"}))
        ->default_str(data);
}

void add_no_sync_option(CLI::App& command, bool& no_sync) {
    command.add_flag("--no-sync", no_sync, "do not wait until the bytes are on the medium");
}

stemma::thread_limit threads_of(const common_options& options) {
    return options.threads == 0 ? stemma::thread_limit::of_machine()
                                : stemma::thread_limit{options.threads};
}

void note(const common_options& options, std::string_view text) {
    if (!options.quiet) {
        print_error(text);
    }
}

void standard_output::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
        throw stemma::error(stemma::error_code::cannot_write, "standard output", "",
                            "cannot be written");
    }
}

namespace {

/// Returns: a name as a message can hold it, whatever bytes a file gave it.
std::string short_name(std::string_view name) {
    constexpr std::size_t most = 100;
    std::string text;
    stemma::append_json_string(name.substr(0, 8 * most), text);
    const auto inner = std::string_view(text).substr(1, text.size() - 2);
    return width_of(inner) <= most ? std::string(inner) : fitted(inner, most);
}

/// Says how much of the model leads to a module of the capture, when that is not nearly all.
void report_match(const common_options& options, stemma::attributed_model& opened) {
    const auto& mapping = opened.mapping();
    if (!mapping.is_identity() && mapping.matched > 0) {
        note(options,
             mapping.base != 0
                 ? fmt::format("paths in the model start at '{}' of the capture",
                               opened.modules().path(mapping.base))
                 : fmt::format("paths in the model start with '{}.', which the capture lacks",
                               mapping.strip));
    }
    std::size_t scopes = 0;
    std::size_t bound = 0;
    for (stemma::id s = stemma::scope_style_count; s < opened.scopes().scopes.size(); ++s) {
        ++scopes;
        bound += opened.modules_of_scopes().of_scope[s].module == stemma::no_id ? 0U : 1U;
    }
    const auto tried = scopes + mapping.paths;
    const auto fits = bound + mapping.matched;
    if (tried > 0 && fits * 10 < tried * 9) {
        note(options,
             fmt::format("{} of {} scopes and {} of {} parameter paths lead to a module of the "
                         "capture; {}",
                         bound, scopes, mapping.matched, mapping.paths,
                         fits * 2 < tried ? "it looks like one of another model"
                                          : "the rest does not fit it"));
    }
}

} // namespace

void refuse_unmatched(const stemma::attributed_model& opened, const stemma::query& asked) {
    throw stemma::error(stemma::error_code::not_found, opened.file().path(), "query",
                        stemma::explain_no_match(asked, opened.modules(), opened.tags().tags,
                                                 opened.operators(), opened.tags().attributions));
}

std::vector<stemma::id> find_modules(const stemma::attributed_model& opened,
                                     std::string_view pattern) {
    const auto asked = stemma::parse_query(pattern);
    if (asked.asks_for_operators()) {
        throw stemma::error(
            stemma::error_code::refused, "query", "",
            fmt::format("'{}' asks about nodes; what is wanted here are modules", pattern));
    }
    auto found = stemma::find_matching_modules(asked, opened.modules(), opened.tags().tags);
    if (found.empty()) {
        refuse_unmatched(opened, asked);
    }
    return found;
}

std::vector<stemma::id> find_nodes(const stemma::attributed_model& opened, std::string_view text) {
    const auto asked = stemma::parse_query(text);
    auto found = stemma::find_matching_operators(asked, opened.modules(), opened.tags().tags,
                                                 opened.operators(), opened.tags().attributions);
    if (found.empty()) {
        refuse_unmatched(opened, asked);
    }
    return found;
}

std::string position_text(const stemma::onnx_model& model, stemma::id node) {
    return fmt::format("{}#{}", model.graph_path(model.graph_of(node)), model.position(node));
}

std::vector<stemma::id> nodes_of(const stemma::attributed_model& opened, stemma::id module) {
    std::vector<stemma::id> nodes;
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        if (opened.modules().index().is_ancestor(module, opened.tags().attributions[node].module)) {
            nodes.push_back(node);
        }
    }
    return nodes;
}

std::unique_ptr<stemma::attributed_model>
open_model(const common_options& options,
           const std::function<void(const stemma::wire_model&)>& meanwhile) {
    auto how = options.attribution;
    how.threads = threads_of(options);
    auto opened =
        std::make_unique<stemma::attributed_model>(options.model, std::move(how), meanwhile);
    const auto& model = opened->model();
    if (opened->was_tagged() && !opened->is_fresh()) {
        note(options, fmt::format("{}: the graph changed since it was tagged; tags are computed "
                                  "anew{}",
                                  options.model,
                                  opened->uses_record() ? " from what it carries of them" : ""));
    }
    for (const auto& text : opened->record_notes()) {
        note(options, fmt::format("{}: {}", options.model, text));
    }
    if (!options.attribution.captures.empty()) {
        report_match(options, *opened);
        for (const auto& text : opened->capture_notes()) {
            note(options, "capture, " + text);
        }
    }
    const auto& modules = opened->modules();
    if (opened->tree_from_model() && modules.size() == 1 && modules.class_name(0).empty() &&
        model.node_count() > 0) {
        note(options,
             fmt::format("{}: nothing in it names a module; a capture (-m) would", options.model));
    }
    if (const auto findings = opened->findings(); !findings.empty()) {
        note(options,
             fmt::format("{}: node '{}': {}{}", options.model,
                         short_name(model.name(findings.front().node)), findings.front().text,
                         findings.size() > 1 ? fmt::format("; {} more like it", findings.size() - 1)
                                             : std::string()));
    }
    if (model.opset_imports().empty()) {
        note(options, fmt::format("{}: has no opset imports", options.model));
    }
    if (!model.redefined().empty()) {
        const auto value = model.redefined().front();
        note(options, fmt::format("{}: value '{}' is defined more than once, by {}", options.model,
                                  model.value_name(value), stemma::definers_text(model, value)));
    }
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        if (model.kind(value) == stemma::value_kind::undefined) {
            note(options, fmt::format("{}: value '{}' is read, but nothing makes it", options.model,
                                      model.value_name(value)));
            break;
        }
    }
    return opened;
}

} // namespace cli
