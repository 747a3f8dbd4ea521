// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/cost/model_cost.hpp>
#include <stemma/cost/module_times.hpp>
#include <stemma/cost/profile_pictures.hpp>
#include <stemma/cost/profile_readers.hpp>
#include <stemma/cost/profile_report.hpp>
#include <stemma/error.hpp>
#include <stemma/open/original_model.hpp>
#include <stemma/report/explorer_overlay.hpp>
#include <stemma/report/line_table.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

using stemma::id;

struct profile_options {
    common_options common;
    output_options output;
    std::vector<std::string> files;
    std::vector<std::string> against;
    std::string against_model;
    std::string original;
    std::optional<std::size_t> warm_up;
    id depth = stemma::no_id;
    std::size_t rows = 10;
    bool divide = false;
    std::string to;
    std::string by = "module";
};

std::string milliseconds(double microseconds) {
    return fmt::format("{:.3f}", microseconds / 1000);
}

void print_modules(const profile_options& options, const stemma::attributed_model& opened,
                   const stemma::module_times& times) {
    const auto& tree = opened.modules().index();
    put("{}\n", shaded(fmt::format("{:>10} {:>7} {:>9} {:>21}  {}", "ms", "share", "calls",
                                   times.runs() > 1 ? "fastest-slowest run" : "", "module"),
                       shade::strong));
    for (id m = 0; m < times.size(); ++m) {
        const auto& time = times[m];
        if (time.calls == 0 || tree.depth(m) > options.depth) {
            continue;
        }
        const auto calls = times.per_run(time.calls);
        const auto spread = times.runs() > 1
                                ? milliseconds(time.least) + "-" + milliseconds(time.most)
                                : std::string();
        const auto name = m == 0 ? path_text(opened, m) : std::string(opened.modules().name(m));
        put("{:>10} {:>5.1f} % {:>9} {:>21}  {}{}\n",
            milliseconds(times.per_run(time.microseconds)),
            100 * time.microseconds / std::max(times.total(), 1e-9),
            fmt::format("{:.{}f}", calls, calls == std::floor(calls) ? 0 : 1), spread,
            std::string(2 * std::min<std::size_t>(tree.depth(m), 24), ' '),
            shaded(shortened(name, 50), shade::name));
    }
    if (!times.unmatched().empty()) {
        put("{:>10} {:>5.1f} % {:>9} {:>21}  {}\n",
            milliseconds(times.per_run(times.unmatched_total())),
            100 * times.unmatched_total() / std::max(times.total(), 1e-9), "", "", "(unmatched)");
    }
}

void print_providers(const stemma::attributed_model& opened, const stemma::module_times& times,
                     std::size_t rows) {
    if (times.size() == 0 || times[0].providers.size() < 2) {
        return;
    }
    put("\n{}\n", shaded("providers of the modules", shade::strong));
    for (const auto& [name, time] : times[0].providers) {
        put("  {:>5.1f} %  {}\n", 100 * time / std::max(times.total(), 1e-9),
            name.empty() ? "(unknown)" : name);
    }
    std::vector<id> mixed;
    for (id m = 1; m < times.size(); ++m) {
        if (times[m].providers.size() > 1) {
            mixed.push_back(m);
        }
    }
    print_first(mixed, rows, [&](id m) {
        std::string parts;
        for (const auto& [name, time] : times[m].providers) {
            parts += fmt::format("{}{} {} ms", parts.empty() ? "" : ", ", name,
                                 milliseconds(times.per_run(time)));
        }
        put("  {}: {}\n", shortened(path_text(opened, m), 50), parts);
    });
}

void print_text(const profile_options& options, const stemma::module_times& times) {
    print_modules(options, times.model(), times);
    print_providers(times.model(), times, options.rows);
    const auto& rest = times.unmatched();
    if (!rest.empty()) {
        put("\n{}\n", shaded("times without a node", shade::strong));
        print_first(rest, options.rows, [&](const auto& one) {
            put("  {:>10}  {}\n", milliseconds(times.per_run(one.microseconds)),
                shortened(one.name, 80));
        });
    }
    put("{}\n",
        shaded(fmt::format(
                   "{} ms in {}{}; {}{}", milliseconds(times.total()), counted(times.runs(), "run"),
                   times.dropped() > 0 ? fmt::format(" ({} dropped)", times.dropped()) : "",
                   times.formats(),
                   times.fused() == 0 ? std::string()
                   : times.is_divided()
                       ? fmt::format("; {} divided by cost", counted(times.fused(), "kernel"))
                       : fmt::format("; {} assigned to their common module",
                                     counted(times.fused(), "fused kernel"))),
               shade::dim));
}

