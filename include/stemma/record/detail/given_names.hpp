// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_GIVEN_NAMES_HPP
#define STEMMA_RECORD_DETAIL_GIVEN_NAMES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether stemma gave any node its name. Complexity: O(fields of the nodes).
[[nodiscard]] inline bool has_given_names(const wire_model& model) {
    for (id node = 0; node < model.node_count(); ++node) {
        if (has_given_name(model, node)) {
            return true;
        }
    }
    return false;
}

/// Names for nodes that have none, or one given by stemma: type and number, `MatMul_12`, unique in
/// the file. They say nothing about modules, so they are never evidence.
class given_names {
public:
    /// Requires: `model` outlives it. Complexity: O(nodes + length of their metadata) expected.
    explicit given_names(const wire_model& model) : model_(&model) {
        std::unordered_set<std::string> taken;
        std::vector<id> without;
        for (id node = 0; node < model.node_count(); ++node) {
            if (model.name(node).empty() || has_given_name(model, node)) {
                without.push_back(node);
            } else {
                taken.emplace(model.name(node));
            }
        }
        for (const auto node : without) {
            auto name = std::string(model.op_type(node)) + "_" + std::to_string(node);
            while (!taken.insert(name).second) {
                name += "_";
            }
            names_.emplace(node, std::move(name));
        }
    }

    /// Returns: the number of nodes that get a name.
    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

    /// Returns: the name for a node, "" if it has its own.
    [[nodiscard]] std::string_view of(id node) const {
        const auto entry = names_.find(node);
        return entry == names_.end() ? std::string_view() : entry->second;
    }

    /// Appends the name of a node after its other fields, where it was removed; and metadata that
    /// records this, so that stripping finds it. Complexity: O(length).
    void edit_node(id node, message_edits& edits) const {
        const auto name = of(node);
        if (name.empty()) {
            return;
        }
        const auto message = model_->message(node);
        const auto end = message.begin + message.size;
        edits.insert_entry(end, onnx_fields::node::metadata_props, node_name_key, name);
        edits.insert_field(end, onnx_fields::node::name, name);
    }

private:
    const wire_model* model_;
    std::unordered_map<id, std::string> names_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_GIVEN_NAMES_HPP
