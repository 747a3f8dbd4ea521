// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_WINDOW_RULES_HPP
#define STEMMA_TYPES_DETAIL_WINDOW_RULES_HPP

#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

/// Rules for operators on images: sliding windows, resampling, blocks of channels.
namespace stemma::inline STEMMA_ABI::detail::rules {

/// Returns: the numbers of an attribute, completed to a count by a default.
[[nodiscard]] inline extents filled(const node_attributes& attributes, std::string_view name,
                                    std::size_t count, std::int64_t value) {
    auto numbers = attributes.wholes(name).value_or(extents{});
    numbers.resize(count, value);
    return numbers;
}

/// Computes the extents after a window slides over `x`, if everything relevant is known. `weights`
/// give the extents of the window if no attribute does.
inline void slide(const rule_node& node, const tensor_facts& x, const tensor_facts* weights,
                  extents& dims) {
    const auto attributes = node.attributes();
    const auto spatial = x.rank() - 2;
    auto kernel = attributes.wholes("kernel_shape").value_or(extents{});
    if (kernel.empty() && weights != nullptr && weights->ranked() && weights->rank() == x.rank()) {
        kernel.assign(weights->dims->begin() + 2, weights->dims->end());
    }
    if (kernel.size() != spatial) {
        return;
    }
    const bool up = node.is_set("ceil_mode");
    const auto strides = filled(attributes, "strides", spatial, 1);
    const auto dilations = filled(attributes, "dilations", spatial, 1);
    const auto pads = filled(attributes, "pads", 2 * spatial, 0);
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
            const auto steps = padded - reach - 1;
            dims[i + 2] = steps / strides[i] + 1;
            // One more window, unless it would start in the right padding.
            const auto start = multiply_extents(dims[i + 2], strides[i]);
            const auto end = automatic == "VALID" ? extent : add_extents(extent, pads[i]);
            dims[i + 2] += up && steps % strides[i] != 0 && start < end ? 1 : 0;
        }
    }
}

/// Notes the result of a window if channels come last: the batch, and the channels.
inline void set_channels_last(const rule_node& node, const tensor_facts& x, std::int64_t channels,
                              std::int64_t data_type) {
    extents dims(x.rank(), any_extent);
    dims.front() = x.dims->front();
    dims.back() = channels;
    node.set(0, data_type, std::move(dims));
}

/// Returns: the rank of what a window slides over, from its size or the weights in an input; with
/// 0, there are none.
[[nodiscard]] inline std::optional<std::size_t> rank_of_window(const rule_node& node,
                                                               std::size_t weights) {
    const auto kernel = node.attributes().wholes("kernel_shape");
    if (kernel && !kernel->empty()) {
        return kernel->size() + 2;
    }
    const auto& w = node.input(weights);
    return weights != 0 && w.ranked() && w.rank() >= 2 ? std::optional(w.rank()) : std::nullopt;
}

/// Returns: facts about the first input; if its rank is unknown, with that of the window.
[[nodiscard]] inline tensor_facts slid_over(const rule_node& node, std::size_t weights = 0) {
    auto x = node.input(0);
    if (const auto rank = x.ranked() ? std::nullopt : rank_of_window(node, weights)) {
        x.dims.emplace(*rank, any_extent);
    }
    return x;
}

