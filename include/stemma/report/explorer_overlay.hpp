// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_EXPLORER_OVERLAY_HPP
#define STEMMA_REPORT_EXPLORER_OVERLAY_HPP

#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: the name of a graph in Model Explorer: `main`, else its path.
[[nodiscard]] inline std::string explorer_graph_id(const onnx_model& model, id g) {
    return g == 0 ? "main" : model.graph_path(g);
}

} // namespace detail

/// Writes numbers of nodes as an overlay for Model Explorer, which sums them by module.
/// `value_of(node)` is the number; zeros are omitted. Complexity: O(nodes).
template <text_sink Sink, class ValueOf>
void write_explorer_overlay(Sink& sink, const onnx_model& model, ValueOf value_of) {
    std::vector<std::vector<id>> nodes(model.graph_count());
    for (id node = 0; node < model.node_count(); ++node) {
        nodes[model.graph_of(node)].push_back(node);
    }
    json_writer json(sink);
    json.begin_object();
    for (id g = 0; g < model.graph_count(); ++g) {
        json.key(detail::explorer_graph_id(model, g));
        json.begin_object();
        json.key("results");
        json.begin_object();
        for (auto node : nodes[g]) {
            if (const auto value = value_of(node); value != 0) {
                json.object(std::to_string(model.position(node)),
                            [&] { json.member("value", value); });
            }
        }
        json.end_object();
        json.end_object();
    }
    json.end_object();
    json.finish();
}

namespace detail {

/// Returns: by node the bytes of the parameters that it reads first, or holds as a Constant.
/// Complexity: O(nodes + reads), and that of `find_weights`.
[[nodiscard]] inline std::vector<std::uint64_t> weight_bytes(const wire_model& model) {
    std::vector<id> first(model.value_count(), no_id);
    for (id node = 0; node < model.node_count(); ++node) {
        for (auto value : model.inputs(node)) {
            if (value != no_id && first[value] == no_id) {
                first[value] = node;
            }
        }
    }
    std::vector<std::uint64_t> bytes(model.node_count(), 0);
    for (const auto& weight : find_weights(model)) {
        const auto node =
            model.is_initializer(weight.value) ? first[weight.value] : model.producer(weight.value);
        if (weight.kind == weight_kind::parameter && node != no_id) {
            bytes[node] += weight.bytes;
        }
    }
    return bytes;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_EXPLORER_OVERLAY_HPP
