// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_INSERTED_NODES_HPP
#define STEMMA_RECORD_DETAIL_INSERTED_NODES_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/inlined_name.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the readers of the outputs of each node, repeated for each read.
/// Complexity: O(nodes and their inputs).
[[nodiscard]] inline grouped_ids find_readers(const onnx_model& model) {
    return grouped_ids(model.node_count(), [&](auto take) {
        for (id reader = 0; reader < model.node_count(); ++reader) {
            for (const auto value : model.inputs(reader)) {
                const auto maker = value == no_id ? no_id : model.producer(value);
                maker == no_id ? void() : take(maker, reader);
            }
        }
    });
}

/// Returns: the producer of what a node of that type reads first; `no_id` for other nodes.
[[nodiscard]] inline id converted_by(const onnx_model& model, id node, std::string_view type) {
    const auto inputs = model.inputs(node);
    return model.op_type(node) != type || inputs.empty() || inputs[0] == no_id
               ? no_id
               : model.producer(inputs[0]);
}

/// Gives claims to nodes that ONNX Runtime inserted and that have none: conversions of layout
/// belong where the data come from, a Gemm to the Reshape that alone reads it, a Reshape to the
/// Gemm that does, and what was inlined for an operator where all its readers are. Complexity:
/// O(nodes and their readers).
inline void place_inserted(const onnx_model& model, const grouped_ids& readers,
                           const tree_index& modules, std::vector<claim>& of) {
    const auto follow = [&](id node, claim other) {
        other.confidence = std::min(other.confidence, confidence::recorded_alone);
        of[node] = other;
    };
    const auto only_reader = [&](id node, std::string_view type) {
        const auto read_by = readers[node];
        return read_by.size() == 1 && model.op_type(read_by.front()) == type ? read_by.front()
                                                                             : no_id;
    };
    for (id node = 0; node < model.node_count(); ++node) {
        const bool open = of[node].module == no_id && model.op_type(node) == "Gemm";
        const auto from = open ? only_reader(node, "Reshape") : no_id;
        if (from != no_id && of[from].module != no_id) {
            follow(node, of[from]);
        }
    }
    for (id node = 0; node < model.node_count(); ++node) {
        if (of[node].module != no_id) {
            continue;
        }
        auto from = converted_by(model, node, "ReorderInput");
        if (from == no_id) {
            from = converted_by(model, node, "ReorderOutput");
        }
        if (model.op_type(node) == "Reshape") {
            from = only_reader(node, "Gemm");
        }
        if (from != no_id && of[from].module != no_id) {
            follow(node, of[from]);
        }
    }
    // Readers before what they read.
    for (id node = model.node_count(); node-- > 0;) {
        const auto read_by = readers[node];
        if (of[node].module != no_id || read_by.empty() || model.output_count(node) != 1 ||
            !model.value_name(model.first_output(node)).starts_with(inlined_prefix)) {
            continue;
        }
        auto joined = of[read_by.front()];
        for (const auto reader : read_by) {
            const auto& other = of[reader];
            if (joined.module == no_id || other.module == no_id) {
                joined = {};
                break;
            }
            joined.call =
                joined.module == other.module && joined.call == other.call ? joined.call : no_id;
            joined.module = modules.lca(joined.module, other.module);
            joined.confidence = std::min(joined.confidence, other.confidence);
        }
        if (joined.module != no_id) {
            follow(node, joined);
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_INSERTED_NODES_HPP
