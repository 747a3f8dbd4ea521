// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/cost/model_cost.hpp>
#include <stemma/cost/module_times.hpp>
#include <stemma/cost/profile.hpp>
#include <stemma/cost/profile_pictures.hpp>
#include <stemma/cost/profile_readers.hpp>
#include <stemma/cost/profile_report.hpp>
#include <stemma/error.hpp>
#include <stemma/io/file.hpp>
#include <stemma/report/explorer_overlay.hpp>
#include <stemma/report/line_table.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
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
    std::optional<std::size_t> warm_up;
    id depth = stemma::no_id;
    std::size_t rows = 10;
    bool divide = false;
    std::string to;
    std::string by = "module";
};

/// Reads all files as runs of one profile, each without its first runs.
stemma::profile read_profiles(const profile_options& options, stemma::profile_source& source) {
    stemma::profile all;
    for (const auto& path : options.files) {
        const stemma::mapped_file file(path);
        stemma::profile read;
        const auto format = stemma::read_profile(file.bytes(), path, read);
        const auto drop = options.warm_up.value_or(read.runs() > 1 ? 1 : 0);
        if (drop >= read.runs()) {
            throw stemma::error(stemma::error_code::refused, path, "--warm-up",
                                fmt::format("leaves none of {}", counted(read.runs(), "run")));
        }
        read.drop_runs(drop);
        source.dropped += drop;
        source.file.append(source.file.empty() ? "" : ", ").append(path);
        if (source.format.find(format) == source.format.npos) {
            source.format.append(source.format.empty() ? "" : ", ").append(format);
        }
        all.append(read);
    }
    return all;
}

std::string milliseconds(double microseconds) {
    return fmt::format("{:.3f}", microseconds / 1000);
}

void print_modules(const profile_options& options, const stemma::attributed_model& opened,
                   const stemma::module_times& times) {
    const auto& tree = opened.modules().index();
    const auto runs = static_cast<double>(std::max<std::size_t>(times.runs(), 1));
    put("{}\n", shaded(fmt::format("{:>10} {:>7} {:>9} {:>21}  {}", "ms", "share", "calls",
                                   times.runs() > 1 ? "fastest-slowest run" : "", "module"),
                       shade::strong));
    for (id m = 0; m < times.size(); ++m) {
        const auto& time = times[m];
        if (time.calls == 0 || tree.depth(m) > options.depth) {
            continue;
        }
        const auto spread = times.runs() > 1
                                ? milliseconds(time.least) + "-" + milliseconds(time.most)
                                : std::string();
        const auto name =
            m == 0 ? path_text(opened, m) : std::string(opened.modules().attribute(m));
        put("{:>10} {:>5.1f} % {:>9} {:>21}  {}{}\n", milliseconds(time.microseconds / runs),
            100 * time.microseconds / std::max(times.total(), 1e-9),
            fmt::format("{:.{}f}", time.calls / runs,
                        time.calls / runs ==
                                static_cast<double>(static_cast<std::size_t>(time.calls / runs))
                            ? 0
                            : 1),
            spread, std::string(2 * std::min<std::size_t>(tree.depth(m), 24), ' '),
            shaded(shortened(name, 50), shade::name));
    }
    if (!times.unmatched().empty()) {
        put("{:>10} {:>5.1f} % {:>9} {:>21}  {}\n", milliseconds(times.unmatched_total() / runs),
            100 * times.unmatched_total() / std::max(times.total(), 1e-9), "", "",
            "(no node of the model)");
    }
}

void print_providers(const stemma::attributed_model& opened, const stemma::module_times& times,
                     std::size_t rows) {
    if (times.size() == 0 || times[0].providers.size() < 2) {
        return;
    }
    put("\n{}\n", shaded("what ran the modules", shade::strong));
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
    for (std::size_t i = 0; i < std::min(rows, mixed.size()); ++i) {
        std::string parts;
        for (const auto& [name, time] : times[mixed[i]].providers) {
            parts += fmt::format("{}{} {} ms", parts.empty() ? "" : ", ", name, milliseconds(time));
        }
        put("  {}: {}\n", shortened(path_text(opened, mixed[i]), 50), parts);
    }
    print_rest(mixed.size(), rows);
}

void print_text(const profile_options& options, const stemma::attributed_model& opened,
                const stemma::module_times& times, const stemma::profile_source& source) {
    print_modules(options, opened, times);
    print_providers(opened, times, options.rows);
    const auto& rest = times.unmatched();
    if (!rest.empty()) {
        put("\n{}\n", shaded("times of no node of the model", shade::strong));
        for (std::size_t i = 0; i < std::min(options.rows, rest.size()); ++i) {
            put("  {:>10}  {}\n", milliseconds(rest[i].microseconds), shortened(rest[i].name, 80));
        }
        print_rest(rest.size(), options.rows);
    }
    put("{}\n",
        shaded(fmt::format(
                   "{} ms in {}{}; {}{}", milliseconds(times.total()), counted(times.runs(), "run"),
                   source.dropped > 0 ? fmt::format(" ({} dropped)", source.dropped) : "",
                   source.format,
                   times.fused() == 0 ? std::string()
                   : source.divided
                       ? fmt::format("; {} divided by cost", counted(times.fused(), "kernel"))
                       : fmt::format("; {} at the module that all of them are in",
                                     counted(times.fused(), "fused kernel"))),
               shade::dim));
}

