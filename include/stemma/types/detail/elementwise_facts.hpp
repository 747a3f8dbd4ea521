// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_ELEMENTWISE_FACTS_HPP
#define STEMMA_TYPES_DETAIL_ELEMENTWISE_FACTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stemma::detail {

/// Infers what operators make that work element by element.
class elementwise_facts {
public:
    /// Requires: `table` outlives this.
    explicit elementwise_facts(fact_table& table) : table_(table) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        if (is_one_of(
                op, " Abs Acos Acosh Asin Asinh Atan Atanh Celu Ceil Clip Cos Cosh CumSum Elu Erf "
                    "Exp Floor Gelu GroupNormalization HardSigmoid HardSwish Hardmax Identity "
                    "InstanceNormalization LRN LeakyRelu Log LogSoftmax LpNormalization "
                    "MeanVarianceNormalization Mish Neg PRelu RMSNormalization Reciprocal Relu "
                    "ReverseSequence Round Scatter ScatterElements ScatterND Selu Shrink Sigmoid "
                    "Sign SimplifiedLayerNormalization Sin Sinh Softmax Softplus Softsign Sqrt "
                    "Swish Tan Tanh ThresholdedRelu "
                    "Trilu BitwiseNot Not ")) {
            table_.set(node, 0, {x.data_type, x.dims, op == "Identity" ? x.numbers : std::nullopt});
        } else if (is_one_of(op,
                             " Add Sub Mul Div Pow Mod And Or Xor BitShift BitwiseAnd BitwiseOr "
                             "BitwiseXor Max Min Sum Mean ")) {
            table_.set(node, 0, {x.data_type, table_.broadcast_inputs(node), arithmetic(node, op)});
        } else if (is_one_of(op, " Equal Greater Less GreaterOrEqual LessOrEqual ")) {
            table_.set(node, 0, made(bool_type, table_.broadcast_inputs(node)));
        } else if (is_one_of(op, " IsNaN IsInf ")) {
            table_.set(node, 0, made(bool_type, x.dims));
        } else if (op == "Where") {
            table_.set(node, 0,
                       made(table_.input(node, 1).data_type, table_.broadcast_inputs(node)));
        } else if (op == "Cast") {
            table_.set(node, 0,
                       {table_.attributes(node).whole("to").value_or(0), x.dims, x.numbers});
        } else if (op == "CastLike") {
            table_.set(node, 0, {table_.input(node, 1).data_type, x.dims, x.numbers});
        } else {
            return false;
        }
        return true;
    }

private:
    /// Sums and products of extents.
    [[nodiscard]] std::optional<extents> arithmetic(id node, std::string_view op) const {
        const auto& a = table_.input(node, 0).numbers;
        const auto& b = table_.input(node, 1).numbers;
        if (!a || !b || a->size() != b->size() || table_.model().inputs(node).size() != 2) {
            return std::nullopt;
        }
        extents result;
        for (std::size_t i = 0; i < a->size(); ++i) {
            result.push_back(op == "Add"   ? add_extents((*a)[i], (*b)[i])
                             : op == "Mul" ? multiply_extents((*a)[i], (*b)[i])
                                           : any_extent);
        }
        return result;
    }

    fact_table& table_;
};

} // namespace stemma::detail

#endif // STEMMA_TYPES_DETAIL_ELEMENTWISE_FACTS_HPP
