// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/cost/cost_report.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/report/analyze_model.hpp>
#include <stemma/report/line_table.hpp>
#include <stemma/types/polynomial.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

using stemma::id;

struct analyze_options {
    common_options common;
    std::string oracle;
    std::string filter;
    std::string table = "tags";
    std::size_t rows = 20;
    bool cost = false;
    std::vector<std::string> dims; // NAME=N
    std::string by = "module";
};

std::string node_text(const stemma::attributed_model& opened, id node) {
    const auto name = opened.model().name(node);
    return name.empty() ? stemma::position_text(opened.model(), node) : line_text(name);
}

std::string confidence_text(const stemma::model_analysis& analysis) {
    std::string text;
    for (std::size_t tenth = 0; tenth < analysis.confidence.size(); ++tenth) {
        if (const auto nodes = analysis.confidence[tenth]; nodes > 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                                tenth == 10 ? std::string("1") : fmt::format("0.{}+", tenth),
                                grouped(nodes));
        }
    }
    return text.empty() ? "none" : text;
}

/// Weights of the whole file: `parameter int8 15,968 (16.0 kB), scale float32 71 (284 B)`.
std::string weights_by_kind(const stemma::module_statistics& counts) {
    std::string text;
    for (const auto& count : counts.weights[0]) {
        text += fmt::format("{}{} {} {} ({})", text.empty() ? "" : ", ",
                            stemma::to_string(count.kind), stemma::data_type_name(count.data_type),
                            grouped(count.elements), stemma::bytes_text(count.bytes));
    }
    return text.empty() ? "none" : text;
}

void print_conflicts(const stemma::attributed_model& opened, const std::vector<id>& nodes,
                     std::size_t rows) {
    const auto& tags = opened.tags();
    std::size_t shown = 0;
    for (auto node : nodes) {
        const auto claims = tags.conflicts.of(node);
        if (claims.empty()) {
            continue;
        }
        if (++shown == 1) {
            put("\n{}\n", shaded("conflicts", shade::strong));
        }
        if (shown > rows) {
            continue;
        }
        put("  {}\n", shortened(node_text(opened, node), 98));
        for (const auto& one : claims) {
            put("    {} says {} ({:.2f})\n", opened.tags().provenances[one.source],
                shortened(path_text(opened, one.module), 70), one.confidence);
        }
    }
    print_rest(shown, rows);
}

/// The largest modules by weights, then by nodes.
void print_modules(const stemma::attributed_model& opened, const stemma::model_report& report,
                   std::size_t rows, bool whole) {
    auto order = report.modules;
    const auto& counts = report.analysis.modules;
    std::stable_sort(order.begin(), order.end(), [&](id a, id b) {
        return counts.bytes[a] != counts.bytes[b] ? counts.bytes[a] > counts.bytes[b]
                                                  : counts.nodes[a] > counts.nodes[b];
    });
    if (!whole) {
        put("\n{}", shaded("the modules with these nodes, as a whole", shade::strong));
    }
    put("\n{}\n", shaded(fmt::format("{:>9} {:>14} {:>9}  {}  {}", "nodes", "parameters", "size",
                                     fitted("operators", 26), "module"),
                         shade::strong));
    for (std::size_t i = 0; i < std::min(rows, order.size()); ++i) {
        const auto m = order[i];
        put("{:>9} {:>14} {:>9}  {}  {}\n", grouped(counts.nodes[m]), grouped(counts.parameters[m]),
            stemma::bytes_text(counts.bytes[m]),
            fitted(top_operators(opened.model(), counts.operators[m], 26), 26),
            shaded(shortened(path_text(opened, m), 36), shade::name));
    }
    if (order.size() > rows) {
        put("{:>64}and {} more modules\n", "", grouped(order.size() - rows));
    }
}

/// Prints a heading and lines, if there are any.
template <class List, class Line>
void print_list(std::string_view heading, const List& list, std::size_t rows, Line line) {
    if (list.empty()) {
        return;
    }
    put("\n{}\n", shaded(heading, shade::strong));
    print_first(list, rows, line);
}

