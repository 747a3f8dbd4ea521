// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_VALUE_DESCRIPTIONS_HPP
#define STEMMA_TYPES_VALUE_DESCRIPTIONS_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/described_type.hpp>
#include <stemma/types/detail/describe_type.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_description.hpp>
#include <stemma/types/value_types.hpp>

#include <optional>
#include <string>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Names, types and shapes of the values of a model: declared, of initializers, or inferred.
class value_descriptions {
public:
    /// When types are inferred.
    enum class inferring : bool {
        all,   ///< all at once
        asked, ///< each on demand
    };

    /// Requires: the model outlives this. Complexity: O(nodes + values); O(values) if types are
    /// inferred on demand.
    explicit value_descriptions(const wire_model& model, inferring when = inferring::all)
        : model_(&model), types_(model), tensor_of_(model.value_count(), no_id) {
        if (when == inferring::all) {
            detail::infer_shapes(model, types_);
        } else {
            inference_.emplace(model, types_);
        }
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            if (tensors[i].value != no_id) {
                tensor_of_[tensors[i].value] = i;
            }
        }
    }

    /// Returns: the type of a value. Complexity: O(length of its messages), and that of
    /// `shape_inference::find` if it infers.
    [[nodiscard]] described_type type_of(index_arg<value_id> value) const {
        if (tensor_of_[value] != no_id) {
            const auto header =
                detail::read_value_header(*model_, model_->tensors()[tensor_of_[value]]);
            return {detail::element_name(header.data_type),
                    {header.dims.begin(), header.dims.end()},
                    true};
        }
        if (inference_) {
            inference_->find(value);
        }
        const auto type = types_.type_of(value);
        return type ? detail::describe_type(*type) : described_type();
    }

    /// Returns: name, type and shape of a value. Complexity: as above.
    [[nodiscard]] value_description operator()(index_arg<value_id> value) const {
        const auto type = type_of(value);
        return {std::string(model_->value_name(value)), type.name, detail::shape_text(type)};
    }

private:
    const wire_model* model_;
    mutable value_types types_; // grows if types are inferred on demand
    mutable std::optional<detail::shape_inference> inference_;
    std::vector<id> tensor_of_; // by value: number of its tensor
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TYPES_VALUE_DESCRIPTIONS_HPP
