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

/// A window along one axis.
struct axis_window {
    std::int64_t kernel = any_extent;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t before = 0; // padding
    std::int64_t behind = 0;

    [[nodiscard]] bool is_sane() const noexcept {
        constexpr std::int64_t most = std::int64_t{1} << 30U;
        const auto [least, greatest] = std::minmax({before, behind});
        return std::min({kernel, stride, dilation}) > 0 &&
               std::max({kernel, stride, dilation, greatest}) < most && least > -most;
    }
    /// Returns: how many elements it spans.
    [[nodiscard]] std::int64_t reach() const noexcept { return (kernel - 1) * dilation + 1; }
};

/// The windows of a node along all spatial axes.
class axis_windows {
public:
    /// `weights` give the extents of the windows if no attribute does.
    axis_windows(const rule_node& node, std::size_t axes, const tensor_facts* weights)
        : axes_(axes), automatic_(node.attributes().text("auto_pad")) {
        const auto attributes = node.attributes();
        kernel_ = attributes.wholes("kernel_shape").value_or(extents{});
        if (kernel_.empty() && weights != nullptr && weights->ranked() &&
            weights->rank() == axes + 2) {
            kernel_.assign(weights->dims->begin() + 2, weights->dims->end());
        }
        strides_ = attributes.wholes("strides").value_or(extents{});
        dilations_ = attributes.wholes("dilations").value_or(extents{});
        pads_ = attributes.wholes("pads").value_or(extents{});
    }

    [[nodiscard]] axis_window operator[](std::size_t axis) const {
        const auto of = [](const extents& given, std::size_t at, std::int64_t otherwise) {
            return at < given.size() ? given[at] : otherwise;
        };
        const bool pads = automatic_ != "VALID";
        return {of(kernel_, axis, any_extent), of(strides_, axis, 1), of(dilations_, axis, 1),
                pads ? of(pads_, axis, 0) : 0, pads ? of(pads_, axis + axes_, 0) : 0};
    }

    /// Whether only the stride matters: padding makes up for the kernel.
    [[nodiscard]] bool pads_to_same() const { return automatic_.starts_with("SAME"); }

private:
    std::size_t axes_;
    std::string_view automatic_;
    extents kernel_;
    extents strides_;
    extents dilations_;
    extents pads_;
};

/// Returns: how often a window fits; with `up`, also once beyond the end, unless it would start in
/// the padding there.
[[nodiscard]] inline std::int64_t count_windows(extent_algebra& algebra, std::int64_t extent,
                                                const axis_window& w, bool up) {
    constexpr std::int64_t most = std::int64_t{1} << 60U;
    if (extent > most) {
        return any_extent;
    }
    const auto room = algebra.value(extent) + (w.before + w.behind - w.reach());
    const auto count = algebra.divide(room + (up ? w.stride - 1 : 0), w.stride) + 1;
    if (const auto number = count.constant()) {
        const bool starts = !up || (*number - 1) * w.stride < extent + w.before;
        return *number < 1 ? any_extent : *number - (starts ? 0 : 1);
    }
    const bool starts = !up || algebra.assumes() || w.behind + w.stride <= w.reach();
    return starts ? algebra.extent(count) : any_extent;
}

/// Returns: extents after a window slides over those of `x` from axis `first` on.
[[nodiscard]] inline extents slid(const rule_node& node, const tensor_facts& x, std::size_t first,
                                  const tensor_facts* weights) {
    auto dims = *x.dims;
    const axis_windows windows(node, x.rank() - 2, weights);
    const bool up = node.is_set("ceil_mode");
    auto& algebra = node.algebra();
    for (std::size_t i = 0; i + 2 < x.rank(); ++i) {
        auto& extent = dims[i + first];
        const auto window = windows[i];
        extent = !window.is_sane() ? any_extent
                 : windows.pads_to_same()
                     ? algebra.divide(algebra.add(extent, window.stride - 1), window.stride)
                     : count_windows(algebra, extent, window, up);
    }
    return dims;
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
inline void set_convolution(const rule_node& node, std::int64_t data_type, bool channels_last,
                            std::size_t slot = 1) {
    const auto x = slid_over(node, slot);
    const auto& w = node.input(slot);
    if (x.ranked() && x.rank() >= 2) {
        auto dims = slid(node, x, channels_last ? 1 : 2, &w);
        dims[channels_last ? x.rank() - 1 : 1] =
            w.ranked() && w.rank() == x.rank() ? w.dims->front() : any_extent;
        node.set(0, data_type, std::move(dims));
    }
}

template <bool ChannelsLast = false>
void convolution(const rule_node& node) {
    set_convolution(node, node.input(0).data_type, ChannelsLast);
}

inline void integer_convolution(const rule_node& node) {
    set_convolution(node, int32_type, false);
}

/// The zero point of the result has its type.
inline void quantized_convolution(const rule_node& node) {
    set_convolution(node, node.input(7).data_type, node.is_set("channels_last"), 3);
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
        auto& algebra = node.algebra();
        dims[1] = algebra.multiply((*w.dims)[1], node.whole("group", 1));
        const auto given = node.attributes().wholes("output_shape").value_or(extents{});
        auto more = node.attributes().wholes("output_padding").value_or(extents{});
        more.resize(spatial, 0);
        const axis_windows windows(node, spatial, &w);
        for (std::size_t i = 0; i < spatial; ++i) {
            const auto extent = (*x.dims)[i + 2];
            const auto window = windows[i];
            dims[i + 2] =
                given.size() == spatial ? std::max(any_extent, given[i])
                : !window.is_sane()     ? any_extent
                : windows.pads_to_same()
                    ? algebra.multiply(extent, window.stride)
                    : algebra.extent((algebra.value(extent) - 1) * window.stride + more[i] +
                                     (window.reach() - window.before - window.behind));
        }
    }
    node.set(0, x.data_type, std::move(dims));
}

