// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_COMPARE_HEADERS_HPP
#define STEMMA_COMPARE_DETAIL_COMPARE_HEADERS_HPP

#include <stemma/compare/detail/paired_graphs.hpp>
#include <stemma/compare/model_diff.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/describe_type.hpp>
#include <stemma/types/value_types.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: differences in used operator sets. Complexity: O(operators + operator sets).
[[nodiscard]] inline std::vector<model_diff::changed_header> compare_opsets(const onnx_model& a,
                                                                            const onnx_model& b) {
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
    std::vector<model_diff::changed_header> result;
    for (auto& [name, versions] : opsets) {
        if (versions.first != versions.second) {
            result.push_back({"opset " + name, versions.first, versions.second});
        }
    }
    return result;
}

/// Returns: by value, the type and shape that a model declares, unknown if it declares none.
/// Complexity: O(bytes of value infos) expected.
[[nodiscard]] inline std::unordered_map<id, described_type>
declared_types(const wire_model& model, const std::vector<id>& values) {
    std::unordered_map<id, described_type> types;
    for (auto value : values) {
        types.emplace(value, described_type());
    }
    for (const auto& info : model.value_infos()) {
        const auto entry = types.find(info.value);
        if (entry == types.end() || !entry->second.name.empty()) {
            continue;
        }
        if (const auto type = declared_type(model, info); !type.empty()) {
            entry->second = describe_type(type);
        }
    }
    return types;
}

/// Returns: differences in types and shapes of inputs and outputs, where both models declare one.
/// An extent of an output that only one of them knows is no difference: it follows from the inputs.
/// Complexity: O(bytes of value infos) expected.
[[nodiscard]] inline std::vector<model_diff::changed_header>
compare_interfaces(const wire_model& a, const wire_model& b) {
    std::vector<model_diff::changed_header> result;
    const auto compare = [&](std::string_view what, std::vector<id> onnx_model::graph_record::*list,
                             auto differ) {
        auto types_a = declared_types(a, interface_values(a, list));
        auto types_b = declared_types(b, interface_values(b, list));
        for (const auto& [x, y] : pair_interface(a, b, list)) {
            const auto& from = types_a[x];
            const auto& to = types_b[y];
            if (!from.name.empty() && !to.name.empty() && differ(from, to)) {
                result.push_back(
                    {std::string(what).append(a.value_name(x)), to_text(from), to_text(to)});
            }
        }
    };
    compare("input ", &onnx_model::graph_record::inputs,
            [](const auto& from, const auto& to) { return to_text(from) != to_text(to); });
    compare("output ", &onnx_model::graph_record::outputs, contradict);
    return result;
}

/// Returns: differences in used operator sets, and in names, types and shapes of inputs and
/// outputs.
/// Complexity: that of `compare_opsets` and `compare_interfaces`.
[[nodiscard]] inline std::vector<model_diff::changed_header> compare_headers(const wire_model& a,
                                                                             const wire_model& b) {
    auto result = compare_opsets(a, b);
    const auto compare_names = [&](const std::string& what,
                                   std::vector<id> onnx_model::graph_record::*list) {
        const auto first = interface_values(a, list);
        const auto second = interface_values(b, list);
        for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
            const auto from = i < first.size() ? a.value_name(first[i]) : std::string_view();
            const auto to = i < second.size() ? b.value_name(second[i]) : std::string_view();
            if (from != to) {
                result.push_back(
                    {what + " " + std::to_string(i), std::string(from), std::string(to)});
            }
        }
    };
    compare_names("input", &onnx_model::graph_record::inputs);
    compare_names("output", &onnx_model::graph_record::outputs);
    const auto types = compare_interfaces(a, b);
    result.insert(result.end(), types.begin(), types.end());
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_COMPARE_HEADERS_HPP
