// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_ATTRIBUTE_DEFAULTS_HPP
#define STEMMA_ONNX_DETAIL_ATTRIBUTE_DEFAULTS_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/io/detail/real_text.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>

namespace stemma::inline STEMMA_ABI::detail {

/// Default values of attributes of standard operators, one group per line: `types : name=value
/// ...`. Tools may write or omit them. Only defaults common to all operator sets, and those of
/// newer ones where older ones had a different attribute.
inline constexpr std::string_view attribute_defaults = R"(
ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare : keepdims=1 noop_with_empty_axes=0
ArgMax ArgMin : axis=0 keepdims=1 select_last_index=0
Gather GatherElements ScatterElements Split : axis=0 reduction=none
ScatterND : reduction=none
GatherND : batch_dims=0
Gemm : alpha=1 beta=1 transA=0 transB=0
Flatten : axis=1
Conv ConvTranspose ConvInteger QLinearConv : group=1 auto_pad=NOTSET
MaxPool AveragePool LpPool : auto_pad=NOTSET ceil_mode=0 storage_order=0 count_include_pad=0
LayerNormalization : axis=-1 epsilon=1e-05 stash_type=1
BatchNormalization : epsilon=1e-05 momentum=0.9 training_mode=0
InstanceNormalization GroupNormalization : epsilon=1e-05
Reshape : allowzero=0
Shape : start=0
Cast CastLike : saturate=1
LeakyRelu : alpha=0.01
Elu Celu ThresholdedRelu : alpha=1
HardSigmoid : alpha=0.2 beta=0.5
Gelu : approximate=none
TopK : axis=-1 largest=1 sorted=1
QuantizeLinear DequantizeLinear : axis=1 block_size=0 saturate=1
CumSum : exclusive=0 reverse=0
Pad : mode=constant
Trilu : upper=1
OneHot : axis=-1
LSTM GRU RNN : direction=forward layout=0 linear_before_reset=0 input_forget=0
DepthToSpace : mode=DCR
Resize : coordinate_transformation_mode=half_pixel cubic_coeff_a=-0.75 exclude_outside=0 extrapolation_value=0 mode=nearest nearest_mode=round_prefer_floor antialias=0 keep_aspect_ratio_policy=stretch
)";

/// Returns: the entry of `attribute_defaults` for an attribute of a type, "" for none.
/// Complexity: O(length of the table).
[[nodiscard]] inline std::string_view default_of(std::string_view type, std::string_view name) {
    auto rest = attribute_defaults;
    while (!rest.empty()) {
        const auto line = take_until(rest, '\n');
        const auto colon = line.find(" : ");
        bool in_types = false;
        bool behind = false;
        for (auto words = line; colon != line.npos && !words.empty();) {
            const auto word = take_until(words, ' ');
            behind = behind || word == ":";
            in_types = in_types || (!behind && word == type);
            if (behind && in_types && word.size() > name.size() && word[name.size()] == '=' &&
                word.starts_with(name)) {
                return word.substr(name.size() + 1);
            }
        }
    }
    return {};
}

/// Whether an attribute of a standard operator has its default value.
/// Complexity: O(fields), and that of `default_of` for each numeric or text field.
[[nodiscard]] inline bool is_default(std::string_view type, wire_reader attribute) {
    constexpr std::uint32_t name_field = 1;
    constexpr std::uint32_t float_field = 2;
    constexpr std::uint32_t int_field = 3;
    constexpr std::uint32_t text_field = 4;
    constexpr std::uint32_t type_field = 20;
    std::string_view name;
    std::string value;
    float real = 0;
    bool is_real = false;
    for (wire_field part; attribute.next(part);) {
        if (part.is_bytes(name_field)) {
            name = attribute.text(part);
        } else if (part.is(float_field, wire_type::fixed32)) {
            std::memcpy(&real, attribute.text(part).data(), sizeof(real));
            is_real = true;
        } else if (part.is(int_field, wire_type::varint)) {
            value = std::to_string(static_cast<std::int64_t>(part.value));
        } else if (part.is_bytes(text_field)) {
            value = attribute.text(part);
        } else if (part.number != type_field) {
            return false;
        }
    }
    const auto usual = default_of(type, name);
    if (!is_real) {
        return !usual.empty() && usual == value;
    }
    float number = 0;
    const auto* end = usual.data() + usual.size();
    const auto read = read_real(usual.data(), end, number);
    return read.ec == std::errc() && read.ptr == end && number == real;
}

/// Tells which attributes have their defaults, remembering what it found.
class default_attributes {
public:
    /// Whether an attribute has its default. `content` is a hash of it, `op` the number of the
    /// operator of that `type`. Complexity: that of `is_default` for new contents, else constant.
    [[nodiscard]] bool holds(id op, std::string_view type, std::uint64_t content,
                             const wire_reader& attribute) {
        const auto key = hash_mix(content, op);
        const auto entry = answers_.find(key);
        if (entry != answers_.end()) {
            return entry->second;
        }
        const bool answer = is_default(type, attribute);
        constexpr std::size_t most = 100'000; // bounds the memory
        if (answers_.size() < most) {
            answers_.emplace(key, answer);
        }
        return answer;
    }

private:
    std::unordered_map<std::uint64_t, bool> answers_; // by content and operator
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_ATTRIBUTE_DEFAULTS_HPP
