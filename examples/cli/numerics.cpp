// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "onnx_library.hpp"

#include <stemma/error.hpp>
#include <stemma/numerics/compare_numerics.hpp>
#include <stemma/numerics/isolate_modules.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

namespace {

struct numerics_request {
    common_options common;
    std::string other;
    std::vector<std::string> values;
    std::string module;
    std::string isolate;
    std::string isolated;
    std::string pull = "weights";
    std::string data = "copy";
    stemma::id depth = stemma::no_id;
    stemma::difference_bounds bounds;
    std::size_t rows = 20;
    bool force = false;
    bool no_sync = false;
};

std::string decibels(const stemma::value_difference& by) {
    return by.unequal_nonfinite > 0 ? "inf/nan"
           : std::isfinite(by.sqnr) ? fmt::format("{:.1f}", by.sqnr)
           : by.sqnr > 0            ? "exact"
                                    : "none";
}

/// Returns: what of a difference is beyond the bounds.
std::string describe(const std::optional<stemma::value_difference>& by,
                     const stemma::difference_bounds& bounds) {
    if (!by) {
        return "the shapes differ";
    }
    if (by->unequal_nonfinite > 0) {
        return counted(by->unequal_nonfinite, "number") +
               " infinite or NaN in only one of the runs";
    }
    std::string text;
    const auto add = [&](const std::string& measure) {
        text.append(text.empty() ? "" : ", ").append(measure);
    };
    if (const auto least = bounds.least_sqnr(); least && by->sqnr < *least) {
        add(std::isfinite(by->sqnr) ? "SQNR " + decibels(*by) + " dB"
                                    : std::string("all zeros in the first run only"));
    }
    if (bounds.max_abs && by->max_abs > *bounds.max_abs) {
        add(fmt::format("max abs {:.2g}", by->max_abs));
    }
    if (bounds.max_rel && by->max_rel > *bounds.max_rel) {
        add(fmt::format("max rel {:.2g}", by->max_rel));
    }
    if (bounds.min_cosine && by->cosine < *bounds.min_cosine) {
        add(fmt::format("cosine {:.6f}", by->cosine));
    }
    return text;
}

/// Returns: the columns of a table row; blank if unknown.
std::string columns_of(const std::optional<stemma::value_difference>& by, bool of_other_shape) {
    const std::string ratio = of_other_shape ? "shapes" : by ? decibels(*by) : "-";
    return by ? fmt::format("{:>7} {:>9.2g} {:>9.2g} {:>9.6f}", ratio, by->max_abs, by->max_rel,
                            by->cosine)
              : fmt::format("{:>7} {:>9} {:>9} {:>9}", ratio, "-", "-", "-");
}

std::string ratio_of(const std::optional<stemma::value_difference>& by) {
    return by ? decibels(*by) : "-";
}

std::string name_of(const stemma::attributed_model& opened, stemma::id m) {
    return m == 0 ? "(root)" : opened.modules().path(m);
}

std::string text_of(const stemma::difference_bounds& bounds) {
    std::string text;
    const auto add = [&](const char* what, const std::optional<double>& bound) {
        if (bound) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, *bound);
        }
    };
    add("SQNR in dB at least", bounds.least_sqnr());
    add("max abs at most", bounds.max_abs);
    add("max rel at most", bounds.max_rel);
    add("cosine at least", bounds.min_cosine);
    return text;
}

void print_report(const numerics_request& asked, const stemma::attributed_model& opened,
                  const stemma::numerics_report& report) {
    const auto compared = std::count_if(report.modules.begin(), report.modules.end(),
                                        [](const auto& one) { return one.compared > 0; });
    put("compared     {} and {} of {} with results\n", counted(report.values.size(), "value"),
        compared, counted(report.modules.size(), "module"));
    put("bounds       {}\n", text_of(report.bounds));
    if (report.unequal_inputs > 0) {
        put("inputs       {} of the model differ between the runs\n", report.unequal_inputs);
    }
    if (report.first_value == stemma::no_id) {
        put("first        none: all values are within the bounds\n");
    } else {
        const auto& first = report.values[report.first_value];
        put("first        {}\n", shaded(name_of(opened, report.first_module), shade::bad));
        put("             at {}, {}\n", opened.model().value_name(first.pair.value),
            describe(first.difference, report.bounds));
    }
    // The results of the first module may be within the bounds, those of modules in it not.
    const auto is_first = [&](const stemma::numerics_report::of_module& one) {
        return report.first_value != stemma::no_id && one.module == report.first_module;
    };
    std::vector<const stemma::numerics_report::of_module*> rows;
    for (const auto& one : report.modules) {
        if (one.verdict != stemma::numerics_report::module_verdict::within || is_first(one)) {
            rows.push_back(&one);
        }
    }
    const auto begins = [&](const stemma::numerics_report::of_module& one) {
        return is_first(one) ? report.first_value : one.first;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const auto* a, const auto* b) { return begins(*a) < begins(*b); });
    if (rows.empty()) {
        return;
    }
    put("\n{}\n",
        shaded(fmt::format("{:<12} {:>7} {:>9} {:>9} {:>9} {:>7} {:>7}  {}", "verdict", "SQNR",
                           "max abs", "max rel", "cosine", "read", "own", "module"),
               shade::strong));
    print_first(rows, asked.rows, [&](const auto* row) {
        const auto& one = *row;
        const bool of_other_shape =
            one.first != stemma::no_id && !report.values[one.first].difference;
        put("{:<12} {} {:>7} {:>7}  {}\n", to_string(one.verdict),
            columns_of(one.outgoing, of_other_shape), ratio_of(one.incoming), ratio_of(one.own),
            shaded(name_of(opened, one.module), shade::name));
    });
}

