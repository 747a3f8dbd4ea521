// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_SUMMARY_HPP
#define STEMMA_RECORD_SUMMARY_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/dialect.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/accuracy.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Whether a node's module is meaningful: below the root, or the root with confidence (0.8 and
/// more) rather than for lack of information.
[[nodiscard]] constexpr bool is_tagged(const attribution& attributed) noexcept {
    return attributed.module != 0 || attributed.confidence >= detail::confidence::sure_of_root;
}

/// Whether a node is only known to be in its module or below: a common ancestor (0.5 and less), or
/// not tagged.
[[nodiscard]] constexpr bool is_only_below(const attribution& attributed) noexcept {
    return attributed.confidence <= detail::confidence::common_ancestor || !is_tagged(attributed);
}

} // namespace detail

/// Statistics of a tagged model as a whole (`stemma.summary/1`).
struct tag_summary {
    std::string model;             ///< how to refer to it: its path, say
    std::size_t nodes = 0;         ///< examined
    std::size_t tagged = 0;        ///< of them, see `is_tagged`; 0 if nothing names a module
    std::size_t values = 0;        ///< of the whole model
    std::size_t values_tagged = 0; ///< of them, with a tag
    std::size_t initializers = 0;  ///< among the values
    std::size_t modules = 0;       ///< of the tree
    std::size_t conflicts = 0;     ///< nodes with disputed claims
    std::size_t dropped = 0;       ///< nodes whose claims were dropped

    provenance_names provenances; ///< of the sources queried
    /// Numbers of nodes, by provenance.
    std::vector<std::size_t> provenance = std::vector<std::size_t>(detail::provenance_count);
    std::vector<std::pair<std::string, std::size_t>> tags; ///< primary tag and nodes, most first
    std::map<std::string, std::size_t> dialects;           ///< nodes by name of the dialect
    std::size_t full_scope = 0;             ///< nodes whose metadata or name gives path and class
    std::size_t path_only = 0;              ///< nodes whose name gives a path
    std::size_t name_only = 0;              ///< nodes that reveal only their operator
    std::optional<accuracy> against_oracle; ///< if there is an oracle
    std::vector<std::pair<std::string, accuracy>> oracle_modules; ///< by true module
    double seconds = 0;                                           ///< time taken

    /// Returns: the share of `nodes` that are `tagged`; 1 if there are none.
    [[nodiscard]] double coverage() const noexcept {
        return nodes == 0 ? 1 : static_cast<double>(tagged) / static_cast<double>(nodes);
    }
};

/// Summarizes some nodes of a model, and its values. Complexity: O(nodes + values + length of the
/// tags).
[[nodiscard]] inline tag_summary summarize(const onnx_model& model, const module_tree& modules,
                                           const tagging& tagged, const dialect_report& dialects,
                                           std::span<const id> nodes) {
    tag_summary summary;
    summary.nodes = nodes.size();
    summary.values = model.value_count();
    summary.values_tagged = model.value_count();
    summary.modules = modules.size();
    summary.dropped = tagged.dropped;
    summary.provenances = tagged.provenances;
    summary.provenance.resize(tagged.provenances.size());
    for (id value = 0; value < model.value_count(); ++value) {
        summary.initializers += model.is_initializer(value) ? 1U : 0U;
    }
    const bool named = modules.size() > 1 || !modules.class_name(0).empty();
    std::vector<std::size_t> by_module(modules.size());
    std::array<std::size_t, detail::dialect_count> by_dialect{};
    for (auto node : nodes) {
        const auto& entry = tagged.attributions[node];
        summary.conflicts += tagged.conflicts.of(node).empty() ? 0U : 1U;
        ++summary.provenance[static_cast<std::size_t>(entry.source)];
        summary.tagged += named && detail::is_tagged(entry) ? 1U : 0U;
        ++by_module[tagged.selected(node)];
        ++by_dialect[static_cast<std::size_t>(dialects.of[node])];
        switch (dialects.quality[node]) {
        case dialect_report::scope_quality::path_and_class:
            ++summary.full_scope;
            break;
        case dialect_report::scope_quality::path:
            ++summary.path_only;
            break;
        case dialect_report::scope_quality::operator_only:
            ++summary.name_only;
            break;
        }
    }
    for (std::size_t d = 0; d < detail::dialect_count; ++d) {
        if (static_cast<dialect>(d) != dialect::none && by_dialect[d] > 0) {
            summary.dialects.emplace(to_string(static_cast<dialect>(d)), by_dialect[d]);
        }
    }
    for (id m = 0; m < modules.size(); ++m) {
        if (by_module[m] > 0) {
            summary.tags.emplace_back(tagged.tags.text(m), by_module[m]);
        }
    }
    std::stable_sort(summary.tags.begin(), summary.tags.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return summary;
}

/// The same for all nodes.
[[nodiscard]] inline tag_summary summarize(const onnx_model& model, const module_tree& modules,
                                           const tagging& tagged, const dialect_report& dialects) {
    std::vector<id> nodes(model.node_count());
    std::iota(nodes.begin(), nodes.end(), id{0});
    return summarize(model, modules, tagged, dialects, nodes);
}

namespace detail {

template <text_sink Sink>
void write_accuracy(json_writer<Sink>& json, const accuracy& counts) {
    json.member("exact", counts.exact);
    json.member("ancestor", counts.ancestor);
    json.member("descendant", counts.descendant);
    json.member("contaminated", counts.contaminated);
    json.member("missing", counts.missing);
}

} // namespace detail

/// Writes the members of a summary into an open object.
/// Complexity: O(length of the output).
template <text_sink Sink>
void write_json(json_writer<Sink>& json, const tag_summary& summary) {
    json.member("model", summary.model);
    json.member("nodes", summary.nodes);
    json.member("tagged", summary.tagged);
    json.member("coverage", summary.coverage());
    json.key("provenance");
    json.begin_object(true);
    for (std::size_t p = 0; p < summary.provenance.size(); ++p) {
        if (summary.provenance[p] > 0) {
            json.member(summary.provenances[static_cast<provenance>(p)], summary.provenance[p]);
        }
    }
    json.end_object();
    json.key("tags");
    json.begin_object();
    for (const auto& [tag, nodes] : summary.tags) {
        json.member(tag, nodes);
    }
    json.end_object();
    json.member("values", summary.values);
    json.member("values_tagged", summary.values_tagged);
    json.member("initializers", summary.initializers);
    json.member("modules", summary.modules);
    json.member("conflicts", summary.conflicts);
    json.key("dialects");
    json.begin_object(true);
    for (const auto& [dialect, nodes] : summary.dialects) {
        json.member(dialect, nodes);
    }
    json.end_object();
    json.key("scope_quality");
    json.begin_object(true);
    json.member("full", summary.full_scope);
    json.member("path", summary.path_only);
    json.member("name", summary.name_only);
    json.end_object();
    if (summary.against_oracle) {
        detail::write_accuracy(json, *summary.against_oracle);
        json.key("oracle_modules");
        json.begin_object();
        for (const auto& [module, counts] : summary.oracle_modules) {
            json.key(module);
            json.begin_object(true);
            detail::write_accuracy(json, counts);
            json.end_object();
        }
        json.end_object();
    }
    json.member("seconds", summary.seconds);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_RECORD_SUMMARY_HPP
