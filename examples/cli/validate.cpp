// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "onnx_library.hpp"

#include <stemma/check/check_model.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/map_model.hpp>
#include <stemma/open/original_model.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cli {

namespace {

using stemma::finding;
using stemma::severity;

struct validate_options {
    std::string model;
    std::vector<std::string> captures;
    std::string format = "text";
    std::size_t rows = 10;
    bool quiet = false;
    bool no_data = false;
    bool no_checker = false;
    std::string findings;
};

std::vector<finding> find_all(const validate_options& options, const stemma::wire_model& model) {
    const auto policy = known_policies().diagnostics.get("diagnostics policy", options.findings);
    // A damaged capture is bad input, not a finding about the model.
    const auto expected = options.captures.empty()
                              ? std::optional<stemma::module_tree>()
                              : stemma::captures_or_original(options.captures).open()->modules();
    std::vector<finding> findings;
    auto take = stemma::judged(policy, [&](finding one) { findings.push_back(std::move(one)); });
    stemma::check_model(model, std::ref(take),
                        {!options.no_data, expected ? &*expected : nullptr, &known_policies()});
    // The checker requires external data.
    const bool unseen = options.no_data && !stemma::external_files(model).empty();
    if (!options.no_checker && !unseen) {
        const auto answer = check_with_onnx(model);
        using verdict = check_answer::verdict;
        if (answer.said == verdict::invalid) {
            take({"onnx.checker", stemma::no_id, answer.text.substr(0, answer.text.find('\n')),
                  severity::error, "model"});
        } else if (answer.said == verdict::cannot_judge) {
            take({"onnx.cannot_judge", stemma::no_id, answer.text, severity::information, "model"});
        }
    }
    return findings;
}

void print_text(const validate_options& options, const std::vector<finding>& findings) {
    std::map<std::string, std::size_t> shown;
    for (const auto& one : findings) {
        if (one.level == severity::information && options.quiet) {
            continue;
        }
        if (++shown[one.code] <= options.rows) {
            const auto look = one.level == severity::error     ? shade::bad
                              : one.level == severity::warning ? shade::strong
                                                               : shade::dim;
            put("{} {}: {} [{}]\n", shaded(fitted(to_string(one.level), 11), look), one.place,
                one.text, shaded(one.code, shade::dim));
        }
    }
    for (const auto& [code, count] : shown) {
        if (count > options.rows) {
            put("{:<11} {} more [{}]\n", "", grouped(count - options.rows), code);
        }
    }
    if (!options.quiet) {
        const auto errors = stemma::count_of(findings, severity::error);
        const auto warnings = stemma::count_of(findings, severity::warning);
        put("{}: {}\n", options.model,
            errors + warnings == 0
                ? std::string("no errors or warnings")
                : fmt::format("{}, {}", counted(errors, "error"), counted(warnings, "warning")));
    }
}

int validate(const validate_options& options) {
    const auto file = stemma::map_model(options.model);
    const stemma::wire_model model(file.bytes(), options.model);
    const auto findings = find_all(options, model);
    if (!print_json(options.format, findings, model, options.model)) {
        print_text(options, findings);
    }
    const bool fine = std::all_of(findings.begin(), findings.end(), [](const finding& one) {
        return one.level == severity::information;
    });
    return fine ? done : found_something;
}

} // namespace

void add_validate(CLI::App& app, action& chosen) {
    add_command<validate_options>(
        app, chosen, "validate",
        "check that a model is well-formed, and that its tags are complete", validate,
        [](command_line takes, validate_options& options) {
            takes.model(options.model);
            takes.captures(options.captures,
                           "capture to compare the tree in the file with; repeatable");
            takes.flag("--no-data", options.no_data,
                       "skip external data, and with it the ONNX checker");
            takes.flag("--no-checker", options.no_checker,
                       "skip the ONNX checker, which reads all weights");
            takes.value("--findings", options.findings, "D",
                        "which findings count: " + known_policies().diagnostics.names());
            takes.value("--rows", options.rows, "N", "maximum number of findings printed per kind",
                        "10");
            takes.format(options.format, "text,json");
            takes.quiet(options.quiet, "only errors and warnings");
            takes.applies("--rows", "requires --format text",
                          [&] { return options.format == "text"; });
            takes.footer("Exits with 1 for an error or a warning.\n\n"
                         "Examples:\n  stemma validate model.onnx\n"
                         "  stemma validate model.onnx --no-data --format json");
        });
}

} // namespace cli
