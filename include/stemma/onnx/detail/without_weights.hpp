// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_WITHOUT_WEIGHTS_HPP
#define STEMMA_ONNX_DETAIL_WITHOUT_WEIGHTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Removes the data of large initializers. A `model_editor`.
class weight_remover {
public:
    weight_remover(const wire_model& model, std::uint32_t most) : model_(&model), most_(most) {}

    void edit_node(id, message_edits&) const {}
    void edit_value_info(const value_info_ref&, message_edits&) const {}
    void edit_model(message_edits&) const {}

    void edit_tensor(const tensor_ref& tensor, message_edits& edits) const {
        auto fields = model_->reader(tensor.message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(onnx_fields::tensor::raw_data) && field.size() > most_) {
                edits.remove(field.begin, field.end);
            }
        }
    }

private:
    const wire_model* model_;
    std::uint32_t most_;
};

/// Returns: the bytes of a model without the data of initializers above that size: just what type
/// inference needs.
/// Throws, Complexity: as `rewrite`.
[[nodiscard]] inline std::string without_weights(const wire_model& model,
                                                 std::uint32_t most = 4096) {
    weight_remover editor(model, most);
    rewrite plan(model, editor);
    string_splice light(model.bytes());
    plan.write(light);
    return std::move(light.text);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_WITHOUT_WEIGHTS_HPP
