// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_LAYER_RULES_HPP
#define STEMMA_TYPES_DETAIL_LAYER_RULES_HPP

#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
    node.set(0, a.data_type, node.algebra().broadcast(a.dims, node.input(3).dims));
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
        const bool fits = part.ranked() && part.rank() == dims.size();
        dims[*axis] = node.algebra().add(dims[*axis], fits ? (*part.dims)[*axis] : any_extent);
    }
    node.set(0, x.data_type, std::move(dims));
}

/// Notes a first output of a type with one row per query row, in a batch unless packed without
/// padding.
inline void set_attended(const rule_node& node, std::int64_t type, std::int64_t width) {
    auto dims = *node.input(0).dims;
    dims.resize(std::min<std::size_t>(dims.size(), 3));
    dims.back() = width;
    node.set(0, type, std::move(dims));
}

/// Keys and values of earlier and these rows in separate tensors.
inline void set_kept(const rule_node& node) {
    const auto& x = node.input(0);
    const extents kept{x.dims->front(), any_extent, any_extent, any_extent};
    node.set(1, x.data_type, kept);
    node.set(2, x.data_type, kept);
}

/// Queries, keys and values are products of the input and of weights, or as wide as their bias.
/// `Typed` is the input with the type of the output. Past keys and values in one tensor.
template <std::size_t Typed>
void attention(const rule_node& node) {
    const auto& x = node.input(0);
    const auto& w = node.input(1);
    const auto& bias = node.input(2);
    if (!x.ranked() || x.rank() < 2) {
        return;
    }
    const auto all = w.ranked() && w.rank() == 2         ? w.dims->back()
                     : bias.ranked() && bias.rank() == 1 ? bias.dims->back()
                                                         : any_extent;
    const auto sizes = node.attributes().wholes("qkv_hidden_sizes");
    const auto type = node.input(Typed).data_type;
    set_attended(node, type,
                 sizes && sizes->size() == 3 ? std::max(any_extent, (*sizes)[2])
                                             : node.algebra().divide(all, 3));
    node.set(1, type, extents{2, x.dims->front(), any_extent, any_extent, any_extent});
}

/// Queries may come with keys and values in one: [batch, sequence, heads, 3, width].
inline void attention_of_heads(const rule_node& node) {
    const auto& q = node.input(0);
    const auto& v = node.input(2);
    if (!q.ranked() || q.rank() < 3) {
        return;
    }
    auto& algebra = node.algebra();
    const auto width = q.rank() == 5        ? algebra.multiply((*q.dims)[2], (*q.dims)[4])
                       : !node.has_input(2) ? q.dims->back()
                       : !v.ranked()        ? any_extent
                       : v.rank() == 4      ? algebra.multiply((*v.dims)[1], (*v.dims)[3])
                       : v.rank() == 3      ? v.dims->back()
                                            : any_extent;
    set_attended(node, q.data_type, width);
    set_kept(node);
}

/// Several heads share keys and values; without keys, all three are packed in the first input.
inline void attention_of_groups(const rule_node& node) {
    const auto& q = node.input(0);
    if (!q.ranked() || q.rank() < 3) {
        return;
    }
    constexpr std::int64_t most = 1 << 20U;
    const auto heads = node.whole("num_heads", 1);
    const auto groups = node.whole("kv_num_heads", heads);
    const bool sane = std::min(heads, groups) > 0 && std::max(heads, groups) < most;
    auto& algebra = node.algebra();
    set_attended(node, q.data_type,
                 node.has_input(1) ? q.dims->back()
                 : sane
                     ? algebra.multiply(algebra.divide(q.dims->back(), heads + 2 * groups), heads)
                     : any_extent);
    set_kept(node);
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
    auto& algebra = node.algebra();
    const auto head_size = [&](const tensor_facts& x) {
        return has_axis ? last(x) : algebra.divide(last(x), heads);
    };
    auto dims = *q.dims;
    dims.back() =
        has_axis || own_heads == heads ? last(v) : algebra.multiply(own_heads, head_size(v));
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

/// Half as many channels, the last extent.
inline void gated_half(const rule_node& node) {
    const auto& x = node.input(0);
    if (x.ranked() && x.rank() > 0) {
        auto dims = *x.dims;
        dims.back() = node.algebra().divide(dims.back(), 2);
        node.set(0, x.data_type, std::move(dims));
    }
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_LAYER_RULES_HPP
