// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace cli {

namespace {

using stemma::id;

struct analyze_options {
    common_options common;
    std::string oracle;
    std::size_t rows = 20;
};

void print_conflicts(const stemma::attributed_model& opened, std::size_t rows) {
    const auto& found = opened.tags();
    if (found.conflicts.size() == 0) {
        return;
    }
    fmt::print("\n{}\n", shaded("conflicts", shade::strong));
    std::size_t shown = 0;
    found.conflicts.for_each([&](id node, std::span<const stemma::claim> claims) {
        if (++shown > rows) {
            return;
        }
        fmt::print("  {}\n", opened.model().name(node));
        for (const auto& one : claims) {
            fmt::print("    {} says {} ({:.2f})\n", stemma::to_string(one.source),
                       opened.modules().path(one.module), one.confidence);
        }
    });
    if (shown > rows) {
        fmt::print("  and {} more\n", grouped(shown - rows));
    }
}

void print_text(const analyze_options& options, const stemma::attributed_model& opened,
                const stemma::tag_summary& summary) {
    print_summary(summary);
    print_row("scopes", fmt::format("path and class {}, path {}, operator only {}",
                                    grouped(summary.full_scope), grouped(summary.path_only),
                                    grouped(summary.name_only)));
    std::string dialects;
    for (const auto& [dialect, nodes] : summary.dialects) {
        dialects += fmt::format("{}{} {}", dialects.empty() ? "" : ", ", dialect, grouped(nodes));
    }
    print_row("dialects", dialects.empty() ? "none" : dialects);
    fmt::print("\n{}\n",
               shaded(fmt::format("{:>9} {:>7}  {}", "nodes", "share", "tag"), shade::strong));
    std::size_t shown = 0;
    for (const auto& [tag, nodes] : summary.tags) {
        if (++shown > options.rows) {
            fmt::print("{:>9} {:>7}  and {} more tags\n", "", "",
                       grouped(summary.tags.size() - options.rows));
            break;
        }
        fmt::print("{:>9} {:>5.1f} %  {}\n", grouped(nodes),
                   100.0 * static_cast<double>(nodes) /
                       static_cast<double>(std::max<std::size_t>(summary.nodes, 1)),
                   shaded(width_of(tag) > 80 ? fitted(tag, 80) : tag, shade::name));
    }
    print_conflicts(opened, options.rows);
}

void print_csv(const stemma::tag_summary& summary) {
    fmt::print("tag,nodes\n");
    for (const auto& [tag, nodes] : summary.tags) {
        std::string quoted = tag;
        if (tag.find_first_of(",\"\n") != tag.npos) {
            quoted = "\"";
            for (char c : tag) {
                quoted.append(c == '"' ? "\"\"" : std::string(1, c));
            }
            quoted.push_back('"');
        }
        fmt::print("{},{}\n", quoted, nodes);
    }
}

int analyze(const analyze_options& options) {
    const auto start = std::chrono::steady_clock::now();
    const auto opened = open_model(options.common);
    auto summary = summarize(*opened, options.oracle);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    summary.seconds = taken.count();
    if (options.common.format == "json") {
        print_summary_json(summary);
    } else if (options.common.format == "csv") {
        print_csv(summary);
    } else {
        print_text(options, *opened, summary);
    }
    return done;
}

} // namespace

void add_analyze(CLI::App& app, action& chosen) {
    auto options = std::make_shared<analyze_options>();
    auto& command = *app.add_subcommand(
        "analyze", "say how much is known of where the nodes came from, and how");
    add_common_options(command, options->common, "text,json,csv");
    command
        .add_option("--oracle", options->oracle,
                    "compare with the truth in a file, or with one source of evidence")
        ->type_name("TRUTH|SOURCE");
    command.add_option("--rows", options->rows, "rows of a table that are printed at most")
        ->type_name("N")
        ->default_str("20");
    command.footer("Examples:\n  stemma analyze model.onnx\n"
                   "  stemma analyze model.onnx -m modules.json --format json");
    command.callback([&chosen, options] { chosen = [options] { return analyze(*options); }; });
}

} // namespace cli
