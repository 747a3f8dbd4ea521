// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_EXACT_WINDOWS_HPP
#define STEMMA_TYPES_DETAIL_EXACT_WINDOWS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/exact_operands.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/polynomial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Infers extents after convolutions and pools (plain, quantized, fused or blocked) and fused
/// attention.
class exact_windows : exact_operands {
public:
    /// Requires: both outlive this.
    exact_windows(fact_table& table, extent_algebra& algebra) : exact_operands(table, algebra) {}

    /// Returns: whether the operator is one of them, and was inferred.
    bool infer(id node, std::string_view op) {
        static const exact_rules<exact_windows> rules{
            {"Conv", &exact_windows::convolution},
            {"FusedConv", &exact_windows::convolution},
            {"NhwcConv", &exact_windows::convolution_of_last},
            {"NhwcFusedConv", &exact_windows::convolution_of_last},
            {"DeformConv", &exact_windows::convolution},
            {"ConvInteger", &exact_windows::convolution},
            {"QLinearConv", &exact_windows::quantized_convolution},
            {"ConvTranspose", &exact_windows::transposed},
            {"MaxPool", &exact_windows::pool},
            {"AveragePool", &exact_windows::pool},
            {"LpPool", &exact_windows::pool},
            {"QLinearAveragePool", &exact_windows::pool},
            {"QLinearMatMul", &exact_windows::quantized_product},
            {"QLinearConcat", &exact_windows::quantized_concat},
            {"Attention", &exact_windows::attention},
            {"QAttention", &exact_windows::attention},
            {"PackedAttention", &exact_windows::attention},
            {"MultiHeadAttention", &exact_windows::attention_of_heads},
            {"GroupQueryAttention", &exact_windows::attention_of_groups},
            {"ReorderInput", &exact_windows::into_blocks},
            {"BiasGelu", &exact_windows::alike},
            {"BiasAdd", &exact_windows::alike},
            {"BiasSoftmax", &exact_windows::alike},
            {"BiasDropout", &exact_windows::alike},
            {"BiasSplitGelu", &exact_windows::half},
            {"GroupNorm", &exact_windows::alike},
            {"SkipGroupNorm", &exact_windows::alike},
        };
        const auto rule = rules.find(op);
        return rule != rules.end() && (this->*rule->second)(node);
    }

private:
    /// A window along one axis.
    struct axis_window {
        std::int64_t kernel = any_extent;
        std::int64_t stride = 1;
        std::int64_t dilation = 1;
        std::int64_t before = 0;
        std::int64_t behind = 0;
    };

    [[nodiscard]] static bool is_sane(const axis_window& w) noexcept {
        constexpr std::int64_t most = std::int64_t{1} << 30U;
        return w.kernel > 0 && w.kernel < most && w.stride > 0 && w.stride < most &&
               w.dilation > 0 && w.dilation < most && std::max(w.before, w.behind) < most &&
               std::min(w.before, w.behind) > -most;
    }

    [[nodiscard]] static axis_window window_of(const node_attributes& attributes, std::size_t axis,
                                               std::size_t axes, std::int64_t kernel) {
        const auto of = [&](std::string_view name, std::size_t at, std::int64_t otherwise) {
            const auto given = attributes.wholes(name).value_or(extents{});
            return at < given.size() ? given[at] : otherwise;
        };
        return {of("kernel_shape", axis, kernel), of("strides", axis, 1), of("dilations", axis, 1),
                of("pads", axis, 0), of("pads", axis + axes, 0)};
    }

    [[nodiscard]] std::int64_t slide(std::int64_t extent, const axis_window& w,
                                     std::string_view automatic, bool up) {
        if (extent == any_extent || !is_sane(w)) {
            return any_extent;
        }
        const auto size = algebra_.value(extent);
        if (automatic.starts_with("SAME")) {
            return algebra_.extent(algebra_.divide(size + (w.stride - 1), w.stride));
        }
        const bool valid = automatic == "VALID";
        const auto pads = valid ? 0 : w.before + w.behind;
        const auto reach = (w.kernel - 1) * w.dilation + 1;
        auto count = algebra_.divide(size + (pads - reach + (up ? w.stride - 1 : 0)), w.stride) + 1;
        if (const auto number = count.constant(); number && up && extent >= 0) {
            // Windows that would start in the right padding are dropped.
            const bool starts = (*number - 1) * w.stride < extent + (valid ? 0 : w.before);
            count = *number - (starts ? 0 : 1);
        }
        return algebra_.extent(count.constant().value_or(0) < 0 ? polynomial() : count);
    }