/// The source lines that took most time.
void print_lines(const profile_options& options, const stemma::module_times& times) {
    const auto& opened = times.model();
    auto rows = stemma::group_by_line(opened, {}, [&](id node) { return times.node(node); });
    if (options.common.format != "text") {
        const stemma::line_columns columns{
            {"microseconds", [](const stemma::line_row& row) { return std::llround(row.amount); }}};
        write_output(options.output, [&](auto& sink) {
            if (options.common.format == "json") {
                stemma::write_json(sink, rows, opened, columns);
            } else {
                stemma::write_csv(sink, rows, columns);
            }
        });
        return;
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.amount > b.amount; });
    put("{}\n", shaded(fmt::format("{:>10} {:>7} {:>7}  {}", "ms", "share", "nodes", "line"),
                       shade::strong));
    print_first(rows, options.rows, [&](const stemma::line_row& row) {
        put("{:>10} {:>5.1f} % {:>7}  {}\n", milliseconds(times.per_run(row.amount)),
            100 * row.amount / std::max(times.total(), 1e-9), grouped(row.nodes.size()),
            source_text(row));
    });
    if (times.unmatched_total() > 0) {
        put("{:>10} {:>5.1f} % {:>7}  {}\n", milliseconds(times.per_run(times.unmatched_total())),
            100 * times.unmatched_total() / std::max(times.total(), 1e-9), "",
            shaded("(unmatched)", shade::dim));
    }
}

/// Two profiles side by side, per run.
void print_pairs(const profile_options& options, const stemma::module_times& first,
                 const stemma::module_times& second) {
    const auto row = [](double before, double after, const std::string& text) {
        const auto ratio =
            before > 0 && after > 0 ? fmt::format("{:.2f}x", after / before) : std::string();
        put("{:>10} {:>10} {:>+11.3f} {:>8}  {}\n", milliseconds(before), milliseconds(after),
            (after - before) / 1000, ratio, text);
    };
    put("{}\n", shaded(fmt::format("{:>10} {:>10} {:>11} {:>8}  {}", "first ms", "second ms",
                                   "difference", "ratio", "module"),
                       shade::strong));
    for (const auto& pair : stemma::compare_times(first, second)) {
        const bool new_one = pair.first == stemma::no_id;
        const auto& modules = (new_one ? second : first).model().modules();
        const auto m = new_one ? pair.second : pair.first;
        const auto depth = std::size_t{modules.index().depth(m)};
        if (depth > options.depth) {
            continue;
        }
        const auto name = m == 0                         ? std::string("the root")
                          : new_one                      ? modules.path(m) + " (second only)"
                          : pair.second == stemma::no_id ? modules.path(m) + " (first only)"
                                                         : std::string(modules.name(m));
        row(pair.before, pair.after,
            std::string(new_one ? 2 : 2 * std::min<std::size_t>(depth, 24), ' ') +
                shaded(shortened(name, 60), shade::name));
    }
    if (!first.unmatched().empty() || !second.unmatched().empty()) {
        row(first.per_run(first.unmatched_total()), second.per_run(second.unmatched_total()),
            "(unmatched)");
    }
    row(first.per_run(first.total()), second.per_run(second.total()), "total");
}

/// A profile with its model.
struct timed_model {
    std::unique_ptr<stemma::attributed_model> opened;
    stemma::module_times times;
};

/// Returns: nothing, after a note, if MODEL was not made from `--original`.
std::optional<timed_model> time_model(const profile_options& options, const std::string& model,
                                      const std::vector<std::string>& files) {
    auto common = options.common;
    common.model = model;
    if (!options.original.empty()) {
        common.captures.push_back(options.original);
    }
    auto opened = open_model(common);
    if (!options.original.empty() && opened->tags().origins.empty() &&
        opened->model().node_count() != 0) {
        if (!opened->capture_notes().empty()) {
            if (options.common.quiet) { // and it was not said
                stemma::detail::refuse_stranger(*opened, options.original);
            }
            return std::nullopt;
        }
        throw stemma::error(stemma::error_code::refused, options.original, "--original",
                            "is not an ONNX file");
    }
    stemma::module_times times(stemma::read_profiles(files, options.warm_up), *opened,
                               options.divide);
    return timed_model{std::move(opened), std::move(times)};
}

