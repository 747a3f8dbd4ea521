// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_PAIR_INTERFACE_HPP
#define STEMMA_COMPARE_DETAIL_PAIR_INTERFACE_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the outputs of a model, or the inputs that no initializer provides, in file order.
[[nodiscard]] inline std::vector<id>
interface_values(const onnx_model& model, std::vector<id> onnx_model::graph_record::*list) {
    auto values = model.graph(0).*list;
    std::erase_if(values, [&](id value) {
        return value == no_id ||
               (list == &onnx_model::graph_record::inputs && model.is_initializer(value));
    });
    return values;
}

/// Returns: the inputs, or outputs, of two models that correspond: by name, the others in their
/// order. In the order of the first model.
/// Complexity: O(inputs log inputs) expected.
[[nodiscard]] inline std::vector<std::pair<id, id>>
pair_interface(const onnx_model& a, const onnx_model& b,
               std::vector<id> onnx_model::graph_record::*list) {
    const auto first = interface_values(a, list);
    auto rest = interface_values(b, list);
    std::unordered_map<std::string_view, id> by_name;
    for (auto value : rest) {
        by_name.emplace(b.value_name(value), value);
    }
    std::vector<std::pair<id, id>> pairs;
    for (auto value : first) {
        const auto partner = by_name.find(a.value_name(value));
        pairs.emplace_back(value, partner == by_name.end() ? no_id : partner->second);
        if (partner != by_name.end()) {
            by_name.erase(partner);
        }
    }
    std::erase_if(rest, [&](id value) {
        const auto entry = by_name.find(b.value_name(value));
        return entry == by_name.end() || entry->second != value;
    });
    std::size_t next = 0;
    for (auto& [value, partner] : pairs) {
        if (partner == no_id && next < rest.size()) {
            partner = rest[next++];
        }
    }
    std::erase_if(pairs, [](const auto& pair) { return pair.second == no_id; });
    return pairs;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_PAIR_INTERFACE_HPP
