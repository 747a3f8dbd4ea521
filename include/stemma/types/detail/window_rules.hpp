// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_WINDOW_RULES_HPP
#define STEMMA_TYPES_DETAIL_WINDOW_RULES_HPP

#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

/// Rules for operators on images: sliding windows, resampling, blocks of channels.
namespace stemma::inline STEMMA_ABI::detail::rules {

/// Computes the extents after a window slides over `x`, if everything relevant is known. `weights`
/// give the extents of the window if no attribute does.
inline void slide(const rule_node& node, const tensor_facts& x, const tensor_facts* weights,
                  extents& dims) {
    const auto attributes = node.attributes();
    const auto spatial = x.rank() - 2;
    const auto filled = [&](std::string_view name, std::size_t count, std::int64_t value) {
        auto numbers = attributes.wholes(name).value_or(extents{});
        numbers.resize(count, value);
        return numbers;
    };
    auto kernel = attributes.wholes("kernel_shape").value_or(extents{});
    if (kernel.empty() && weights != nullptr && weights->ranked() && weights->rank() == x.rank()) {
        kernel.assign(weights->dims->begin() + 2, weights->dims->end());
    }
    if (kernel.size() != spatial || node.is_set("ceil_mode")) {
        return;
    }
    const auto strides = filled("strides", spatial, 1);
    const auto dilations = filled("dilations", spatial, 1);
    const auto pads = filled("pads", 2 * spatial, 0);
    const auto automatic = attributes.text("auto_pad");
    for (std::size_t i = 0; i < spatial; ++i) {
        const auto extent = (*x.dims)[i + 2];
        if (extent < 0 || kernel[i] < 1 || strides[i] < 1) {
            continue;
        }
        const auto reach = multiply_extents(kernel[i] - 1, dilations[i]);
        const auto padded = automatic == "VALID"
                                ? extent
                                : add_extents(extent, add_extents(pads[i], pads[i + spatial]));
        if (automatic.starts_with("SAME")) {
            dims[i + 2] = extent / strides[i] + (extent % strides[i] != 0 ? 1 : 0);
        } else if (reach >= 0 && padded > reach) {
            dims[i + 2] = (padded - reach - 1) / strides[i] + 1;
        }
    }
}

/// Notes a convolution with the weights in the second input.
inline void set_convolution(const rule_node& node, std::int64_t data_type) {
    const auto& x = node.input(0);
    const auto& w = node.input(1);
    if (x.ranked() && x.rank() >= 2) {
        extents dims(x.rank(), any_extent);
        dims[0] = (*x.dims)[0];
        if (w.ranked() && w.rank() == x.rank()) {
            dims[1] = (*w.dims)[0];
        }
        slide(node, x, &w, dims);
        node.set(0, data_type, std::move(dims));
    }
}

inline void convolution(const rule_node& node) {
    set_convolution(node, node.input(0).data_type);
}

inline void integer_convolution(const rule_node& node) {
    set_convolution(node, int32_type);
}

inline void transposed_convolution(const rule_node& node) {
    const auto& x = node.input(0);
    if (x.ranked() && x.rank() >= 2) {
        extents dims(x.rank(), any_extent);
        dims[0] = (*x.dims)[0];
        node.set(0, x.data_type, std::move(dims));
    }
}

/// MaxPool also outputs indices.
inline void pool(const rule_node& node) {
    const auto& x = node.input(0);
    if (x.ranked() && x.rank() >= 2) {
        extents dims(x.rank(), any_extent);
        std::copy_n(x.dims->begin(), 2, dims.begin());
        slide(node, x, nullptr, dims);
        node.set(0, x.data_type, dims);
        node.set(1, int64_type, std::move(dims));
    }
}

inline void global_pool(const rule_node& node) {
    const auto& x = node.input(0);
    if (x.ranked() && x.rank() >= 2) {
        extents dims(x.rank(), 1);
        std::copy_n(x.dims->begin(), 2, dims.begin());
        node.set(0, x.data_type, std::move(dims));
    }
}

inline void grid_sample(const rule_node& node) {
    const auto& x = node.input(0);
    const auto& grid = node.input(1);
    if (x.ranked() && grid.ranked() && x.rank() == grid.rank() && x.rank() >= 3) {
        extents dims(x.dims->begin(), x.dims->begin() + 2);
        dims.insert(dims.end(), grid.dims->begin() + 1, grid.dims->end() - 1);
        node.set(0, x.data_type, std::move(dims));
    }
}

/// Three numbers per box.
inline void selected_boxes(const rule_node& node) {
    node.set(0, int64_type, extents{any_extent, 3});
}

/// ONNX Runtime's blocks of channels: extents keep their order, with channels padded to whole
/// blocks. Outside, channels are the second or the last extent.
inline void to_blocks(const rule_node& node) {
    auto x = node.input(0);
    if (x.ranked() && x.rank() >= 2) {
        if (node.is_set("channels_last")) {
            std::fill(x.dims->begin() + 1, x.dims->end(), any_extent);
        }
        (*x.dims)[1] = any_extent;
        node.set(0, x.data_type, std::move(x.dims));
    }
}

inline void from_blocks(const rule_node& node) {
    auto x = node.input(0);
    if (x.ranked() && x.rank() >= 2) {
        const bool last = node.is_set("channels_last");
        if (last) {
            std::fill(x.dims->begin() + 1, x.dims->end(), any_extent);
        }
        (*x.dims)[last ? x.rank() - 1 : 1] =
            std::max(any_extent, node.whole("channels", any_extent));
        node.set(0, x.data_type, std::move(x.dims));
    }
}

inline void scaled_blocks(const rule_node& node) {
    const auto& x = node.input(0);
    if (x.ranked()) {
        const auto scales = node.attributes().wholes("scales").value_or(extents{});
        extents dims(x.rank(), any_extent);
        for (std::size_t i = 0; i < x.rank() && scales.size() == x.rank(); ++i) {
            dims[i] = multiply_extents((*x.dims)[i], scales[i]);
        }
        node.set(0, x.data_type, std::move(dims));
    }
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_WINDOW_RULES_HPP
