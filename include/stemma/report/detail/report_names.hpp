// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_REPORT_NAMES_HPP
#define STEMMA_REPORT_DETAIL_REPORT_NAMES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A node of a graph, as users write it: `#7`, `5/body#2`.
struct written_position {
    std::string_view graph; ///< its path; "" for the main one
    id index = no_id;       ///< among the nodes of that graph; `no_id` for a larger number
};

/// Returns: the position that a text spells, if it is one. Complexity: O(length).
[[nodiscard]] inline std::optional<written_position> read_position(std::string_view text) {
    const auto hash = text.rfind('#');
    if (hash == text.npos || hash + 1 == text.size()) {
        return std::nullopt;
    }
    written_position read{text.substr(0, hash)};
    const auto* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + hash + 1, end, read.index);
    return parsed.ptr != end ? std::nullopt : std::optional(read);
}

/// Unique names of nodes and initializers in reports.
///  A node has its own name; if that is empty, repeated or also an initializer's, its graph and
/// position, `#7` or `5/then_branch#2`. An initializer has its own name; if another graph has one
/// of that name, prefixed with the graph, `5/then_branch##weight`. Names that look like generated
/// ones count as repeated.
class report_names {
public:
    /// Requires: the model outlives this. Complexity: O(nodes + values + length of names).
    explicit report_names(const onnx_model& model)
        : model_(&model), node_named_(model.node_count()), value_named_(model.value_count()) {
        std::unordered_map<std::string_view, id> graphs;
        for (id g = 0; g < model.graph_count(); ++g) {
            graph_paths_.push_back(model.graph_path(g));
        }
        for (id g = 0; g < model.graph_count(); ++g) {
            graphs.emplace(graph_paths_[g], g);
        }
        std::unordered_map<std::string_view, int> initializers;
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.is_initializer(value)) {
                ++initializers[model.value_name(value)];
            }
        }
        std::unordered_map<std::string_view, int> nodes;
        for (id node = 0; node < model.node_count(); ++node) {
            ++nodes[model.name(node)];
        }
        for (id node = 0; node < model.node_count(); ++node) {
            const auto name = model.name(node);
            node_named_[node] = !name.empty() && nodes[name] == 1 && !initializers.contains(name) &&
                                !reads_like_place(name, graphs);
        }
        for (id value = 0; value < model.value_count(); ++value) {
            const auto name = model.value_name(value);
            value_named_[value] = model.is_initializer(value) && initializers[name] == 1 &&
                                  !reads_like_place(name, graphs);
        }
    }

    /// Returns: the name of a node.
    [[nodiscard]] std::string node(id node) const {
        return node_named_[node] ? std::string(model_->name(node)) : position(node);
    }

    /// Returns: the name of an initializer.
    [[nodiscard]] std::string initializer(id value) const {
        const std::string name(model_->value_name(value));
        return value_named_[value] ? name
                                   : graph_paths_[model_->graph_of_value(value)] + "##" + name;
    }

    /// Returns: `#7`, or `5/then_branch#2` for a node of a body.
    [[nodiscard]] std::string position(id node) const {
        return graph_paths_[model_->graph_of(node)] + "#" + std::to_string(model_->position(node));
    }

    /// Returns: as `onnx_model::graph_path`; valid as long as this.
    [[nodiscard]] const std::string& graph_path(id g) const { return graph_paths_[g]; }

private:
    [[nodiscard]] bool
    reads_like_place(std::string_view name,
                     const std::unordered_map<std::string_view, id>& graphs) const {
        if (const auto marks = name.find("##");
            marks != name.npos && graphs.contains(name.substr(0, marks))) {
            return true;
        }
        const auto mark = name.rfind('#');
        if (mark == name.npos || !graphs.contains(name.substr(0, mark))) {
            return false;
        }
        const auto digits = name.substr(mark + 1);
        const auto end = digits.data() + digits.size();
        id number = 0;
        const auto read = std::from_chars(digits.data(), end, number);
        return !digits.empty() && read.ptr == end;
    }

    const onnx_model* model_;
    std::vector<std::string> graph_paths_;
    std::vector<bool> node_named_;
    std::vector<bool> value_named_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_REPORT_DETAIL_REPORT_NAMES_HPP