/// Says if most of the values compared are none of the second model.
void note_strangers(const numerics_request& asked, const stemma::attributed_model& second,
                    const stemma::numerics_report& report) {
    std::set<std::string_view> names;
    for (stemma::id value = 0; value < second.model().value_count(); ++value) {
        names.insert(second.model().value_name(value));
    }
    const auto present = static_cast<std::size_t>(
        std::count_if(report.values.begin(), report.values.end(),
                      [&](const stemma::numerics_report::compared_value& one) {
                          return names.count(one.pair.other) > 0;
                      }));
    if (2 * present < report.values.size()) {
        note(asked.common,
             fmt::format("{} has {} of the {} compared; the values of OTHER seem to be of another "
                         "model",
                         asked.other, present == 0 ? std::string("none") : grouped(present),
                         counted(report.values.size(), "value")));
    }
}

void isolate(const numerics_request& asked, const stemma::observed_model& a,
             const stemma::observed_model& b, const stemma::numerics_report& report) {
    stemma::cut_options how;
    how.policy =
        stemma::standard_cut{stemma::parse_pull(asked.pull).value(), stemma::gap_rule::runs};
    how.data = stemma::parse_name<stemma::data_placement>(asked.data).value();
    how.force = asked.force;
    how.spared = files_read(*asked.common.rules);
    how.sync = !asked.no_sync;
    how.infer = add_inferred_types;
    const auto parts = stemma::isolate_modules(a, b, report, asked.isolate, how);
    const auto refused = std::count_if(parts.begin(), parts.end(),
                                       [](const auto& part) { return !part.refusal.empty(); });
    note(asked.common,
         fmt::format("{}: {} to run; {} cannot run, see isolate.json", asked.isolate,
                     counted(parts.size() - static_cast<std::size_t>(refused), "part"), refused));
}

int numerics(const numerics_request& asked) {
    if (asked.values.size() != 2) {
        throw refused("numerics", "takes --values twice: those of MODEL, then those of OTHER");
    }
    asked.bounds.check();
    const auto opened = open_model(asked.common);
    auto others = asked.common;
    others.model = asked.other;
    const auto second = open_model(others);
    const stemma::value_file mine(asked.values[0]);
    const stemma::value_file theirs(asked.values[1]);
    const stemma::observed_model a(*opened, mine);
    const stemma::observed_model b(*second, theirs);
    auto report = stemma::compare_numerics(
        a, b, {asked.bounds, stemma::find_branches(*opened, asked.module, asked.depth), {}});
    if (report.values.empty()) {
        throw stemma::error(stemma::error_code::not_found, asked.values[1], "",
                            "has no counterpart of any value in " + asked.values[0]);
    }
    note_strangers(asked, *second, report);
    if (!asked.isolated.empty()) {
        stemma::add_isolated(report, a, asked.isolated);
    }
    if (!asked.isolate.empty()) {
        isolate(asked, a, b, report);
    }
    if (!print_json(asked.common.format, report, a, b)) {
        print_report(asked, *opened, report);
    }
    return report.first_value == stemma::no_id ? done : found_something;
}

} // namespace

void add_numerics(CLI::App& app, action& chosen) {
    add_command<numerics_request>(
        app, chosen, "numerics", "find the modules of another model that deviate numerically",
        numerics, [](command_line takes, numerics_request& asked) {
            takes.common(asked.common);
            takes.argument("OTHER", asked.other, "the model to compare with");
            takes
                .value("--values", asked.values, "FILE",
                       "values of a run: .npz, .npy, .pb or a folder of these; first those of "
                       "MODEL, then those of OTHER")
                ->required()
                ->allow_extra_args(false);
            takes.value("--module", asked.module, "QUERY",
                        "only matching modules, their ancestors and descendants");
            takes.value("--depth", asked.depth, "N", "only modules down to this depth");
            takes.value("--min-sqnr", asked.bounds.min_sqnr, "DB",
                        "bound: signal-to-quantization-noise ratio; 60 if no bound is given");
            takes.value("--max-abs", asked.bounds.max_abs, "X", "bound: largest difference");
            takes.value("--max-rel", asked.bounds.max_rel, "X",
                        "bound: largest relative difference");
            takes.value("--min-cosine", asked.bounds.min_cosine, "X", "bound: cosine similarity");
            takes.written(
                "--isolate", asked.isolate, "DIR",
                "write the modules of OTHER that exceed a bound, to run on MODEL's values");
            takes.value("--isolated", asked.isolated, "DIR",
                        "use the results of running them: DIR/results.npz");
            takes
                .choice("--pull", asked.pull, "none,constants,weights,shapes,all",
                        "copied into isolated parts, as for cut")
                ->type_name("P");
            takes.data(asked.data);
            takes.value("--rows", asked.rows, "N", "maximum number of rows in the table", "20");
            takes.flag("--force", asked.force, "replace existing files in DIR");
            takes.no_sync(asked.no_sync);
            for (const auto* option : {"--pull", "--data", "--force", "--no-sync"}) {
                takes.applies(option, "requires --isolate", [&] { return !asked.isolate.empty(); });
            }
            takes.applies_to("--rows", asked.common, "text");
            takes.footer(
                "Examples:\n  stemma numerics a.onnx b.onnx --values a.npz --values b.npz\n"
                "  stemma numerics a.onnx b.onnx --values a.npz --values b.npz --isolate apart\n"
                "  stemma numerics a.onnx b.onnx --values a.npz --values b.npz --isolated apart");
        });
}

} // namespace cli