/// The lines of programs that took most time.
void print_lines(const profile_options& options, const stemma::attributed_model& opened,
                 const stemma::module_times& times) {
    std::vector<id> nodes(opened.model().node_count());
    std::iota(nodes.begin(), nodes.end(), id{0});
    auto rows = stemma::group_by_line(opened, nodes, [&](id node) { return times.node(node); });
    const auto runs = static_cast<double>(std::max<std::size_t>(times.runs(), 1));
    if (options.common.format != "text") {
        const stemma::line_columns columns{
            {"microseconds", [](const stemma::line_row& row) { return std::llround(row.amount); }}};
        write_output(options.output, [&](auto& sink) {
            if (options.common.format == "json") {
                stemma::write_lines(sink, rows, opened, columns);
            } else {
                stemma::write_lines_csv(sink, rows, columns);
            }
        });
        return;
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.amount > b.amount; });
    put("{}\n", shaded(fmt::format("{:>10} {:>7} {:>7}  {}", "ms", "share", "nodes", "line"),
                       shade::strong));
    for (std::size_t i = 0; i < std::min(options.rows, rows.size()); ++i) {
        const auto& row = rows[i];
        put("{:>10} {:>5.1f} % {:>7}  {}\n", milliseconds(row.amount / runs),
            100 * row.amount / std::max(times.total(), 1e-9), grouped(row.nodes.size()),
            row.line == 0
                ? shaded("(unknown)", shade::dim)
                : shaded(shortened(stemma::to_text({row.file, row.line, row.function}), 60),
                         shade::name));
    }
    print_rest(rows.size(), options.rows);
}

int run_profile(const profile_options& options) {
    const auto opened = open_model(options.common);
    stemma::profile_source source{opened->model().file(), "", "", 0, options.divide};
    const auto measured = read_profiles(options, source);
    stemma::time_options how;
    std::optional<stemma::model_cost> cost;
    if (options.divide) {
        cost.emplace(stemma::find_cost(*opened));
        how.weight = [&](id node) { return cost->node_flops(node); };
    }
    const auto times = stemma::find_times(measured, *opened, how);
    const auto& modules = opened->modules();
    if (options.by == "line") {
        if (!options.to.empty()) {
            throw stemma::error(stemma::error_code::refused, "", "--by line", "is not for --to");
        }
        print_lines(options, *opened, times);
        return done;
    }
    if (options.to.empty()) {
        if (options.common.format == "text") {
            print_text(options, *opened, times, source);
            return done;
        }
        write_output(options.output, [&](auto& sink) {
            if (options.common.format == "json") {
                stemma::write_profile(sink, times, modules, source);
            } else {
                stemma::write_profile_csv(sink, times, modules);
            }
        });
        return done;
    }
    write_output(options.output, [&](auto& sink) {
        if (options.to == "flame") {
            stemma::write_flame_graph(sink, times, modules, source.model);
        } else if (options.to == "speedscope") {
            stemma::write_speedscope(sink, times, modules, source.model);
        } else if (options.to == "chrome") {
            stemma::write_chrome_trace(sink, times, modules);
        } else {
            stemma::write_explorer_overlay(sink, opened->model(),
                                           [&](id node) { return times.node(node); });
        }
    });
    return done;
}

} // namespace

void add_profile(CLI::App& app, action& chosen) {
    add_command<profile_options>(
        app, chosen, "profile", "say which modules the time of a profile went to", run_profile,
        [](command_line takes, profile_options& options) {
            takes.common(options.common, "text,json,csv");
            takes.argument(
                "PROFILE", options.files,
                "what a runtime measured: ONNX Runtime, TensorRT, OpenVINO, QNN, or CSV");
            takes.value("--warm-up", options.warm_up, "N",
                        "runs at the start of each profile that do not count; 1 where there are "
                        "several");
            takes.flag("--divide", options.divide,
                       "divide the time of fused nodes by their cost; else it is their common "
                       "module's");
            takes.choice("--by", options.by, "module|line",
                         "what the time is told of: modules, or lines of Python");
            takes.value("--depth", options.depth, "N", "text: show so many levels below the root");
            takes.value("--rows", options.rows, "N",
                        "text: rows of a list that are printed at most", "10");
            takes.choice("--to", options.to, "flame|speedscope|chrome|model-explorer",
                         "write a flame graph (SVG), a trace, or an overlay instead");
            takes.value("-o,--output", options.output.path, "OUT",
                        "where that goes; standard output without it");
            takes.footer("Examples:\n  stemma profile optimized.onnx onnxruntime_profile.json\n"
                         "  stemma profile model.onnx layers.json --divide --format json\n"
                         "  stemma profile optimized.onnx profile.json --to flame -o time.svg");
        });
}

} // namespace cli