void print_lists(const stemma::attributed_model& opened, const stemma::model_analysis& analysis,
                 std::size_t rows) {
    print_list("weights read by several modules", analysis.shared, rows, [&](const auto& one) {
        put("  {} ({})\n", shortened(opened.model().value_name(one.value), 80),
            stemma::bytes_text(one.bytes));
        for (auto m : one.modules) {
            put("    {}\n", shortened(path_text(opened, m), 96));
        }
    });
    print_list("shared parameters", opened.modules().shared_parameters(), rows,
               [&](const auto& group) {
                   for (const auto& path : group) {
                       put("  {}{}\n", &path == &group.front() ? "" : "  ", shortened(path, 96));
                   }
               });
    print_list("modules without nodes", analysis.without_nodes, rows,
               [&](id m) { put("  {}\n", shortened(path_text(opened, m), 98)); });
    print_list("modules that are not convex", analysis.non_convex, rows, [&](const auto& one) {
        put("  {}\n", shortened(path_text(opened, one.module), 98));
        const auto& way = one.witness;
        put("    leaves at {}\n", shortened(node_text(opened, way.front()), 85));
        put("    through   {}\n", shortened(node_text(opened, way[1]), 85));
        put("    returns to {}\n", shortened(node_text(opened, way.back()), 80));
    });
}

void print_text(const analyze_options& options, const stemma::attributed_model& opened,
                const stemma::model_report& report) {
    const auto& [nodes, modules, summary, analysis, captured] = report;
    if (!options.filter.empty()) {
        print_row("filter",
                  fmt::format("{}: {} of {}, and the modules with them", options.filter,
                              grouped(nodes.size()), counted(opened.model().node_count(), "node")));
    }
    // What is not about the nodes themselves says that it is of more than these.
    const bool whole = options.filter.empty();
    const std::string_view of_all = whole ? "" : "of the whole model: ";
    print_summary(summary, opened.model().node_count());
    print_row("scopes", fmt::format("path and class {}, path {}, operator only {}",
                                    grouped(summary.full_scope), grouped(summary.path_only),
                                    grouped(summary.name_only)));
    std::string dialects;
    for (const auto& [dialect, count] : summary.dialects) {
        dialects += fmt::format("{}{} {}", dialects.empty() ? "" : ", ", dialect, grouped(count));
    }
    for (const auto& one : captured) {
        print_row(std::string(stemma::to_string(one.source)),
                  fmt::format("{}claims for {} nodes, agrees {}, decides {}", of_all,
                              grouped(one.speaks_of), grouped(one.agrees), grouped(one.decides)));
    }
    print_row("dialects", dialects.empty() ? "none" : dialects);
    print_row("confidence", confidence_text(analysis));
    print_row("weights", std::string(of_all) + weights_by_kind(analysis.modules));
    put("\n{}\n", shaded(fmt::format("{:>9} {:>7}  {}", "nodes", "share", "tag"), shade::strong));
    std::size_t shown = 0;
    for (const auto& [tag, count] : summary.tags) {
        if (++shown > options.rows) {
            put("{:>9} {:>7}  and {} more tags\n", "", "",
                grouped(summary.tags.size() - options.rows));
            break;
        }
        put("{:>9} {:>5.1f} %  {}\n", grouped(count),
            100.0 * static_cast<double>(count) /
                static_cast<double>(std::max<std::size_t>(summary.nodes, 1)),
            shaded(shortened(tag, 80), shade::name));
    }
    print_list("known only to be in or below", analysis.only_below, options.rows,
               [&](const auto& one) {
                   put("{:>9}  {}\n", grouped(one.second),
                       shaded(shortened(path_text(opened, one.first), 88), shade::name));
               });
    print_modules(opened, report, options.rows, whole);
    if (whole) {
        print_lists(opened, analysis, options.rows);
    }
    print_conflicts(opened, nodes, options.rows);
}

/// Standard output as a sink for names.
struct names_output {
    void write(std::string_view text) { put_names(text); }
};

