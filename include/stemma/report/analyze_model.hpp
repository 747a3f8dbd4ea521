// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_ANALYZE_MODEL_HPP
#define STEMMA_REPORT_ANALYZE_MODEL_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/parse_name.hpp>
#include <stemma/cut/find_non_convex.hpp>
#include <stemma/io/detail/csv_text.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/onnx/detail/weight_places.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/record/summary.hpp>
#include <stemma/report/summarize_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// An analysis of a model's modules, complementing the summary.
struct model_analysis {
    /// A weight read in several modules.
    struct shared_weight {
        id value = no_id;        ///< the initializer, or the output of a Constant
        std::uint64_t bytes = 0; ///< of its data
        std::vector<id> modules; ///< the deepest ones, ascending
    };

    std::array<std::size_t, 11> confidence{};           ///< nodes by tenths; the last one: 1
    std::vector<std::pair<id, std::size_t>> only_below; ///< module, and how many nodes are known
                                                        ///< only to be in or below it; most first
    module_statistics modules;                          ///< counts by module
    std::vector<shared_weight> shared;                  ///< in file order
    std::vector<id> without_nodes;             ///< the topmost modules without nodes in or below
    std::vector<non_convex_module> non_convex; ///< in the order of the tree
};

namespace detail {

/// Analyzes the modules of a model and some `nodes`. `graph` is the flat graph of the model.
/// Complexity: that of `collect_statistics` and of `find_non_convex_modules`.
[[nodiscard]] inline model_analysis
analyze_modules(const wire_model& model, const operator_graph& graph, const module_tree& modules,
                const tagging& tagged, std::span<const id> nodes) {
    model_analysis result;
    std::vector<std::size_t> below(modules.size());
    for (auto node : nodes) {
        below[tagged.attributions[node].module] +=
            is_only_below(tagged.attributions[node]) ? 1U : 0U;
        const auto tenth =
            static_cast<std::size_t>(tagged.attributions[node].confidence * 10 + 1e-4F);
        ++result.confidence[std::min<std::size_t>(tenth, 10)];
    }
    for (id m = 0; m < modules.size(); ++m) {
        if (below[m] > 0) {
            result.only_below.emplace_back(m, below[m]);
        }
    }
    std::stable_sort(result.only_below.begin(), result.only_below.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    const auto weights = find_weights(model);
    const auto places = place_weights(model, modules, tagged, weights);
    result.modules = collect_statistics(model, modules, tagged, weights, places.module);
    for (std::size_t w = 0; w < weights.size(); ++w) {
        if (weights[w].kind == weight_kind::parameter && weights[w].elements > 1 &&
            places.readers[w].size() > 1) {
            const auto readers = places.readers[w];
            auto apart = range::each_once(std::vector<id>(readers.begin(), readers.end()));
            if (apart.size() > 1) {
                result.shared.push_back({weights[w].value, weights[w].bytes, std::move(apart)});
            }
        }
    }
    for (id m = 0; m < modules.size();) {
        const bool empty = result.modules.nodes[m] == 0;
        if (empty) {
            result.without_nodes.push_back(m);
        }
        m = empty ? modules.index().end(m) : m + 1;
    }
    const auto dependences = find_dependence(model, find_random_operators(model));
    std::vector<bool> apart(model.node_count());
    for (id node = 0; node < model.node_count(); ++node) {
        apart[node] = dependences[node] <= dependence::weight;
    }
    result.non_convex =
        find_non_convex_modules(graph, modules.index(), tagged.attributions, std::move(apart));
    return result;
}

/// Writes the members of an analysis into an open object, with the modules in `rows`.
/// Complexity: O(length).
template <text_sink Sink>
void write_analysis(json_writer<Sink>& json, const model_analysis& analysis,
                    const wire_model& model, const module_tree& modules, std::span<const id> rows) {
    json.values("confidence", analysis.confidence);
    json.objects("only_below", analysis.only_below, [&](const auto& pair) {
        const auto& [m, nodes] = pair;
        json.member("module", modules.report_path(m));
        json.member("nodes", nodes);
    });
    json.objects("modules", rows, [&](auto m) {
        json.member("path", modules.report_path(m));
        json.member("class", modules.class_name(m));
        json.member("own_nodes", analysis.modules.own_nodes[m]);
        json.member("nodes", analysis.modules.nodes[m]);
        json.member("own_parameters", analysis.modules.own_parameters[m]);
        json.member("parameters", analysis.modules.parameters[m]);
        json.member("stored_parameters", analysis.modules.stored[m]);
        json.member("bytes", analysis.modules.bytes[m]);
        write_weights(json, analysis.modules.weights[m]);
        json.object("operators", [&] {
            for (const auto& [op, count] : analysis.modules.operators[m]) {
                const auto domain = model.operator_domain(op);
                json.member((domain.empty() ? std::string() : std::string(domain) + "::") +
                                std::string(model.operator_type(op)),
                            count);
            }
        });
    });
    const auto write_paths = [&](const char* key, std::span<const id> list) {
        json.values(key, list, [&](auto m) { return modules.report_path(m); });
    };
    json.objects("shared_weights", analysis.shared, [&](const auto& one) {
        json.member("name", model.value_name(one.value));
        json.member("bytes", one.bytes);
        write_paths("modules", one.modules);
    });
    json.list("shared_parameters", modules.shared_parameters(), [&](const auto& group) {
        json.begin_array(true);
        for (const auto& path : group) {
            json.value(path);
        }
        json.end_array();
    });
    write_paths("without_nodes", analysis.without_nodes);
    json.objects("non_convex", analysis.non_convex, [&](const auto& one) {
        json.member("module", modules.report_path(one.module));
        json.values("witness", one.witness, [&](auto node) { return position_text(model, node); });
    });
}

} // namespace detail

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
    detail::write_document(sink, "stemma.summary/1", [&](auto& json) {
        write_json(json, report.summary);
        json.key("analysis");
        json.begin_object();
        detail::write_analysis(json, report.analysis, opened.model(), opened.modules(),
                               report.modules);
        json.end_object();
    });
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
