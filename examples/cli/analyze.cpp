// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <stemma/core/query.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/model_analysis.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
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
};

/// What of a model is looked at.
struct analyzed_part {
    std::vector<id> nodes;
    std::vector<id> modules; ///< those with nodes that are looked at, in or below them
};

analyzed_part find_part(const analyze_options& options, const stemma::attributed_model& opened) {
    analyzed_part part;
    const auto& tree = opened.modules().index();
    if (options.filter.empty()) {
        part.nodes.resize(opened.model().node_count());
        std::iota(part.nodes.begin(), part.nodes.end(), id{0});
        part.modules.resize(tree.size());
        std::iota(part.modules.begin(), part.modules.end(), id{0});
        return part;
    }
    part.nodes = find_nodes(opened, options.filter);
    std::vector<bool> holds(tree.size(), false);
    for (auto node : part.nodes) {
        holds[opened.tags().attributions[node].module] = true;
    }
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        holds[tree.parent(m)] = holds[tree.parent(m)] || holds[m];
    }
    for (id m = 0; m < tree.size(); ++m) {
        if (holds[m]) {
            part.modules.push_back(m);
        }
    }
    return part;
}

std::string path_text(const stemma::attributed_model& opened, id m) {
    return m == 0 ? std::string("the root") : opened.modules().path(m);
}

std::string node_text(const stemma::attributed_model& opened, id node) {
    const auto name = opened.model().name(node);
    return name.empty() ? position_text(opened.model(), node) : std::string(name);
}

/// Texts that are too long lose their middle.
std::string shortened(const std::string& text, std::size_t width) {
    return width_of(text) > width ? fitted(text, width) : text;
}

void print_rest(std::size_t count, std::size_t rows) {
    if (count > rows) {
        put("  and {} more\n", grouped(count - rows));
    }
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

/// What the whole file holds: `parameter int8 15,968 (16.0 kB), scale float32 71 (284 B)`.
std::string weights_by_kind(const stemma::module_statistics& counts) {
    std::string text;
    for (const auto& count : counts.weights[0]) {
        text += fmt::format("{}{} {} {} ({})", text.empty() ? "" : ", ",
                            stemma::to_string(count.kind), stemma::data_type_name(count.data_type),
                            grouped(count.elements), stemma::bytes_text(count.bytes));
    }
    return text.empty() ? "none" : text;
}

void print_conflicts(const stemma::attributed_model& opened, const analyzed_part& part,
                     std::size_t rows) {
    const auto& found = opened.tags();
    std::size_t shown = 0;
    for (auto node : part.nodes) {
        const auto claims = found.conflicts.of(node);
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
            put("    {} says {} ({:.2f})\n", stemma::to_string(one.source),
                shortened(path_text(opened, one.module), 70), one.confidence);
        }
    }
    print_rest(shown, rows);
}

/// The largest modules by weights, then by nodes.
void print_modules(const stemma::attributed_model& opened, const analyzed_part& part,
                   const stemma::model_analysis& analysis, std::size_t rows) {
    auto order = part.modules;
    const auto& counts = analysis.modules;
    std::stable_sort(order.begin(), order.end(), [&](id a, id b) {
        return analysis.modules.bytes[a] != analysis.modules.bytes[b]
                   ? analysis.modules.bytes[a] > analysis.modules.bytes[b]
                   : counts.nodes[a] > counts.nodes[b];
    });
    put("\n{}\n", shaded(fmt::format("{:>9} {:>14} {:>9}  {}  {}", "nodes", "parameters", "size",
                                     fitted("operators", 26), "module"),
                         shade::strong));
    for (std::size_t i = 0; i < std::min(rows, order.size()); ++i) {
        const auto m = order[i];
        put("{:>9} {:>14} {:>9}  {}  {}\n", grouped(counts.nodes[m]), grouped(counts.parameters[m]),
            stemma::bytes_text(analysis.modules.bytes[m]),
            fitted(top_operators(opened.model(), counts.operators[m], 26), 26),
            shaded(shortened(path_text(opened, m), 36), shade::name));
    }
    if (order.size() > rows) {
        put("{:>64}and {} more modules\n", "", grouped(order.size() - rows));
    }
}

