// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_COMPARE_HEADERS_HPP
#define STEMMA_COMPARE_DETAIL_COMPARE_HEADERS_HPP

#include <stemma/compare/model_diff.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: differences in used operator sets, and in names of inputs and outputs.
/// Complexity: O(operator sets + inputs + outputs).
[[nodiscard]] inline std::vector<header_difference> compare_headers(const onnx_model& a,
                                                                    const onnx_model& b) {
    std::vector<header_difference> result;
    std::map<std::string, std::pair<std::string, std::string>> opsets;
    const auto domain = [](std::string_view text) {
        return text.empty() ? std::string("ai.onnx") : std::string(text);
    };
    // Tools declare unused ones.
    const auto note = [&](const onnx_model& model,
                          std::string std::pair<std::string, std::string>::*side) {
        std::set<std::string> used;
        for (id op = 0; op < model.operator_count(); ++op) {
            used.insert(domain(model.operator_domain(op)));
        }
        for (const auto& opset : model.opset_imports()) {
            if (used.contains(domain(opset.domain))) {
                opsets[domain(opset.domain)].*side = std::to_string(opset.version);
            }
        }
    };
    note(a, &std::pair<std::string, std::string>::first);
    note(b, &std::pair<std::string, std::string>::second);
    for (auto& [name, versions] : opsets) {
        if (versions.first != versions.second) {
            result.push_back({"opset " + name, versions.first, versions.second});
        }
    }
    const auto compare_names = [&](const std::string& what, std::vector<id> graph_record::*list) {
        const auto names = [&](const onnx_model& model) {
            std::vector<std::string> all;
            for (auto value : model.graph(0).*list) {
                if (value != no_id && !model.is_initializer(value)) {
                    all.emplace_back(model.value_name(value));
                }
            }
            return all;
        };
        const auto first = names(a);
        const auto second = names(b);
        for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
            const auto from = i < first.size() ? first[i] : std::string();
            const auto to = i < second.size() ? second[i] : std::string();
            if (from != to) {
                result.push_back({what + " " + std::to_string(i), from, to});
            }
        }
    };
    compare_names("input", &graph_record::inputs);
    compare_names("output", &graph_record::outputs);
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_COMPARE_HEADERS_HPP
