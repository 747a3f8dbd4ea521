// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_STORED_TENSORS_HPP
#define STEMMA_ONNX_DETAIL_STORED_TENSORS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/message_refs.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The tensors that a model stores: initializers, numbered as in `wire_model::tensors`, then those
/// of Constants, in order of nodes.
class stored_tensors {
public:
    /// Requires: `model` outlives this. Complexity: O(nodes), and O(bytes) of Constants'
    /// attributes.
    explicit stored_tensors(const wire_model& model) : model_(&model) {
        for (id node = 0; node < model.node_count(); ++node) {
            if (const auto tensor =
                    is_constant(node) ? model.constant_tensor(node) : std::nullopt) {
                nodes_.push_back(node);
                constants_.push_back(*tensor);
            }
        }
    }

    [[nodiscard]] const wire_model& model() const noexcept { return *model_; }

    [[nodiscard]] std::size_t size() const noexcept {
        return model_->tensors().size() + constants_.size();
    }

    [[nodiscard]] tensor_ref operator[](std::size_t number) const noexcept {
        const auto initializers = model_->tensors();
        if (number < initializers.size()) {
            return initializers[number];
        }
        tensor_ref result;
        result.message = constants_[number - initializers.size()];
        return result;
    }

    /// Returns: the nodes of the tensors behind the initializers, ascending.
    [[nodiscard]] std::span<const id> constants() const noexcept { return nodes_; }

    [[nodiscard]] bool is_constant(id node) const noexcept {
        return is_constant_node(*model_, node);
    }

private:
    const wire_model* model_;
    std::vector<message_ref> constants_;
    std::vector<id> nodes_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_STORED_TENSORS_HPP