/// Prints a heading and some lines below it, unless there are none.
template <class List, class Line>
void print_list(std::string_view heading, const List& list, std::size_t rows, Line line) {
    if (list.empty()) {
        return;
    }
    put("\n{}\n", shaded(heading, shade::strong));
    for (std::size_t i = 0; i < std::min<std::size_t>(rows, list.size()); ++i) {
        line(list[i]);
    }
    print_rest(list.size(), rows);
}

void print_lists(const stemma::attributed_model& opened, const stemma::model_analysis& analysis,
                 std::size_t rows) {
    print_list("weights that several modules read", analysis.shared, rows, [&](const auto& one) {
        put("  {} ({})\n", shortened(std::string(opened.model().value_name(one.value)), 80),
            stemma::bytes_text(one.bytes));
        for (auto m : one.modules) {
            put("    {}\n", shortened(path_text(opened, m), 96));
        }
    });
    print_list("parameters that are one", opened.modules().shared_parameters(), rows,
               [&](const auto& group) {
                   for (const auto& path : group) {
                       put("  {}{}\n", &path == &group.front() ? "" : "  ", shortened(path, 96));
                   }
               });
    print_list("modules that own no node", analysis.without_nodes, rows,
               [&](id m) { put("  {}\n", shortened(path_text(opened, m), 98)); });
    print_list("modules that are not convex", analysis.non_convex, rows, [&](const auto& one) {
        put("  {}\n", shortened(path_text(opened, one.module), 98));
        const auto& way = one.witness;
        put("    leaves at {}\n", shortened(node_text(opened, way.front()), 85));
        put("    through   {}\n", shortened(node_text(opened, way[1]), 85));
        put("    comes back to {}\n", shortened(node_text(opened, way.back()), 80));
    });
}

/// Says of each part of the capture how many nodes it speaks of, and for how many its word counts.
void print_captured(const stemma::attributed_model& opened) {
    for (const auto& table : opened.captured()) {
        std::size_t decided = 0;
        std::size_t agreed = 0;
        for (id node = 0; node < table.of.size(); ++node) {
            const auto& made = opened.tags().attributions[node];
            decided += made.source == table.source ? 1U : 0U;
            agreed += table.of[node].module == made.module ? 1U : 0U;
        }
        print_row(std::string(stemma::to_string(table.source)),
                  fmt::format("speaks of {} nodes, as decided {}, decides {}",
                              grouped(table.count()), grouped(agreed), grouped(decided)));
    }
}

void print_text(const analyze_options& options, const stemma::attributed_model& opened,
                const analyzed_part& part, const stemma::tag_summary& summary,
                const stemma::model_analysis& analysis) {
    print_summary(summary);
    print_row("scopes", fmt::format("path and class {}, path {}, operator only {}",
                                    grouped(summary.full_scope), grouped(summary.path_only),
                                    grouped(summary.name_only)));
    std::string dialects;
    for (const auto& [dialect, nodes] : summary.dialects) {
        dialects += fmt::format("{}{} {}", dialects.empty() ? "" : ", ", dialect, grouped(nodes));
    }
    print_captured(opened);
    print_row("dialects", dialects.empty() ? "none" : dialects);
    print_row("confidence", confidence_text(analysis));
    print_row("weights", weights_by_kind(analysis.modules));
    put("\n{}\n", shaded(fmt::format("{:>9} {:>7}  {}", "nodes", "share", "tag"), shade::strong));
    std::size_t shown = 0;
    for (const auto& [tag, nodes] : summary.tags) {
        if (++shown > options.rows) {
            put("{:>9} {:>7}  and {} more tags\n", "", "",
                grouped(summary.tags.size() - options.rows));
            break;
        }
        put("{:>9} {:>5.1f} %  {}\n", grouped(nodes),
            100.0 * static_cast<double>(nodes) /
                static_cast<double>(std::max<std::size_t>(summary.nodes, 1)),
            shaded(width_of(tag) > 80 ? fitted(tag, 80) : tag, shade::name));
    }
    print_list("known only to be somewhere in or below", analysis.only_below, options.rows,
               [&](const auto& one) {
                   put("{:>9}  {}\n", grouped(one.second),
                       shaded(shortened(path_text(opened, one.first), 88), shade::name));
               });
    print_modules(opened, part, analysis, options.rows);
    if (options.filter.empty()) {
        print_lists(opened, analysis, options.rows);
    }
    print_conflicts(opened, part, options.rows);
}