/// Returns: an extent resized by a scale, computed in float as runtimes do; one without a number
/// only by a whole factor or divisor.
[[nodiscard]] inline std::int64_t scale_extent(extent_algebra& algebra, std::int64_t extent,
                                               float by) {
    if (by == 1) {
        return extent;
    }
    if (extent >= 0) {
        const auto size = std::floor(static_cast<float>(extent) * by);
        return size >= 0 && size < 1e15F ? static_cast<std::int64_t>(size) : any_extent;
    }
    const auto parts = 1 / by;
    return !(by > 0) || by > 1e6F       ? any_extent
           : by == std::floor(by)       ? algebra.multiply(extent, std::llround(by))
           : parts == std::floor(parts) ? algebra.divide(extent, std::llround(parts))
                                        : any_extent;
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

/// Resize and Upsample, to given sizes or by constant scales; only some axes, if an attribute says
/// so.
inline void resize(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return;
    }
    auto dims = *x.dims;
    auto axes = node.attributes().wholes("axes").value_or(extents{});
    if (axes.empty()) {
        axes = all_axes(dims.size());
    }
    const auto sizes = node.numbers(3);
    const auto policy = node.attributes().text("keep_aspect_ratio_policy");
    const bool sized =
        sizes && sizes->size() == axes.size() && (policy.empty() || policy == "stretch");
    const auto scales = resize_scales(node);
    const bool scaled = scales && scales->size() == axes.size();
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto at = axis_of(axes[i], dims.size());
        if (!at) {
            return;
        }
        dims[*at] = sized    ? node.algebra().extent((*sizes)[i])
                    : scaled ? scale_extent(node.algebra(), dims[*at], (*scales)[i])
                             : any_extent;
    }
    node.set(0, x.data_type, std::move(dims));
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
    auto& algebra = node.algebra();
    const auto change = [&](std::int64_t& extent, bool grows, std::int64_t by) {
        extent = by < 1 || by > (std::int64_t{1} << 40U) ? any_extent
                 : grows                                 ? algebra.multiply(extent, by)
                 : extent < 0 || extent % by == 0        ? algebra.divide(extent, by)
                                                         : any_extent;
    };
    change((*x.dims)[1], !OpensBlocks, multiply_extents(size, size));
    change((*x.dims)[2], OpensBlocks, size);
    change((*x.dims)[3], OpensBlocks, size);
    node.set(0, x.data_type, std::move(x.dims));
}

/// MaxPool also outputs indices.
template <bool ChannelsLast = false>
void pool(const rule_node& node) {
    const auto x = slid_over(node);
    if (x.ranked() && x.rank() >= 2) {
        const bool last = ChannelsLast || node.is_set("channels_last");
        auto dims = slid(node, x, last ? 1 : 2, nullptr);
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
    convolution(node);
    const auto& offsets = node.input(2);
    if (const auto& x = node.input(0);
        x.ranked() && offsets.ranked() && x.rank() >= 2 && offsets.rank() == x.rank()) {
        auto dims = *offsets.dims;
        dims[0] = x.dims->front();
        dims[1] = any_extent;
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
/// blocks, of which 16 is the largest; the padding is assumed away. Outside, channels are the
/// second or the last extent.
inline void to_blocks(const rule_node& node) {
    constexpr std::int64_t largest = 16;
    auto x = node.input(0);
    if (!x.ranked() || x.rank() < 2) {
        return;
    }
    if (node.is_set("channels_last")) {
        std::rotate(x.dims->begin() + 1, x.dims->end() - 1, x.dims->end());
    }
    auto& channels = (*x.dims)[1];
    channels = node.algebra().assumes() || (channels > 0 && channels % largest == 0) ? channels
                                                                                     : any_extent;
    node.set(0, x.data_type, std::move(x.dims));
}

inline void from_blocks(const rule_node& node) {
    auto x = node.input(0);
    if (x.ranked() && x.rank() >= 2) {
        (*x.dims)[1] = std::max(any_extent, node.whole("channels", any_extent));
        if (node.is_set("channels_last")) {
            std::rotate(x.dims->begin() + 1, x.dims->begin() + 2, x.dims->end());
        }
        node.set(0, x.data_type, std::move(x.dims));
    }
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_WINDOW_RULES_HPP