    bool windows(id node, const tensor_facts& x, const tensor_facts* w, std::int64_t type,
                 bool last = false) {
        if (!x.ranked() || x.rank() < 3 || (w != nullptr && !w->ranked())) {
            return false;
        }
        const auto attributes = table_.attributes(node);
        const auto axes = x.rank() - 2;
        const std::size_t first = last ? 1 : 2;
        const auto automatic = attributes.text("auto_pad");
        const bool up = attributes.whole("ceil_mode").value_or(0) != 0;
        auto dims = *x.dims;
        if (w != nullptr) {
            dims[last ? x.rank() - 1 : 1] = w->dims->empty() ? any_extent : w->dims->front();
        }
        for (std::size_t i = 0; i < axes; ++i) {
            const auto kernel =
                w != nullptr && w->rank() == x.rank() ? (*w->dims)[i + 2] : any_extent;
            dims[i + first] =
                slide(dims[i + first], window_of(attributes, i, axes, kernel), automatic, up);
        }
        set(node, 0, type, dims);
        if (table_.model().op_type(node) == "MaxPool") {
            set(node, 1, int64_type, std::move(dims));
        }
        return true;
    }

    bool convolution(id node) {
        const auto& x = input(node, 0);
        return windows(node, x, &input(node, 1),
                       table_.model().op_type(node) == "ConvInteger" ? int32_type : x.data_type);
    }

    bool convolution_of_last(id node) {
        return windows(node, input(node, 0), &input(node, 1), input(node, 0).data_type, true);
    }

    bool quantized_convolution(id node) {
        return windows(node, input(node, 0), &input(node, 3), input(node, 7).data_type,
                       is_last(node));
    }

    bool pool(id node) {
        return windows(node, input(node, 0), nullptr, input(node, 0).data_type, is_last(node));
    }

    [[nodiscard]] bool is_last(id node) const {
        return table_.attributes(node).whole("channels_last").value_or(0) != 0;
    }

    bool transposed(id node) {
        const auto& x = input(node, 0);
        const auto& w = input(node, 1);
        if (!x.ranked() || !w.ranked() || x.rank() < 3 || w.rank() != x.rank()) {
            return false;
        }
        const auto attributes = table_.attributes(node);
        const auto axes = x.rank() - 2;
        const auto given = attributes.wholes("output_shape").value_or(extents{});
        const auto more = attributes.wholes("output_padding").value_or(extents{});
        const bool same = attributes.text("auto_pad").starts_with("SAME");
        auto dims = *x.dims;
        dims[1] = algebra_.multiply((*w.dims)[1], attributes.whole("group").value_or(1));
        for (std::size_t i = 0; i < axes; ++i) {
            const auto win = window_of(attributes, i, axes, (*w.dims)[i + 2]);
            auto& extent = dims[i + 2];
            if (!is_sane(win)) {
                extent = any_extent;
            } else if (given.size() == axes) {
                extent = std::max(any_extent, given[i]);
            } else if (same) {
                extent = algebra_.multiply(extent, win.stride);
            } else {
                const auto behind = more.size() == axes ? more[i] : 0;
                const auto reach = (win.kernel - 1) * win.dilation + 1;
                extent = algebra_.extent((algebra_.value(extent) - 1) * win.stride + behind +
                                         (reach - win.before - win.behind));
            }
        }
        set(node, 0, x.data_type, std::move(dims));
        return true;
    }

    bool quantized_product(id node) { return product(node, 3, 2, input(node, 7).data_type); }

    bool quantized_concat(id node) {
        const auto& x = input(node, 2);
        const auto axis = x.ranked()
                              ? axis_of(table_.attributes(node).whole("axis").value_or(1), x.rank())
                              : std::nullopt;
        if (!axis) {
            return false;
        }
        auto dims = *x.dims;
        for (std::size_t slot = 5; slot < table_.model().inputs(node).size(); slot += 3) {
            const auto& part = input(node, slot);
            dims[*axis] = part.ranked() && part.rank() == dims.size()
                              ? algebra_.add(dims[*axis], (*part.dims)[*axis])
                              : any_extent;
        }
        set(node, 0, x.data_type, std::move(dims));
        return true;
    }

