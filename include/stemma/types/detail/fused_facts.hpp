// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_FUSED_FACTS_HPP
#define STEMMA_TYPES_DETAIL_FUSED_FACTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/types/detail/computed_facts.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace stemma::detail {

/// Infers what those operators of `com.microsoft` make that ONNX Runtime puts in the place of
/// several standard ones when it saves a model that it optimized.
class fused_facts {
public:
    /// Requires: both outlive this.
    fused_facts(fact_table& table, computed_facts& computed) : table_(table), computed_(computed) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        if (is_one_of(op, " Gelu FastGelu QuickGelu BiasGelu RotaryEmbedding QLinearSigmoid "
                          "QLinearLeakyRelu QLinearSoftmax ")) {
            like(node, 0, 0);
        } else if (is_one_of(op, " SkipLayerNormalization SkipSimplifiedLayerNormalization ")) {
            like(node, 0, 0);
            like(node, 3, 0); // the sum that is normalized
        } else if (op == "FusedConv") {
            computed_.infer(node, "Conv");
        } else if (op == "FusedGemm") {
            computed_.infer(node, "Gemm");
        } else if (op == "FusedMatMul") {
            computed_.infer_turned_product(node);
        } else if (op == "DynamicQuantizeMatMul") {
            computed_.infer_product_of(node, table_.input(node, 0).data_type);
        } else if (op == "MatMulIntegerToFloat") {
            computed_.infer_product_of(node, table_.input(node, 2).data_type); // that of the scale
        } else if (is_one_of(op, " MatMulNBits MatMulBnb4 MatMulFpQ4 ")) {
            infer_packed_product(node);
        } else if (is_one_of(op, " QLinearAdd QLinearMul ")) {
            const auto& a = table_.input(node, 0);
            table_.set(node, 0, made(a.data_type, broadcast(a.dims, table_.input(node, 3).dims)));
        } else if (is_one_of(op, " Attention MultiHeadAttention GroupQueryAttention ")) {
            infer_attention(node, op);
        } else if (op == "EmbedLayerNormalization") {
            infer_embedding(node);
        } else {
            return false;
        }
        return true;
    }

private:
    void like(id node, std::size_t output, std::size_t input) {
        const auto& x = table_.input(node, input);
        table_.set(node, output, made(x.data_type, x.dims));
    }

    /// A MatMul with weights that several elements share a byte of; an attribute has their extent.
    void infer_packed_product(id node) {
        const auto& x = table_.input(node, 0);
        if (x.ranked() && x.rank() > 0) {
            auto dims = *x.dims;
            dims.back() =
                std::max(any_extent, table_.attributes(node).whole("N").value_or(any_extent));
            table_.set(node, 0, made(x.data_type, std::move(dims)));
        }
    }

    /// What comes out has a row for each one of the query; behind it, keys and values are kept, by
    /// `Attention` in one tensor, by the others in one each.
    void infer_attention(id node, std::string_view op) {
        const auto& x = table_.input(node, 0);
        if (!x.ranked() || x.rank() < 3) {
            return;
        }
        table_.set(node, 0, made(x.data_type, extents{(*x.dims)[0], (*x.dims)[1], any_extent}));
        if (op == "Attention") {
            table_.set(
                node, 1,
                made(x.data_type, extents{2, (*x.dims)[0], any_extent, any_extent, any_extent}));
        } else {
            const extents kept{(*x.dims)[0], any_extent, any_extent, any_extent};
            table_.set(node, 1, made(x.data_type, kept));
            table_.set(node, 2, made(x.data_type, kept));
        }
    }

    /// Rows of the table of words at the numbers in the first input, and the last position of each.
    void infer_embedding(id node) {
        const auto& words = table_.input(node, 2);
        const auto& numbers = table_.input(node, 0);
        if (!words.ranked() || words.rank() != 2 || !numbers.ranked() || numbers.rank() != 2) {
            return;
        }
        auto dims = *numbers.dims;
        dims.push_back(words.dims->back());
        table_.set(node, 0, made(words.data_type, dims));
        table_.set(node, 1, made(int32_type, extents{dims.front()}));
        table_.set(node, 2, made(words.data_type, std::move(dims)));
    }

private:
    fact_table& table_;
    computed_facts& computed_;
};

} // namespace stemma::detail

#endif // STEMMA_TYPES_DETAIL_FUSED_FACTS_HPP
