// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_LAYER_RULES_HPP
#define STEMMA_TYPES_DETAIL_LAYER_RULES_HPP

#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

/// Rules for operators that are whole layers, and for ONNX Runtime's fused ones.
namespace stemma::inline STEMMA_ABI::detail::rules {

inline void dropout(const rule_node& node) {
    node.set_like(0, 0);
    const auto& x = node.input(0);
    node.set(1, node.opset() < 10 ? x.data_type : bool_type, x.dims);
}

/// The other outputs are statistics, like the inputs from the fourth on.
inline void batch_normalization(const rule_node& node) {
    node.set_like(0, 0);
    for (std::size_t i = 1; i < node.output_count(); ++i) {
        node.set_like(i, std::min<std::size_t>(i, 2) + 2);
    }
}

inline void layer_normalization(const rule_node& node) {
    node.set_like(0, 0);
    const auto& x = node.input(0);
    if (x.ranked()) {
        auto reduced = *x.dims;
        const auto axis = axis_of(node.whole("axis", -1), x.rank()).value_or(x.rank());
        std::fill(reduced.begin() + static_cast<std::ptrdiff_t>(axis), reduced.end(), 1);
        const auto statistics = node.whole("stash_type", float_type);
        node.set(1, statistics, reduced);
        node.set(2, statistics, std::move(reduced));
    }
}

/// Of the type of the scale.
inline void scaled_normalization(const rule_node& node) {
    node.set(0, node.input(1).data_type, node.input(0).dims);
}

/// The fourth output is the normalized sum.
inline void skip_normalization(const rule_node& node) {
    node.set_like(0, 0);
    node.set_like(3, 0);
}

/// GRU and RNN have no third output.
inline void recurrence(const rule_node& node) {
    const auto& x = node.input(0);
    const auto& r = node.input(2);
    if ((x.ranked() && x.rank() != 3) || node.whole("layout", 0) == 1) {
        return;
    }
    const auto steps = x.ranked() ? x.dims->front() : any_extent;
    const auto batch = x.ranked() ? (*x.dims)[1] : any_extent;
    const auto directions = r.ranked() && r.rank() == 3 ? (*r.dims)[0] : any_extent;
    const auto hidden = r.ranked() && r.rank() == 3 ? (*r.dims)[2] : any_extent;
    const extents state{directions, batch, hidden};
    node.set(0, x.data_type, extents{steps, directions, batch, hidden});
    node.set(1, x.data_type, state);
    node.set(2, x.data_type, state);
}

/// Of the type of the zero point, the attribute, or the default.
inline void quantize(const rule_node& node) {
    const auto asked = node.whole("output_dtype", 0);
    const auto otherwise = asked != 0 ? asked : uint8_type;
    node.set(0, node.has_input(2) ? node.input(2).data_type : otherwise, node.input(0).dims);
}

/// Of the type of the attribute, or of the scale.
inline void dequantize(const rule_node& node) {
    const auto asked = node.whole("output_dtype", 0);
    node.set(0, asked != 0 ? asked : node.input(1).data_type, node.input(0).dims);
}

inline void quantize_by_range(const rule_node& node) {
    node.set(0, uint8_type, node.input(0).dims);
    node.set(1, float_type, extents{});
    node.set(2, uint8_type, extents{});
}

/// Each of the two tensors is followed by its scale and zero point.
inline void quantized_arithmetic(const rule_node& node) {
    const auto& a = node.input(0);
    node.set(0, a.data_type, broadcast(a.dims, node.input(3).dims));
}

/// Each of the tensors, after the result's scale and zero point, is followed by its own.
inline void quantized_concat(const rule_node& node) {
    const auto& x = node.input(2);
    const auto axis =
        x.ranked() ? axis_of(node.whole("axis", 1), x.rank()) : std::optional<std::size_t>();
    if (!axis) {
        return;
    }
    auto dims = *x.dims;
    for (std::size_t slot = 5; slot < node.input_count(); slot += 3) {
        const auto& part = node.input(slot);
        const bool has_extent = part.ranked() && part.rank() == dims.size() && dims[*axis] >= 0 &&
                                (*part.dims)[*axis] >= 0;
        dims[*axis] = has_extent ? add_extents(dims[*axis], (*part.dims)[*axis]) : any_extent;
    }
    node.set(0, x.data_type, std::move(dims));
}

/// Notes one row per query row; returns its facts if known.
inline const tensor_facts* set_attended(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked() || x.rank() < 3) {
        return nullptr;
    }
    node.set(0, x.data_type, extents{(*x.dims)[0], (*x.dims)[1], any_extent});
    return &x;
}

/// Past keys and values in one tensor.
inline void attention(const rule_node& node) {
    if (const auto* x = set_attended(node)) {
        node.set(1, x->data_type, extents{2, x->dims->front(), any_extent, any_extent, any_extent});
    }
}

/// Past keys and values in separate tensors.
inline void attention_of_heads(const rule_node& node) {
    if (const auto* x = set_attended(node)) {
        const extents kept{x->dims->front(), any_extent, any_extent, any_extent};
        node.set(1, x->data_type, kept);
        node.set(2, x->data_type, kept);
    }
}

/// Attention of the standard domain, with an axis of heads or with heads side by side; past and
/// present keys and values, and the products of queries and keys.
inline void scaled_attention(const rule_node& node) {
    const auto& q = node.input(0);
    const auto& k = node.input(1);
    const auto& v = node.input(2);
    if (!q.ranked() || (q.rank() != 3 && q.rank() != 4)) {
        return;
    }
    const bool has_axis = q.rank() == 4;
    const auto last = [&](const tensor_facts& x) {
        return x.ranked() && x.rank() == q.rank() ? x.dims->back() : any_extent;
    };
    const auto count = [&](const char* name, const tensor_facts& x) {
        const auto heads =
            has_axis && x.ranked() && x.rank() == 4 ? (*x.dims)[1] : node.whole(name, any_extent);
        return heads > 0 ? heads : any_extent;
    };
    const auto own_heads = count("q_num_heads", q);
    const auto heads = count("kv_num_heads", k);
    const auto head_size = [&](const tensor_facts& x) {
        return has_axis ? last(x) : last(x) < 0 || heads < 0 ? any_extent : last(x) / heads;
    };
    auto dims = *q.dims;
    dims.back() = has_axis ? last(v) : multiply_extents(own_heads, head_size(v));
    node.set(0, q.data_type, std::move(dims));
    const auto batch = q.dims->front();
    node.set(1, k.data_type, extents{batch, heads, any_extent, head_size(k)});
    node.set(2, v.data_type, extents{batch, heads, any_extent, head_size(v)});
    node.set(3, q.data_type, extents{batch, own_heads, (*q.dims)[q.rank() - 2], any_extent});
}

/// Rows of the embedding table indexed by the first input, and the last position of each.
inline void embedding(const rule_node& node) {
    const auto& words = node.input(2);
    const auto& numbers = node.input(0);
    if (words.ranked() && words.rank() == 2 && numbers.ranked() && numbers.rank() == 2) {
        auto dims = *numbers.dims;
        dims.push_back(words.dims->back());
        node.set(0, words.data_type, dims);
        node.set(1, int32_type, extents{dims.front()});
        node.set(2, words.data_type, std::move(dims));
    }
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_LAYER_RULES_HPP
