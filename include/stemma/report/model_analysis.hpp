// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_MODEL_ANALYSIS_HPP
#define STEMMA_REPORT_MODEL_ANALYSIS_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/find_non_convex.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/onnx/detail/weight_places.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/record/summary.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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
    json.key("confidence");
    json.begin_array(true);
    for (auto nodes : analysis.confidence) {
        json.value(nodes);
    }
    json.end_array();
    json.key("only_below");
    json.begin_array();
    for (const auto& [m, nodes] : analysis.only_below) {
        json.begin_object(true);
        json.member("module", modules.report_path(m));
        json.member("nodes", nodes);
        json.end_object();
    }
    json.end_array();
    json.key("modules");
    json.begin_array();
    for (auto m : rows) {
        json.begin_object(true);
        json.member("path", modules.report_path(m));
        json.member("class", modules.class_name(m));
        json.member("own_nodes", analysis.modules.own_nodes[m]);
        json.member("nodes", analysis.modules.nodes[m]);
        json.member("own_parameters", analysis.modules.own_parameters[m]);
        json.member("parameters", analysis.modules.parameters[m]);
        json.member("stored_parameters", analysis.modules.stored[m]);
        json.member("bytes", analysis.modules.bytes[m]);
        write_weights(json, analysis.modules.weights[m]);
        json.key("operators");
        json.begin_object(true);
        for (const auto& [op, count] : analysis.modules.operators[m]) {
            const auto domain = model.operator_domain(op);
            json.member((domain.empty() ? std::string() : std::string(domain) + "::") +
                            std::string(model.operator_type(op)),
                        count);
        }
        json.end_object();
        json.end_object();
    }
    json.end_array();
    const auto write_paths = [&](const char* key, std::span<const id> list) {
        json.key(key);
        json.begin_array(true);
        for (auto m : list) {
            json.value(modules.report_path(m));
        }
        json.end_array();
    };
    json.key("shared_weights");
    json.begin_array();
    for (const auto& one : analysis.shared) {
        json.begin_object(true);
        json.member("name", model.value_name(one.value));
        json.member("bytes", one.bytes);
        write_paths("modules", one.modules);
        json.end_object();
    }
    json.end_array();
    json.key("shared_parameters");
    json.begin_array();
    for (const auto& group : modules.shared_parameters()) {
        json.begin_array(true);
        for (const auto& path : group) {
            json.value(path);
        }
        json.end_array();
    }
    json.end_array();
    write_paths("without_nodes", analysis.without_nodes);
    json.key("non_convex");
    json.begin_array();
    for (const auto& one : analysis.non_convex) {
        json.begin_object(true);
        json.member("module", modules.report_path(one.module));
        json.key("witness");
        json.begin_array(true);
        for (auto node : one.witness) {
            json.value(position_text(model, node));
        }
        json.end_array();
        json.end_object();
    }
    json.end_array();
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_MODEL_ANALYSIS_HPP