/// Notes a convolution with the weights in an input, by default the second.
inline void set_convolution(const rule_node& node, std::int64_t data_type, std::size_t slot = 1) {
    const auto x = slid_over(node, slot);
    const auto& w = node.input(slot);
    if (x.ranked() && x.rank() >= 2 && node.is_set("channels_last")) {
        const bool fits = w.ranked() && w.rank() == x.rank();
        set_channels_last(node, x, fits ? w.dims->front() : any_extent, data_type);
    } else if (x.ranked() && x.rank() >= 2) {
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

/// The zero point of the result has its type.
inline void quantized_convolution(const rule_node& node) {
    set_convolution(node, node.input(7).data_type, 3);
}

inline void transposed_convolution(const rule_node& node) {
    const auto x = slid_over(node, 1);
    const auto& w = node.input(1);
    if (!x.ranked() || x.rank() < 2) {
        return;
    }
    const auto spatial = x.rank() - 2;
    extents dims(x.rank(), any_extent);
    dims[0] = (*x.dims)[0];
    if (w.ranked() && w.rank() == x.rank()) {
        const auto attributes = node.attributes();
        dims[1] = multiply_extents((*w.dims)[1], node.whole("group", 1));
        const auto given = attributes.wholes("output_shape").value_or(extents{});
        const auto strides = filled(attributes, "strides", spatial, 1);
        const auto dilations = filled(attributes, "dilations", spatial, 1);
        const auto pads = filled(attributes, "pads", 2 * spatial, 0);
        const auto more = filled(attributes, "output_padding", spatial, 0);
        const bool same = attributes.text("auto_pad").starts_with("SAME");
        for (std::size_t i = 0; i < spatial; ++i) {
            const auto extent = (*x.dims)[i + 2];
            const auto reach = multiply_extents((*w.dims)[i + 2] - 1, dilations[i]);
            const auto lost = add_extents(pads[i], pads[i + spatial]);
            const auto full = add_extents(multiply_extents(extent - 1, strides[i]),
                                          add_extents(reach, add_extents(more[i], 1)));
            dims[i + 2] = given.size() == spatial    ? std::max(any_extent, given[i])
                          : same                     ? multiply_extents(extent, strides[i])
                          : full > lost && lost >= 0 ? full - lost
                                                     : any_extent;
        }
    }
    node.set(0, x.data_type, std::move(dims));
}

/// Returns: an extent resized by a scale, computed in float as runtimes do; unknown unless both are
/// known.
[[nodiscard]] inline std::int64_t scale_extent(std::int64_t extent, float by) {
    if (by == 1) {
        return extent;
    }
    const auto size = std::floor(static_cast<float>(extent) * by);
    return extent >= 0 && size >= 0 && size < 1e15F ? static_cast<std::int64_t>(size) : any_extent;
}

/// Whether a Resize scales a part of the image.
[[nodiscard]] inline bool crops(const node_attributes& attributes) {
    return attributes.text("coordinate_transformation_mode") == "tf_crop_and_resize";
}

/// Returns: the scales in an attribute, as Upsample has them before opset 9, and on blocks of
/// channels.
[[nodiscard]] inline std::optional<std::vector<float>>
scales_in(const node_attributes& attributes) {
    const auto whole = attributes.wholes("scales");
    return whole && !whole->empty()
               ? std::optional<std::vector<float>>(std::in_place, whole->begin(), whole->end())
               : attributes.reals("scales");
}

/// Returns: the constant scales of a Resize or Upsample, for each of its axes; nothing if it has
/// none or scales a part of the image.
[[nodiscard]] inline std::optional<std::vector<float>> resize_scales(const rule_node& node) {
    const auto slot = node.input_count() > 2 ? 2U : 1U; // opset 11 inserts roi
    return node.input_count() == 1    ? scales_in(node.attributes())
           : crops(node.attributes()) ? std::nullopt
                                      : node.reals(slot);
}

/// Returns: extents after a Resize: `size(i)` for the axis at `i`, if it has as many sizes, else
/// what `scaled(extent, by)` says; nothing if an axis is out of range.
template <class Size, class Scaled>
[[nodiscard]] std::optional<extents> resized(const rule_node& node, extents dims, std::size_t sizes,
                                             Size size, Scaled scaled) {
    const auto attributes = node.attributes();
    auto axes = attributes.wholes("axes").value_or(extents{});
    if (axes.empty()) {
        axes = all_axes(dims.size());
    }
    const auto policy = attributes.text("keep_aspect_ratio_policy");
    const bool has_sizes = sizes == axes.size() && (policy.empty() || policy == "stretch");
    const auto scales = resize_scales(node);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto at = axis_of(axes[i], dims.size());
        if (!at) {
            return std::nullopt;
        }
        dims[*at] = has_sizes                                 ? size(i)
                    : scales && scales->size() == axes.size() ? scaled(dims[*at], (*scales)[i])
                                                              : any_extent;
    }
    return dims;
}

/// Resize and Upsample, to constant sizes or by constant scales.
inline void resize(const rule_node& node) {
    const auto& x = node.input(0);
    const auto sizes = fact_table::shape_in(node.input(3)).value_or(extents{});
    if (auto dims = x.ranked() ? resized(
                                     node, *x.dims, sizes.size(),
                                     [&](std::size_t i) { return sizes[i]; }, scale_extent)
                               : std::nullopt) {
        node.set(0, x.data_type, std::move(dims));
    }
}

/// RoiAlign.
inline void align_regions(const rule_node& node) {
    const auto& x = node.input(0);
    const auto& regions = node.input(1);
    if (x.ranked() && x.rank() == 4 && regions.ranked() && regions.rank() == 2) {
        node.set(0, x.data_type,
                 extents{regions.dims->front(), (*x.dims)[1],
                         std::max(any_extent, node.whole("output_height", 1)),
                         std::max(any_extent, node.whole("output_width", 1))});
    }
}

/// DepthToSpace and SpaceToDepth.
template <bool OpensBlocks>
void move_blocks(const rule_node& node) {
    auto x = node.input(0);
    const auto size = node.whole("blocksize", 0);
    if (!x.ranked() || x.rank() != 4) {
        return;
    }
    const auto change = [](std::int64_t& extent, bool grows, std::int64_t by) {
        extent = extent < 0 || by < 1 ? any_extent
                 : grows              ? multiply_extents(extent, by)
                 : extent % by == 0   ? extent / by
                                      : any_extent;
    };
    change((*x.dims)[1], !OpensBlocks, multiply_extents(size, size));
    change((*x.dims)[2], OpensBlocks, size);
    change((*x.dims)[3], OpensBlocks, size);
    node.set(0, x.data_type, std::move(x.dims));
}

/// MaxPool also outputs indices.
inline void pool(const rule_node& node) {
    const auto x = slid_over(node);
    if (x.ranked() && x.rank() >= 2 && node.is_set("channels_last")) {
        set_channels_last(node, x, x.dims->back(), x.data_type);
    } else if (x.ranked() && x.rank() >= 2) {
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
        dims[0] = (*x.dims)[0];
        const auto channels = node.is_set("channels_last") ? x.rank() - 1 : 1;
        dims[channels] = (*x.dims)[channels];
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

/// One place in the input per place of an image of the given size.
inline void affine_grid(const rule_node& node) {
    const auto image = fact_table::shape_in(node.input(1));
    if (image && image->size() >= 4) {
        extents dims{image->front()};
        dims.insert(dims.end(), image->begin() + 2, image->end());
        dims.push_back(static_cast<std::int64_t>(image->size()) - 2);
        node.set(0, node.input(0).data_type, std::move(dims));
    }
}

/// The offsets are as large as the result.
inline void deformed_convolution(const rule_node& node) {
    const auto& x = node.input(0);
    const auto& w = node.input(1);
    const auto& offsets = node.input(2);
    if (x.ranked() && x.rank() >= 2) {
        extents dims(x.rank(), any_extent);
        if (offsets.ranked() && offsets.rank() == dims.size()) {
            dims = *offsets.dims;
        }
        dims[0] = x.dims->front();
        dims[1] = w.ranked() && w.rank() > 0 ? w.dims->front() : any_extent;
        node.set(0, x.data_type, std::move(dims));
    }
}

/// Columns of blocks, put together.
inline void blocks_to_image(const rule_node& node) {
    const auto& x = node.input(0);
    const auto image = fact_table::shape_in(node.input(1));
    const auto block = fact_table::shape_in(node.input(2));
    if (!x.ranked() || x.rank() != 3 || !image) {
        return;
    }
    std::int64_t covered = block ? 1 : any_extent;
    for (auto extent : block.value_or(extents{})) {
        covered = multiply_extents(covered, extent);
    }
    const auto channels = (*x.dims)[1];
    extents dims{x.dims->front(), channels >= 0 && covered > 0 ? channels / covered : any_extent};
    dims.insert(dims.end(), image->begin(), image->end());
    node.set(0, x.data_type, std::move(dims));
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