/// The most expensive modules, and what the numbers leave out.
void print_cost(const stemma::attributed_model& opened, const stemma::model_cost& cost,
                std::vector<id> order, const stemma::module_statistics& counts, std::size_t rows) {
    const auto flops = [&](id m) { return cost.estimate(m, stemma::cost_measure::flops); };
    std::stable_sort(order.begin(), order.end(), [&](id a, id b) { return flops(a) > flops(b); });
    order.resize(std::min(rows, order.size()));
    // One line per module if numbers are short; one line per number if they are formulas.
    const auto dims = cost.open_dims();
    if (dims.empty()) {
        put("{}\n",
            shaded(fmt::format("{:>9} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9}  {}", "MACs", "FLOPs",
                               "parameters", "weights", "in", "out", "peak", "module"),
                   shade::strong));
    }
    for (auto m : order) {
        const auto& one = cost[m];
        const auto text = [&](const stemma::polynomial& number) { return cost.short_text(number); };
        auto module = shaded(shortened(path_text(opened, m), 60), shade::name);
        if (one.unknown > 0) {
            module += fmt::format(", {} not counted", counted(one.unknown, "node"));
        }
        if (dims.empty()) {
            put("{:>9} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9}  {}\n", text(one.macs), text(one.flops),
                text(static_cast<std::int64_t>(counts.stored[m])),
                stemma::bytes_text(counts.bytes[m]), text(one.in), text(one.out), text(one.peak),
                module);
            continue;
        }
        put("{}\n", module);
        put("  MACs {}\n  FLOPs {}\n", text(one.macs), text(one.flops));
        put("  bytes in {}, out {}, peak {}; weights {}\n", text(one.in), text(one.out),
            text(one.peak), stemma::bytes_text(counts.bytes[m]));
    }
    const auto& all = cost[0];
    if (all.unknown > 0) {
        put("not counted: {} of unknown cost\n", counted(all.unknown, "node"));
    }
    for (const auto& [op, nodes] : cost.unlisted()) {
        put("  {}: no rule ({})\n", op, counted(nodes, "node"));
    }
    if (cost.unknown_values() > 0) {
        put("not counted: {} of unknown size\n", counted(cost.unknown_values(), "value"));
    }
    if (all.loops > 0) {
        put("counted as if run once: the bodies of {}\n", counted(all.loops, "loop"));
    }
    if (!dims.empty()) {
        put("not fixed: {}; set with --dim NAME=N\n", fmt::join(dims, ", "));
    }
}

void print_lines(const stemma::attributed_model& opened, std::vector<stemma::line_row> table,
                 const stemma::line_columns& columns, std::size_t rows) {
    std::stable_sort(table.begin(), table.end(),
                     [](const auto& a, const auto& b) { return a.amount > b.amount; });
    std::string head = fmt::format("{:>7}", "nodes");
    for (const auto& column : columns) {
        head += fmt::format(" {:>15}", column.first);
    }
    put("{}\n", shaded(head + "  line", shade::strong));
    print_first(table, rows, [&](const stemma::line_row& row) {
        std::string numbers = fmt::format("{:>7}", grouped(row.nodes.size()));
        for (const auto& column : columns) {
            numbers += fmt::format(" {:>15}", grouped(static_cast<std::uint64_t>(
                                                  std::max<std::int64_t>(column.second(row), 0))));
        }
        std::string operators;
        for (std::size_t k = 0; k < row.operators.size() && k < 4; ++k) {
            operators += fmt::format("{}{}", k == 0 ? "  " : ", ",
                                     opened.model().operator_type(row.operators[k].first));
        }
        put("{}  {}{}\n", numbers, source_text(row),
            shaded(operators + (row.operators.size() > 4 ? ", \xe2\x80\xa6" : ""), shade::dim));
    });
}

int analyze_cost(const analyze_options& options) {
    const auto opened = open_model(options.common);
    const auto cost = stemma::find_cost(*opened, cost_options_of(options.dims));
    const auto report = stemma::analyze_model(*opened, options.filter, "");
    const auto& counts = report.analysis.modules;
    const auto& modules = report.modules;
    if (options.common.format == "json") {
        standard_output out;
        stemma::write_json(out, cost, *opened, modules, counts);
    } else if (options.common.format == "csv") {
        names_output out;
        if (options.table == "nodes") {
            note_gaps(options.common, cost);
            stemma::write_csv(out, cost, *opened, report.nodes);
            return done;
        }
        stemma::write_csv(out, cost, *opened, modules, counts);
    } else {
        print_cost(*opened, cost, modules, counts, options.rows);
    }
    return done;
}