    /// The rows of the query, with the width of all heads' values.
    void attended(id node, std::int64_t width) { attended(node, width, input(node, 0).data_type); }

    void attended(id node, std::int64_t width, std::int64_t type) {
        const auto& x = input(node, 0);
        set(node, 0, type, extents{(*x.dims)[0], (*x.dims)[1], width});
    }

    bool attention(id node) {
        const auto& x = input(node, 0);
        if (table_.model().domain(node).empty()) { // standard domain: queries, keys, values
            const auto& v = input(node, 2);
            if (!x.ranked() || !v.ranked()) {
                return false;
            }
            auto dims = *x.dims;
            if (x.rank() == 4 && v.rank() == 4) {
                dims.back() = v.dims->back();
            } else if (x.rank() == 3 && v.rank() == 3) {
                const auto attributes = table_.attributes(node);
                const auto heads = attributes.whole("q_num_heads").value_or(1);
                const auto groups = attributes.whole("kv_num_heads").value_or(heads);
                dims.back() =
                    groups == heads
                        ? v.dims->back()
                        : algebra_.divide(algebra_.multiply(v.dims->back(), heads), groups);
            }
            set(node, 0, x.data_type, std::move(dims));
            return true;
        }
        const auto& w = input(node, 1);
        const auto& bias = input(node, 2);
        const auto all = w.ranked() && w.rank() == 2         ? w.dims->back()
                         : bias.ranked() && bias.rank() == 1 ? bias.dims->back()
                                                             : any_extent;
        if (!x.ranked() || x.rank() != 3) {
            return false;
        }
        const auto sizes = table_.attributes(node).wholes("qkv_hidden_sizes");
        const bool quantized = table_.model().op_type(node) == "QAttention"; // of integers
        attended(node,
                 sizes && sizes->size() == 3 ? std::max(any_extent, (*sizes)[2])
                                             : algebra_.divide(all, 3),
                 quantized ? bias.data_type : x.data_type);
        return false; // the general rules handle past keys and values
    }

    bool attention_of_heads(id node) {
        const auto& q = input(node, 0);
        const auto& v = input(node, 2);
        if (!q.ranked() || q.rank() < 3) {
            return false;
        }
        if (q.rank() == 5) { // queries, keys and values in one: [batch, sequence, heads, 3, width]
            attended(node, algebra_.multiply((*q.dims)[2], (*q.dims)[4]));
        } else {
            attended(node, v.ranked() && v.rank() == 3 ? v.dims->back()
                           : v.ranked() && v.rank() == 4
                               ? algebra_.multiply((*v.dims)[1], (*v.dims)[3])
                               : q.dims->back());
        }
        return q.rank() == 5;
    }

    bool attention_of_groups(id node) {
        const auto& q = input(node, 0);
        if (!q.ranked() || q.rank() != 3) {
            return false;
        }
        const auto attributes = table_.attributes(node);
        const auto heads = attributes.whole("num_heads").value_or(1);
        const auto groups = attributes.whole("kv_num_heads").value_or(heads);
        const bool packed = !table_.has_input(node, 1);
        attended(node,
                 packed && heads > 0 && groups > 0 && groups < (1 << 20U) && heads < (1 << 20U)
                     ? algebra_.multiply(algebra_.divide(q.dims->back(), heads + 2 * groups), heads)
                     : q.dims->back());
        return false;
    }

    /// The actual number of channels, without padding to whole blocks.
    bool into_blocks(id node) {
        const auto& x = input(node, 0);
        if (!x.ranked() || x.rank() < 3 || is_last(node)) {
            return false;
        }
        set(node, 0, x.data_type, x.dims);
        return true;
    }

    bool alike(id node) {
        set(node, 0, input(node, 0).data_type, input(node, 0).dims);
        return true;
    }

    bool half(id node) {
        auto dims = input(node, 0).dims;
        if (!dims || dims->empty()) {
            return false;
        }
        dims->back() = algebra_.divide(dims->back(), 2);
        set(node, 0, input(node, 0).data_type, std::move(dims));
        return true;
    }
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_EXACT_WINDOWS_HPP
