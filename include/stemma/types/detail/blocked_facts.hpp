// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_BLOCKED_FACTS_HPP
#define STEMMA_TYPES_DETAIL_BLOCKED_FACTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/computed_facts.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace stemma::detail {

/// Infers what the operators of `com.microsoft.nchwc` make, which ONNX Runtime's layout
/// optimization writes. They compute on blocks of channels; the extents of a tensor stay in their
/// order, with as many channels as fill the blocks.
class blocked_facts {
public:
    /// Requires: both outlive this.
    blocked_facts(fact_table& table, computed_facts& computed)
        : table_(table), computed_(computed) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        if (is_one_of(op, " Conv MaxPool AveragePool GlobalMaxPool GlobalAveragePool ")) {
            computed_.infer(node, op);
        } else if (is_one_of(op, " ReorderInput ReorderOutput ")) {
            infer_reordering(node, op == "ReorderInput");
        } else if (op == "Upsample") {
            infer_scaling(node);
        } else {
            return false;
        }
        return true;
    }

private:
    /// Channels are the last extent, or the second one, of what is not blocked.
    void infer_reordering(id node, bool to_blocks) {
        const auto& x = table_.input(node, 0);
        if (!x.ranked() || x.rank() < 2) {
            return;
        }
        const auto attributes = table_.attributes(node);
        const bool last = attributes.whole("channels_last").value_or(0) != 0;
        auto dims = *x.dims;
        if (last) {
            dims.assign(x.rank(), any_extent);
            dims.front() = x.dims->front();
        }
        if (to_blocks) {
            dims[1] = any_extent;
        } else {
            dims[last ? x.rank() - 1 : 1] =
                std::max(any_extent, attributes.whole("channels").value_or(any_extent));
        }
        table_.set(node, 0, made(x.data_type, std::move(dims)));
    }

    void infer_scaling(id node) {
        const auto& x = table_.input(node, 0);
        if (!x.ranked()) {
            return;
        }
        const auto scales = table_.attributes(node).wholes("scales").value_or(extents{});
        extents dims(x.rank(), any_extent);
        for (std::size_t i = 0; i < x.rank() && scales.size() == x.rank(); ++i) {
            dims[i] = multiply_extents((*x.dims)[i], scales[i]);
        }
        table_.set(node, 0, made(x.data_type, std::move(dims)));
    }

    fact_table& table_;
    computed_facts& computed_;
};

} // namespace stemma::detail

#endif // STEMMA_TYPES_DETAIL_BLOCKED_FACTS_HPP
