// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_SYNC_NAVIGATION_HPP
#define STEMMA_REPORT_SYNC_NAVIGATION_HPP

#include <stemma/compare/link_nodes.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Writes linked nodes as the mapping for Model Explorer's side-by-side view, its
/// `SyncNavigationData` (common/sync_navigation.ts there): nodes of the main graphs, with the ids
/// of `write_model_explorer`. That view expects a node in at most one entry.
/// Requires: no node is in two links. Complexity: O(nodes in links).
template <text_sink Sink>
void write_sync_navigation(Sink& sink, std::span<const node_link> links, const onnx_model& first,
                           const onnx_model& second) {
    const auto ids = [](const onnx_model& model, const std::vector<id>& nodes) {
        std::vector<std::string> texts;
        for (auto node : nodes) {
            if (model.graph_of(node) == 0) {
                texts.push_back(std::to_string(model.position(node)));
            }
        }
        return texts;
    };
    json_writer json(sink);
    const auto list = [&](std::string_view key, const std::vector<std::string>& texts) {
        json.values(key, texts);
    };
    json.begin_object();
    json.member("type", "sync_navigation");
    json.list("mappingEntries", links, [&](const auto& link) {
        const auto left = ids(first, link.first);
        const auto right = ids(second, link.second);
        if (!left.empty() && !right.empty()) {
            json.begin_object(true);
            list("leftNodeIds", left);
            list("rightNodeIds", right);
            json.end_object();
        }
    });
    json.key("mapping"); // for older versions
    json.begin_object();
    for (const auto& link : links) {
        const auto left = ids(first, link.first);
        const auto right = ids(second, link.second);
        for (const auto& one : left) {
            if (!right.empty()) {
                json.member(one, right.front());
            }
        }
    }
    json.end_object();
    json.member("disableMappingFallback", true);
    json.member("showDiffHighlights", true);
    json.end_object();
    json.finish();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_SYNC_NAVIGATION_HPP
