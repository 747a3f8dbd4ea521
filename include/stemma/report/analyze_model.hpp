// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_ANALYZE_MODEL_HPP
#define STEMMA_REPORT_ANALYZE_MODEL_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/parse_name.hpp>
#include <stemma/io/detail/csv_text.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/record/summary.hpp>
#include <stemma/report/model_analysis.hpp>
#include <stemma/report/summarize_model.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The report of `analyze` about a model or a part of it.
struct model_report {
    /// The CSV tables of a report.
    /// Names: `tags`, `modules`, `operators`, `weights` or `below`.
    enum class table : std::uint8_t {
        tags,      ///< nodes by primary tag, most first
        modules,   ///< nodes, parameters and bytes by module
        operators, ///< nodes by module and operator
        weights,   ///< elements and bytes by module, kind and type of weights
        below,     ///< nodes only known to be in or below a module
    };

    /// The contribution of one part of a capture.
    struct captured_share {
        provenance source = provenance::exported; ///< the part
        std::size_t speaks_of = 0;                ///< nodes with its claims
        std::size_t agrees = 0;                   ///< of these, in the module claimed
        std::size_t decides = 0;                  ///< of these, decided by it
    };

    std::vector<id> nodes;   ///< the analyzed ones, ascending
    std::vector<id> modules; ///< those with such nodes in or below them, in tree order;
                             ///< all if all nodes are analyzed
    tag_summary summary;     ///< of its nodes
    model_analysis analysis; ///< of its nodes, and of all modules
    std::vector<captured_share> captured; ///< by part of the capture, of all nodes
};

namespace detail {

/// Returns: the modules with some nodes in or below them, or `all`, in tree order.
/// Complexity: O(nodes + modules).
[[nodiscard]] inline std::vector<id> modules_with(std::span<const id> nodes,
                                                  const attributed_model& opened, bool all) {
    const auto& tree = opened.modules().index();
    std::vector<bool> holds(tree.size(), all);
    for (auto node : nodes) {
        holds[opened.tags().attributions[node].module] = true;
    }
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        holds[tree.parent(m)] = holds[tree.parent(m)] || holds[m];
    }
    std::vector<id> modules;
    for (id m = 0; m < tree.size(); ++m) {
        if (holds[m]) {
            modules.push_back(m);
        }
    }
    return modules;
}

} // namespace detail

/// Analyzes the nodes of a model that match a query, or all for "". `truth` is as for `summarize`.
/// Throws: as `find_nodes` and `summarize`.
/// Complexity: that of `find_nodes`, `summarize` and `analyze_modules`.
[[nodiscard]] inline model_report analyze_model(const attributed_model& opened,
                                                std::string_view nodes = {},
                                                const std::string& truth = {}) {
    model_report report;
    report.nodes = detail::asked_nodes(opened, nodes);
    report.modules = detail::modules_with(report.nodes, opened, nodes.empty());
    report.summary = summarize(opened, report.nodes, truth);
    report.analysis = detail::analyze_modules(opened.model(), opened.operators().graph(),
                                              opened.modules(), opened.tags(), report.nodes);
    for (const auto& table : opened.captured()) {
        model_report::captured_share share{table.source, table.count(), 0, 0};
        for (id node = 0; node < table.of.size(); ++node) {
            const auto& attributed = opened.tags().attributions[node];
            share.decides += attributed.source == table.source ? 1U : 0U;
            share.agrees += table.of[node].module == attributed.module ? 1U : 0U;
        }
        report.captured.push_back(share);
    }
    return report;
}

/// Writes a report (`stemma.summary/1`, with `analysis`). Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, const model_report& report, const attributed_model& opened) {
    json_writer json(sink);
    json.begin_object();
    json.member("schema", "stemma.summary/1");
    write_json(json, report.summary);
    json.key("analysis");
    json.begin_object();
    detail::write_analysis(json, report.analysis, opened.model(), opened.modules(), report.modules);
    json.end_object();
    json.end_object();
    json.finish();
}

namespace detail {

template <>
inline constexpr std::array<std::string_view, 5> names_of_values<model_report::table>{
    "tags", "modules", "operators", "weights", "below"};

} // namespace detail

/// Writes one table of a report with a header row, restricted to the analyzed modules.
/// Complexity: O(length).
template <text_sink Sink>
void write_csv(Sink& sink, model_report::table which, const model_report& report,
               const attributed_model& opened) {
    const auto& counts = report.analysis.modules;
    const auto path = [&](id m) { return opened.modules().path(m); };
    switch (which) {
    case model_report::table::tags:
        sink.write("tag,nodes\n");
        for (const auto& [tag, nodes] : report.summary.tags) {
            sink.write(detail::csv_row(tag, nodes));
        }
        return;
    case model_report::table::modules:
        sink.write("module,class,own_nodes,nodes,own_parameters,parameters,bytes\n");
        for (auto m : report.modules) {
            sink.write(detail::csv_row(path(m), opened.modules().class_name(m), counts.own_nodes[m],
                                       counts.nodes[m], counts.own_parameters[m],
                                       counts.parameters[m], counts.bytes[m]));
        }
        return;
    case model_report::table::operators:
        sink.write("module,domain,operator,nodes\n");
        for (auto m : report.modules) {
            for (const auto& [op, count] : counts.operators[m]) {
                sink.write(detail::csv_row(path(m), opened.model().operator_domain(op),
                                           opened.model().operator_type(op), count));
            }
        }
        return;
    case model_report::table::weights:
        sink.write("module,kind,type,elements,bytes\n");
        for (auto m : report.modules) {
            for (const auto& count : counts.weights[m]) {
                sink.write(detail::csv_row(path(m), to_string(count.kind),
                                           data_type_name(count.data_type), count.elements,
                                           count.bytes));
            }
        }
        return;
    case model_report::table::below:
        sink.write("module,nodes\n");
        for (const auto& [m, nodes] : report.analysis.only_below) {
            sink.write(detail::csv_row(path(m), nodes));
        }
        return;
    }
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_ANALYZE_MODEL_HPP
