// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_MODEL_WITH_METADATA_HPP
#define STEMMA_TESTS_MODEL_WITH_METADATA_HPP

#include "wire_builder.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Models whose nodes carry exporters' metadata, as bytes.
namespace test {

using metadata = std::vector<std::pair<std::string, std::string>>;

/// A node with entries in its metadata (field 9 of NodeProto).
inline message described(message node, const metadata& entries) {
    for (const auto& [key, value] : entries) {
        node.inner(9, entry(key, value));
    }
    return node;
}

/// The `repr` of a Python list of strings without escapes.
inline std::string python_list(const std::vector<std::string>& items) {
    std::string text = "[";
    for (const auto& item : items) {
        const char* quote = item.find('\'') == item.npos ? "'" : "\"";
        text.append(text.size() == 1 ? "" : ", ").append(quote).append(item).append(quote);
    }
    return text + "]";
}

/// As written by torch's exporter on top of torch.export.
inline metadata dynamo(const std::vector<std::string>& scopes,
                       const std::vector<std::string>& classes) {
    return {{"pkg.torch.onnx.class_hierarchy", python_list(classes)},
            {"pkg.torch.onnx.name_scopes", python_list(scopes)}};
}

/// As written by the onnxscript builder.
inline metadata builder(const std::vector<std::string>& scopes,
                        const std::vector<std::string>& classes) {
    return {{"pkg.onnxscript.class_hierarchy", python_list(classes)},
            {"pkg.onnxscript.name_scopes", python_list(scopes)}};
}

/// A chain of operators `x -> v0 -> v1 -> ...`, one for each set of metadata.
inline std::string chain_of(const std::vector<metadata>& entries) {
    std::vector<message> nodes;
    std::string from = "x";
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto to = "v" + std::to_string(i);
        nodes.push_back(described(node("Relu", {from}, {to}, "node_" + to), entries[i]));
        from = to;
    }
    return model(graph(nodes, {"x"}, {from}), 10).bytes();
}

} // namespace test

#endif // STEMMA_TESTS_MODEL_WITH_METADATA_HPP
