// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_FUSED_FACTS_HPP
#define STEMMA_DETAIL_FUSED_FACTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/detail/computed_facts.hpp>
#include <stemma/detail/fact_table.hpp>
#include <stemma/detail/tensor_facts.hpp>

#include <cstddef>
#include <string_view>

namespace stemma::detail {

/// Infers what those operators of `com.microsoft` make that ONNX Runtime puts in the place of
/// several standard ones when it saves a model that it optimized.
class fused_facts {
public:
    /// Requires: both outlive this.
    fused_facts(fact_table& table, computed_facts& computed) : table_(table), computed_(computed) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        const auto like_first = [&](std::size_t output) {
            const auto& x = table_.input(node, 0);
            table_.set(node, output, made(x.data_type, x.dims));
        };
        if (is_one_of(op, " Gelu FastGelu QuickGelu BiasGelu ")) {
            like_first(0);
        } else if (is_one_of(op, " SkipLayerNormalization SkipSimplifiedLayerNormalization ")) {
            like_first(0);
            like_first(3); // the sum that is normalized
        } else if (op == "FusedConv") {
            computed_.infer(node, "Conv");
        } else if (op == "FusedGemm") {
            computed_.infer(node, "Gemm");
        } else if (op == "FusedMatMul") {
            computed_.infer_turned_product(node);
        } else {
            return false;
        }
        return true;
    }

private:
    fact_table& table_;
    computed_facts& computed_;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_FUSED_FACTS_HPP
