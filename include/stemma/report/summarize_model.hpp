// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_SUMMARIZE_MODEL_HPP
#define STEMMA_REPORT_SUMMARIZE_MODEL_HPP

#include <stemma/capture/detail/oracle.hpp>
#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/accuracy.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/summary.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The true module of each node, by path; nothing if unknown.
using true_modules = std::vector<std::optional<std::string>>;

/// Returns: the true modules of the nodes from a file, by name.
/// Throws: `error` of `error_code::malformed`, also if it names no node of the model; of
/// `cannot_read`. Complexity: O(bytes of the file + nodes).
[[nodiscard]] inline true_modules read_true_modules(const attributed_model& opened,
                                                    const std::string& path) {
    true_modules truth(opened.model().node_count());
    const mapped_file file(path);
    const oracle_file oracle(file.bytes(), path);
    for (id node = 0; node < truth.size(); ++node) {
        truth[node] = oracle.module_of(opened.model().name(node));
    }
    if (std::none_of(truth.begin(), truth.end(), [](const auto& one) { return one.has_value(); })) {
        STEMMA_THROW(
            error(error_code::malformed, path, "", "names no node of " + opened.file().path()));
    }
    return truth;
}

/// Returns: the claims of one source of evidence, taken as the truth; nothing if it names several
/// modules.
/// Throws: `error` of `error_code::refused` if it is not a source of evidence.
/// Complexity: that of `attributed_model::for_each_claimed`.
[[nodiscard]] inline true_modules claimed_modules(const attributed_model& opened,
                                                  provenance source) {
    if (!is_evidence(source)) {
        STEMMA_THROW(
            error(error_code::refused, "", "oracle",
                  "'" + std::string(to_string(source)) + "' is a rule, not a source of evidence"));
    }
    true_modules truth(opened.model().node_count());
    opened.for_each_claimed(source, [&](id node, std::span<const claim> claims) {
        if (std::all_of(claims.begin(), claims.end(),
                        [&](const claim& c) { return c.module == claims.front().module; })) {
            truth[node] = opened.modules().path(claims.front().module);
        }
    });
    return truth;
}

} // namespace detail

/// Summarizes some nodes of a model, named by its path. Requires: the model keeps its evidence.
/// Complexity: that of `summarize` and of `detect_dialects`.
[[nodiscard]] inline tag_summary summarize(const attributed_model& opened,
                                           std::span<const id> nodes) {
    auto summary =
        summarize(opened.model(), opened.modules(), opened.tags(), opened.dialects(), nodes);
    summary.model = opened.file().path();
    return summary;
}

namespace detail {

/// Adds the accuracy of some nodes to their summary.
/// Complexity: O(nodes * log modules).
inline void compare_with_truth(tag_summary& summary, const attributed_model& opened,
                               const true_modules& truth, std::span<const id> nodes) {
    accuracy all;
    std::map<std::string, accuracy> by_module;
    for (auto node : nodes) {
        if (const auto& module = truth[node]) {
            const auto& attributed = opened.tags().attributions[node];
            auto& of_module = by_module[*module];
            if (attributed.source == provenance::root) {
                ++all.missing;
                ++of_module.missing;
                continue;
            }
            const auto how = relate(opened.modules().path(attributed.module), *module);
            all.add(how);
            of_module.add(how);
        }
    }
    summary.against_oracle = all;
    summary.oracle_modules.assign(by_module.begin(), by_module.end());
}

} // namespace detail

/// Summarizes some nodes of a model, and compares them with the truth: from a file, or from one
/// source of evidence (`scope`); not compared for "".
/// Throws: as `read_true_modules` and `claimed_modules`. Complexity: that of both.
[[nodiscard]] inline tag_summary summarize(const attributed_model& opened,
                                           std::span<const id> nodes, const std::string& truth) {
    auto summary = summarize(opened, nodes);
    if (!truth.empty()) {
        const auto source = opened.tags().provenances.find(truth);
        detail::compare_with_truth(summary, opened,
                                   source ? detail::claimed_modules(opened, *source)
                                          : detail::read_true_modules(opened, truth),
                                   nodes);
    }
    return summary;
}

/// The same for all nodes.
[[nodiscard]] inline tag_summary summarize(const attributed_model& opened,
                                           const std::string& truth = {}) {
    std::vector<id> nodes(opened.model().node_count());
    std::iota(nodes.begin(), nodes.end(), id{0});
    return summarize(opened, nodes, truth);
}

/// Writes a summary (`stemma.summary/1`). Complexity: O(length of the result).
template <text_sink Sink>
void write_json(Sink& sink, const tag_summary& summary) {
    detail::write_document(sink, "stemma.summary/1",
                           [&](auto& json) { write_json(json, summary); });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_SUMMARIZE_MODEL_HPP
