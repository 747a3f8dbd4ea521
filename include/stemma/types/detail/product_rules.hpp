// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_PRODUCT_RULES_HPP
#define STEMMA_TYPES_DETAIL_PRODUCT_RULES_HPP

#include <stemma/types/detail/einsum_equation.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

/// Rules for matrix products.
namespace stemma::inline STEMMA_ABI::detail::rules {

/// Notes the product of two tensors of matrices in the last two axes.
inline void set_product(const rule_node& node, const tensor_facts& a, const tensor_facts& b,
                        std::int64_t data_type) {
    if (!a.ranked() || !b.ranked() || a.rank() == 0 || b.rank() == 0) {
        node.set(0, data_type, std::nullopt);
        return;
    }
    const auto front = [](const extents& dims) {
        return std::optional(extents(dims.begin(), dims.end() - (dims.size() > 1 ? 2 : 1)));
    };
    auto dims = *node.algebra().broadcast(front(*a.dims), front(*b.dims));
    if (a.rank() > 1) {
        dims.push_back((*a.dims)[a.rank() - 2]);
    }
    if (b.rank() > 1) {
        dims.push_back(b.dims->back());
    }
    node.set(0, data_type, std::move(dims));
}

/// A product with the type of one input.
template <std::size_t typed_like = 0>
void product(const rule_node& node) {
    set_product(node, node.input(0), node.input(1), node.input(typed_like).data_type);
}

inline void integer_product(const rule_node& node) {
    set_product(node, node.input(0), node.input(1), int32_type);
}

/// Scales and zero points stand between the factors; the last zero point has the result's type.
inline void quantized_product(const rule_node& node) {
    set_product(node, node.input(0), node.input(3), node.input(7).data_type);
}

/// Attributes say which inputs are transposed. With a transposed batch, the first extent comes
/// before the last.
inline void transposing_product(const rule_node& node) {
    const auto turned = [&](std::size_t slot, std::string_view batch, std::string_view matrix) {
        auto x = node.input(slot);
        if (x.ranked() && x.rank() > 1 && node.is_set(batch)) {
            std::rotate(x.dims->begin(), x.dims->begin() + 1, x.dims->end() - 1);
        }
        if (x.ranked() && x.rank() > 1 && node.is_set(matrix)) {
            std::swap(x.dims->back(), (*x.dims)[x.rank() - 2]);
        }
        return x;
    };
    const auto a = turned(0, "transBatchA", "transA");
    set_product(node, a, turned(1, "transBatchB", "transB"), a.data_type);
}

/// Packed weights with several elements per byte; the attribute `N` is their last extent.
inline void packed_product(const rule_node& node) {
    const auto& x = node.input(0);
    if (x.ranked() && x.rank() > 0) {
        auto dims = *x.dims;
        dims.back() = std::max(any_extent, node.whole("N", any_extent));
        node.set(0, x.data_type, std::move(dims));
    }
}

/// Notes the product of two matrices, which attributes may transpose.
inline void set_gemm(const rule_node& node, const tensor_facts& a, const tensor_facts& b,
                     std::int64_t data_type) {
    const auto extent = [](const tensor_facts& x, std::size_t axis) {
        return x.ranked() ? (*x.dims)[axis] : any_extent;
    };
    if ((!a.ranked() || a.rank() == 2) && (!b.ranked() || b.rank() == 2)) {
        node.set(0, data_type,
                 extents{extent(a, node.is_set("transA") ? 1 : 0),
                         extent(b, node.is_set("transB") ? 0 : 1)});
    }
}

inline void gemm(const rule_node& node) {
    set_gemm(node, node.input(0), node.input(1), node.input(0).data_type);
}

/// Without a zero point, the result is not quantized.
inline void quantized_gemm(const rule_node& node) {
    set_gemm(node, node.input(0), node.input(3),
             node.has_input(8) ? node.input(8).data_type : float_type);
}

inline void einsum(const rule_node& node) {
    std::vector<std::size_t> ranks;
    for (std::size_t slot = 0; slot < node.input_count(); ++slot) {
        if (!node.input(slot).ranked()) {
            return;
        }
        ranks.push_back(node.input(slot).rank());
    }
    const auto equation = einsum_equation::read(node.attributes().text("equation"), ranks);
    if (!equation) {
        return;
    }
    std::map<char, std::int64_t> extent_of;
    for (std::size_t slot = 0; slot < ranks.size(); ++slot) {
        for (std::size_t i = 0; i < ranks[slot]; ++i) {
            const auto extent = (*node.input(slot).dims)[i];
            const auto entry = extent_of.try_emplace(equation->operands[slot][i], extent).first;
            entry->second =
                node.algebra().broadcast(extents{entry->second}, extents{extent})->front();
        }
    }
    extents dims;
    for (const char letter : equation->result) {
        const auto entry = extent_of.find(letter);
        dims.push_back(entry == extent_of.end() ? any_extent : entry->second);
    }
    node.set(0, node.input(0).data_type, std::move(dims));
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_PRODUCT_RULES_HPP
