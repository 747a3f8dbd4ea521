// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_LINE_TABLE_HPP
#define STEMMA_REPORT_LINE_TABLE_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/report/analyze_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The nodes of one source line.
struct line_row {
    std::string file;                                    ///< "" for nodes without a line
    std::uint32_t line = 0;                              ///< from 1; 0 for those
    std::string function;                                ///< "" where unknown
    std::vector<id> nodes;                               ///< ascending
    std::vector<std::pair<id, std::size_t>> operators{}; ///< by number, most first
    std::vector<id> modules{};                           ///< the deepest ones, in tree order
    double amount = 0; ///< number of nodes, or the sum of `amount_of`
};

/// Returns: the nodes that match a query, or all for "", by source line, sorted by file and line,
/// nodes without a line last. `amount_of(node)` is summed per line.
/// Throws: as `find_nodes`. Complexity: O(nodes log nodes), and that of `find_nodes` and of
/// `attributed_model::lines`.
[[nodiscard]] inline std::vector<line_row>
group_by_line(const attributed_model& opened, std::string_view nodes = {},
              const std::function<double(id)>& amount_of = {}) {
    const auto& lines = opened.lines();
    std::map<std::pair<std::string_view, std::uint32_t>, line_row> rows;
    line_row unknown;
    for (const auto node : detail::asked_nodes(opened, nodes)) {
        const auto at = lines.of(node);
        auto& row = at ? rows[{at->file, at->line}] : unknown;
        if (at && row.nodes.empty()) {
            row.file = at->file;
            row.line = at->line;
            row.function = at->function;
        }
        row.nodes.push_back(node);
        row.amount += amount_of ? amount_of(node) : 1;
    }
    std::vector<line_row> all;
    for (auto& [place, row] : rows) {
        all.push_back(std::move(row));
    }
    if (!unknown.nodes.empty()) {
        all.push_back(std::move(unknown));
    }
    for (auto& row : all) {
        std::map<id, std::size_t> counts;
        for (const auto node : row.nodes) {
            ++counts[opened.model().operator_id(node)];
            row.modules.push_back(opened.tags().attributions[node].module);
        }
        row.operators.assign(counts.begin(), counts.end());
        std::stable_sort(row.operators.begin(), row.operators.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        row.modules = detail::range::each_once(std::move(row.modules));
    }
    return all;
}

/// Further numbers of a row, by name.
using line_columns =
    std::vector<std::pair<std::string, std::function<std::int64_t(const line_row&)>>>;

/// Writes such rows (`stemma.lines/1`). Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, std::span<const line_row> rows, const attributed_model& opened,
                const line_columns& columns = {}) {
    detail::write_document(sink, "stemma.lines/1", [&](auto& json) {
        json.member("model", opened.model().file());
        json.objects("lines", rows, [&](const auto& row) {
            json.key("file");
            row.line == 0 ? json.null() : json.value(row.file);
            json.key("line");
            row.line == 0 ? json.null() : json.value(row.line);
            json.member("function", row.function);
            json.member("nodes", row.nodes.size());
            for (const auto& [name, amount] : columns) {
                json.member(name, amount(row));
            }
            json.flat_list("operators", row.operators, [&](const auto& pair) {
                const auto& [op, count] = pair;
                json.begin_object(true);
                json.member("op_type", opened.model().operator_type(op));
                json.member("nodes", count);
                json.end_object();
            });
            json.values("modules", row.modules,
                        [&](const auto m) { return opened.modules().report_path(m); });
        });
    });
}

/// Writes the same as CSV. Complexity: O(length).
template <text_sink Sink>
void write_csv(Sink& sink, std::span<const line_row> rows, const line_columns& columns = {}) {
    std::string head = "file,line,function,nodes";
    for (const auto& column : columns) {
        head.append(",").append(column.first);
    }
    sink.write(head.append("\n"));
    for (const auto& row : rows) {
        auto text = detail::csv_row(row.file, row.line, row.function, row.nodes.size());
        text.pop_back();
        for (const auto& column : columns) {
            text.append(",").append(std::to_string(column.second(row)));
        }
        sink.write(text.append("\n"));
    }
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_LINE_TABLE_HPP
