// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_WEIGHT_USES_HPP
#define STEMMA_WEIGHTS_DETAIL_WEIGHT_USES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/weights/detail/call_modules.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A node that reads an initializer, possibly through forwarding nodes.
struct weight_use {
    id node = no_id;         ///< of the main graph, of a body or of a function
    std::size_t slot = 0;    ///< of its inputs
    id module = 0;           ///< that it runs in, when called from there
    bool transposed = false; ///< on the way
    id top = no_id;          ///< the node, or the outermost call that leads to it
    id call = 0;             ///< number of the calls that lead to it; 0 for none
};

/// Operators that only forward or move their first input.
enum class handed_on : unsigned char { no, same, transposed };

/// Returns: what operators of a type do. Complexity: O(1).
[[nodiscard]] constexpr handed_on hands_on(std::string_view type) noexcept {
    constexpr std::array<std::pair<std::string_view, handed_on>, 9> kinds{
        {{"Identity", handed_on::same},
         {"Cast", handed_on::same},
         {"CastLike", handed_on::same},
         {"DequantizeLinear", handed_on::same},
         {"Reshape", handed_on::same},
         {"Squeeze", handed_on::same},
         {"Unsqueeze", handed_on::same},
         {"Flatten", handed_on::same},
         {"Transpose", handed_on::transposed}}};
    const auto* const row = std::find_if(kinds.begin(), kinds.end(),
                                         [&](const auto& kind) { return kind.first == type; });
    return row == kinds.end() ? handed_on::no : row->second;
}

/// Returns: the same of a node. Complexity: O(1).
[[nodiscard]] inline handed_on hands_on(const wire_model& model, id node) noexcept {
    const auto type = model.op_type(node);
    const bool applies = model.domain(node).empty() || type == "DequantizeLinear";
    return applies ? hands_on(type) : handed_on::no;
}

/// Returns: by initializer the nodes that read it, in node order; within a function, the first one
/// that does.
/// Complexity: O(nodes + reads), and the depth of calls * log calls for what functions get.
[[nodiscard]] inline std::vector<std::vector<weight_use>>
collect_weight_uses(const wire_model& model, const call_modules& modules) {
    constexpr id transposed = 1;
    const auto count = static_cast<id>(model.tensors().size());
    std::vector<id> held(model.value_count(), no_id); // twice the initializer, and one: transposed
    std::vector<std::pair<id, std::size_t>> reader_of(model.value_count(), {no_id, 0});
    for (id t = 0; t < count; ++t) {
        if (const auto value = model.tensors()[t].value; value != no_id) {
            held[value] = 2 * t;
        }
    }
    std::vector<std::vector<weight_use>> uses(count);
    for (id node = 0; node < model.node_count(); ++node) {
        const auto inputs = model.inputs(node);
        const auto kind = hands_on(model, node);
        for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
            const auto value = inputs[slot];
            if (value == no_id) {
                continue;
            }
            if (reader_of[value].first == no_id) {
                reader_of[value] = {node, slot};
            }
            if (held[value] != no_id && slot == 0 && kind != handed_on::no &&
                model.output_count(node) > 0) {
                held[model.first_output(node)] =
                    kind == handed_on::transposed ? held[value] ^ transposed : held[value];
            }
        }
    }
    std::map<std::pair<id, id>, id> calls; // by the one around and the node
    for (id node = 0; node < model.node_count(); ++node) {
        const auto inputs = model.inputs(node);
        for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
            const auto value = inputs[slot];
            if (value == no_id || held[value] == no_id ||
                (slot == 0 && hands_on(model, node) != handed_on::no)) {
                continue;
            }
            auto place = modules.of(node);
            weight_use use{node, slot, 0, (held[value] & 1U) != 0, node};
            for (unsigned depth = 0; depth < 16 && model.callee(use.node) != no_id; ++depth) {
                const auto& formals =
                    model.graph(model.functions()[model.callee(use.node)].graph).inputs;
                const auto [inside, at] = use.slot < formals.size() && formals[use.slot] != no_id
                                              ? reader_of[formals[use.slot]]
                                              : std::pair(no_id, std::size_t{0});
                if (inside == no_id) {
                    break;
                }
                use.call =
                    calls.try_emplace({use.call, use.node}, static_cast<id>(calls.size() + 1))
                        .first->second;
                use.node = inside;
                use.slot = at;
                place = modules.inside(inside, place);
            }
            use.module = place.module;
            uses[held[value] / 2].push_back(use);
        }
    }
    return uses;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_WEIGHT_USES_HPP