int run_profile(const profile_options& options) {
    const auto measured = time_model(options, options.common.model, options.files);
    if (!measured) {
        return found_something;
    }
    const auto& times = measured->times;
    if (options.by == "line") {
        print_lines(options, times);
        return done;
    }
    const auto& format = options.common.format;
    if (!options.against.empty()) {
        const auto& model =
            options.against_model.empty() ? options.common.model : options.against_model;
        const auto other = time_model(options, model, options.against);
        if (!other) {
            return found_something;
        }
        if (format == "text") {
            print_pairs(options, times, other->times);
            return done;
        }
        write_output(options.output, [&](auto& sink) {
            if (format == "json") {
                stemma::write_json(sink, times, other->times);
            } else {
                stemma::write_csv(sink, times, other->times);
            }
        });
        return done;
    }
    if (options.to.empty() && format == "text") {
        print_text(options, times);
        return done;
    }
    write_output(options.output, [&](auto& sink) {
        if (options.to == "flame") {
            stemma::write_flame_graph(sink, times);
        } else if (options.to == "speedscope") {
            stemma::write_speedscope(sink, times);
        } else if (options.to == "chrome") {
            stemma::write_chrome_trace(sink, times);
        } else if (options.to == "model-explorer") {
            stemma::write_explorer_overlay(sink, times.model().model(),
                                           [&](id node) { return times.node(node); });
        } else if (format == "json") {
            stemma::write_json(sink, times);
        } else {
            stemma::write_csv(sink, times);
        }
    });
    return done;
}

} // namespace

void add_profile(CLI::App& app, action& chosen) {
    add_command<profile_options>(
        app, chosen, "profile", "show the times in a profile by module", run_profile,
        [](command_line takes, profile_options& options) {
            takes.common(options.common, "text,json,csv");
            takes.argument("PROFILE", options.files,
                           "a profile of ONNX Runtime, TensorRT, OpenVINO or QNN, or CSV");
            takes.value("--original", options.original, "ORIGINAL",
                        "the original of MODEL, which provides the modules; -m then refers to it");
            takes
                .value("--against", options.against, "PROFILE",
                       "a second profile, shown beside the first; repeatable, for more runs")
                ->allow_extra_args(false);
            takes.value("--against-model", options.against_model, "MODEL",
                        "its model, if different");
            takes.value("--warm-up", options.warm_up, "N",
                        "runs to skip at the start of each profile; 1 if there are "
                        "several");
            takes.flag(
                "--divide", options.divide,
                "distribute the time of fused nodes by cost; by default it goes to their common "
                "module's");
            takes.choice("--by", options.by, "module|line",
                         "group by module, or by line of Python");
            takes.value("--depth", options.depth, "N", "text: levels below the root to show");
            takes.value("--rows", options.rows, "N", "text: maximum number of rows per list", "10");
            takes.choice("--to", options.to, "flame|speedscope|chrome|model-explorer",
                         "write a flame graph (SVG), a trace, or an overlay instead");
            takes.written("-o,--output", options.output.path, "OUT",
                          "where to write it; standard output by default");
            takes.applies("--against-model", "requires --against PROFILE",
                          [&] { return !options.against.empty(); });
            takes.applies("--to", "shows one profile, not two",
                          [&] { return options.against.empty(); });
            takes.applies("--format", "does not apply to --to", [&] { return options.to.empty(); });
            takes.applies("--by", "line takes one profile, in tables", [&] {
                return options.by != "line" || (options.to.empty() && options.against.empty());
            });
            takes.applies("--output", "does not apply to text",
                          [&] { return !options.to.empty() || options.common.format != "text"; });
            const auto is_tree = [&] {
                return options.common.format == "text" && options.to.empty();
            };
            takes.applies("--rows", "requires --format text of one profile",
                          [=, &options] { return is_tree() && options.against.empty(); });
            takes.applies("--depth", "requires --format text by module",
                          [=, &options] { return is_tree() && options.by != "line"; });
            takes.footer("Examples:\n  stemma profile optimized.onnx onnxruntime_profile.json\n"
                         "  stemma profile optimized.onnx profile.json --original model.onnx\n"
                         "  stemma profile model.onnx before.json --against after.json\n"
                         "  stemma profile model.onnx layers.json --divide --format json\n"
                         "  stemma profile optimized.onnx profile.json --to flame -o time.svg");
        });
}

} // namespace cli