std::string csv_text(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == text.npos) {
        return text;
    }
    std::string quoted = "\"";
    for (char c : text) {
        quoted.append(c == '"' ? "\"\"" : std::string(1, c));
    }
    return quoted.append("\"");
}

void print_csv(const analyze_options& options, const stemma::attributed_model& opened,
               const analyzed_part& part, const stemma::tag_summary& summary,
               const stemma::model_analysis& analysis) {
    if (options.table == "tags") {
        put_names("tag,nodes\n");
        for (const auto& [tag, nodes] : summary.tags) {
            put_names(fmt::format("{},{}\n", csv_text(tag), nodes));
        }
    } else if (options.table == "modules") {
        put_names("module,class,own_nodes,nodes,own_parameters,parameters,bytes\n");
        const auto& counts = analysis.modules;
        for (auto m : part.modules) {
            put_names(fmt::format("{},{},{},{},{},{},{}\n", csv_text(opened.modules().path(m)),
                                  csv_text(std::string(opened.modules().class_name(m))),
                                  counts.own_nodes[m], counts.nodes[m], counts.own_parameters[m],
                                  counts.parameters[m], analysis.modules.bytes[m]));
        }
    } else if (options.table == "below") {
        put_names("module,nodes\n");
        for (const auto& [m, nodes] : analysis.only_below) {
            put_names(fmt::format("{},{}\n", csv_text(opened.modules().path(m)), nodes));
        }
    } else if (options.table == "weights") {
        put_names("module,kind,type,elements,bytes\n");
        for (auto m : part.modules) {
            for (const auto& count : analysis.modules.weights[m]) {
                put_names(fmt::format("{},{},{},{},{}\n", csv_text(opened.modules().path(m)),
                                      stemma::to_string(count.kind),
                                      stemma::data_type_name(count.data_type), count.elements,
                                      count.bytes));
            }
        }
    } else {
        put_names("module,domain,operator,nodes\n");
        for (auto m : part.modules) {
            for (const auto& [op, count] : analysis.modules.operators[m]) {
                put_names(fmt::format("{},{},{},{}\n", csv_text(opened.modules().path(m)),
                                      csv_text(std::string(opened.model().operator_domain(op))),
                                      csv_text(std::string(opened.model().operator_type(op))),
                                      count));
            }
        }
    }
}

void print_json(const stemma::attributed_model& opened, const analyzed_part& part,
                const stemma::tag_summary& summary, const stemma::model_analysis& analysis) {
    standard_output out;
    stemma::json_writer json(out);
    json.begin_object();
    json.member("schema", "stemma.summary/1");
    stemma::write_summary(json, summary);
    json.key("analysis");
    json.begin_object();
    stemma::write_analysis(json, analysis, opened.model(), opened.modules(), part.modules);
    json.end_object();
    json.end_object();
    json.finish();
}

int analyze(const analyze_options& options) {
    const auto start = std::chrono::steady_clock::now();
    const auto opened = open_model(options.common);
    const auto part = find_part(options, *opened);
    auto summary = summarize(*opened, options.oracle, part.nodes);
    const auto analysis = stemma::analyze_modules(opened->model(), opened->operators().graph(),
                                                  opened->modules(), opened->tags(), part.nodes);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    summary.seconds = taken.count();
    if (options.common.format == "json") {
        print_json(*opened, part, summary, analysis);
    } else if (options.common.format == "csv") {
        print_csv(options, *opened, part, summary, analysis);
    } else {
        print_text(options, *opened, part, summary, analysis);
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
    command.add_option("--filter", options->filter, "look only at the nodes that fit a query")
        ->type_name("QUERY");
    command
        .add_option("--table", options->table,
                    "what csv lists: tags, modules, operators, weights, below")
        ->type_name("T")
        ->check(CLI::IsMember({"tags", "modules", "operators", "weights", "below"}))
        ->default_str("tags");
    command.add_option("--rows", options->rows, "rows of a table that are printed at most")
        ->type_name("N")
        ->default_str("20");
    command.footer("Examples:\n  stemma analyze model.onnx\n"
                   "  stemma analyze model.onnx -m modules.json --format json\n"
                   "  stemma analyze model.onnx --filter 'encoder and op:MatMul'\n"
                   "  stemma analyze model.onnx --format csv --table modules");
    command.callback([&chosen, options] { chosen = [options] { return analyze(*options); }; });
}

} // namespace cli
