// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "onnx_library.hpp"
#include "terminal.hpp"

#include <stemma/error.hpp>
#include <stemma/io/capture.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/onnx/wire/check_data.hpp>
#include <stemma/onnx/wire/check_structure.hpp>
#include <stemma/onnx/wire/check_tags.hpp>
#include <stemma/onnx/wire/external_data.hpp>
#include <stemma/onnx/wire/known_policies.hpp>
#include <stemma/onnx/wire/map_model.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/policy/diagnostics.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
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
    const auto policy = stemma::known_policies().diagnostics.find(options.findings);
    if (!policy) {
        throw stemma::error(stemma::error_code::refused, "", "findings",
                            "'" + options.findings + "' is none that is known");
    }
    std::vector<finding> found;
    auto take = stemma::judged(*policy, [&](finding one) { found.push_back(std::move(one)); });
    stemma::check_structure(model, std::ref(take));
    if (!options.no_data) {
        stemma::check_data(model, std::ref(take));
    }
    // A damaged capture is bad input, and no finding about the model.
    const auto expected = options.captures.empty() ? std::optional<stemma::module_tree>()
                                                   : stemma::read_captures(options.captures).tree();
    try {
        stemma::check_tags(model, std::ref(take));
        if (expected) {
            stemma::check_tree(model, *expected, std::ref(take));
        }
    } catch (const stemma::error& damaged) {
        take({"tags.damaged", stemma::no_id, damaged.what(), severity::error, "model"});
    }
    // The checker wants to see external data.
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
    return found;
}

void print_text(const validate_options& options, const std::vector<finding>& found,
                const std::array<std::size_t, 3>& counts) {
    std::map<std::string, std::size_t> shown;
    for (const auto& one : found) {
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
        put("{}: {}\n", options.model,
            counts[0] + counts[1] == 0 ? std::string("nothing is wrong")
                                       : fmt::format("{}, {}", counted(counts[0], "error"),
                                                     counted(counts[1], "warning")));
    }
}

void print_json(const validate_options& options, const stemma::wire_model& model,
                const std::vector<finding>& found, const std::array<std::size_t, 3>& counts) {
    standard_output out;
    stemma::json_writer json(out);
    json.begin_object();
    json.member("schema", "stemma.validate/1");
    json.member("model", options.model);
    json.member("valid", counts[0] == 0);
    json.member("errors", counts[0]);
    json.member("warnings", counts[1]);
    json.key("findings");
    json.begin_array();
    for (const auto& one : found) {
        json.begin_object(true);
        json.member("code", one.code);
        json.member("severity", to_string(one.level));
        json.member("place", one.place);
        json.key("node");
        if (one.node == stemma::no_id) {
            json.null();
        } else {
            json.value(position_text(model, one.node));
        }
        json.member("text", one.text);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    json.finish();
}

int validate(const validate_options& options) {
    const auto file = stemma::map_model(options.model);
    const stemma::wire_model model(file.bytes(), options.model);
    const auto found = find_all(options, model);
    std::array<std::size_t, 3> counts{};
    for (const auto& one : found) {
        ++counts[static_cast<std::size_t>(one.level)];
    }
    options.format == "json" ? print_json(options, model, found, counts)
                             : print_text(options, found, counts);
    return counts[0] + counts[1] == 0 ? done : found_something;
}

} // namespace

void add_validate(CLI::App& app, action& chosen) {
    auto options = std::make_shared<validate_options>();
    auto& command = *app.add_subcommand(
        "validate", "check that a model is well-formed, and that its tags are complete");
    command.add_option("MODEL", options->model, "an ONNX file")->required();
    command
        .add_option("-m,--modules", options->captures,
                    "capture that the tree in the file should be the one of; may repeat")
        ->type_name("CAPTURE")
        ->allow_extra_args(false);
    command.add_flag(
        "--no-data", options->no_data,
        "do not look for external data; without them the ONNX checker is not asked either");
    command.add_flag("--no-checker", options->no_checker,
                     "do not ask the ONNX checker, which reads all weights");
    command
        .add_option("--findings", options->findings,
                    "which findings count: " + stemma::known_policies().diagnostics.names())
        ->type_name("D");
    command.add_option("--rows", options->rows, "findings of one kind that are printed at most")
        ->type_name("N")
        ->default_str("10");
    command.add_option("--format", options->format, "how results are printed")
        ->type_name("text,json")
        ->check(CLI::IsMember({"text", "json"}))
        ->default_str("text");
    command.add_flag("-q,--quiet", options->quiet, "nothing but errors and warnings");
    command.footer("Status 1 when there is an error or a warning.\n\n"
                   "Examples:\n  stemma validate model.onnx\n"
                   "  stemma validate model.onnx --no-data --format json");
    command.callback([&chosen, options] { chosen = [options] { return validate(*options); }; });
}

} // namespace cli