/// The source lines of nodes, most nodes first.
int analyze_lines(const analyze_options& options) {
    const auto opened = open_model(options.common);
    std::optional<stemma::model_cost> cost;
    stemma::line_columns columns;
    if (options.cost) {
        cost.emplace(stemma::find_cost(*opened, cost_options_of(options.dims)));
        const auto add = [&](const char* name, auto amount) {
            columns.emplace_back(name, [&cost, amount](const stemma::line_row& row) {
                double sum = 0;
                for (const auto node : row.nodes) {
                    sum += amount(*cost, node);
                }
                constexpr double most = 9.2e18;
                return static_cast<std::int64_t>(std::llround(std::min(sum, most)));
            });
        };
        add("macs", [](const auto& of, id node) { return of.node_macs(node); });
        add("flops", [](const auto& of, id node) { return of.node_flops(node); });
        note_gaps(options.common, *cost);
    }
    auto rows = stemma::group_by_line(*opened, options.filter,
                                      [&](id node) { return cost ? cost->node_flops(node) : 1.0; });
    if (print_json(options.common.format, rows, *opened, columns)) {
        return done;
    }
    if (options.common.format == "csv") {
        names_output out;
        stemma::write_csv(out, rows, columns);
        return done;
    }
    print_lines(*opened, std::move(rows), columns, options.rows);
    return done;
}

int analyze(const analyze_options& options) {
    if (options.by == "line") {
        return analyze_lines(options);
    }
    if (options.cost) {
        return analyze_cost(options);
    }
    const auto start = std::chrono::steady_clock::now();
    const auto opened = open_model(options.common);
    auto report = stemma::analyze_model(*opened, options.filter, options.oracle);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    report.summary.seconds = elapsed.count();
    if (options.common.format == "json") {
        standard_output out;
        stemma::write_json(out, report, *opened);
    } else if (options.common.format == "csv") {
        names_output out;
        stemma::write_csv(out,
                          stemma::parse_name<stemma::model_report::table>(options.table).value(),
                          report, *opened);
    } else {
        print_text(options, *opened, report);
    }
    return done;
}

} // namespace

void add_analyze(CLI::App& app, action& chosen) {
    add_command<analyze_options>(
        app, chosen, "analyze", "summarize what is known about a model, and on what evidence",
        analyze, [](command_line takes, analyze_options& options) {
            takes.common(options.common, "text,json,csv");
            takes.oracle(options.oracle);
            takes.value("--filter", options.filter, "QUERY",
                        "restrict to the nodes that match a query");
            takes
                .choice("--table", options.table, "tags,modules,operators,weights,below,nodes",
                        "what csv lists: tags, modules, operators, weights, below; with --cost "
                        "also nodes")
                ->type_name("T");
            takes.value("--rows", options.rows, "N", "maximum number of rows per table", "20");
            takes.choice("--by", options.by, "module|line",
                         "list by module and tag, or by line of Python");
            takes.flag("--cost", options.cost,
                       "print what modules cost: multiplications, weights, memory");
            takes.dims(options.dims, "fix a symbolic dimension, for --cost");
            takes.applies_to("--table", options.common, "csv");
            takes.applies("--table", "does not apply to --by line",
                          [&] { return options.by != "line"; });
            takes.applies("--table", "nodes requires --cost",
                          [&] { return options.table != "nodes" || options.cost; });
            takes.applies("--table", "of --cost lists modules or nodes", [&] {
                return !options.cost || options.table == "nodes" || options.table == "modules";
            });
            takes.applies_to("--rows", options.common, "text");
            takes.applies("--oracle", "does not apply to --cost or --by line",
                          [&] { return !options.cost && options.by != "line"; });
            takes.applies("--oracle", "does not apply to --format csv",
                          [&] { return options.common.format != "csv"; });
            takes.applies("--dim", "requires --cost", [&] { return options.cost; });
            takes.footer("Examples:\n  stemma analyze model.onnx\n"
                         "  stemma analyze model.onnx --cost --dim batch=1\n"
                         "  stemma analyze model.onnx -m modules.json --format json\n"
                         "  stemma analyze model.onnx --filter 'encoder and op:MatMul'\n"
                         "  stemma analyze model.onnx --format csv --table modules");
        });
}

} // namespace cli
