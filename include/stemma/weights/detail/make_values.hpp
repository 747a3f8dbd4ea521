// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_MAKE_VALUES_HPP
#define STEMMA_WEIGHTS_DETAIL_MAKE_VALUES_HPP

#include <stemma/config.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/weights/detail/element_moves.hpp>
#include <stemma/weights/detail/weight_norm.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The elements of an entry, row by row.
struct entry_values {
    std::int64_t data_type = 0;
    std::vector<std::int64_t> shape{};
    std::string_view data{}; ///< in a mapped file, or in `own`
    std::string own{};       ///< assembled data

    [[nodiscard]] std::string_view bytes() const noexcept { return own.empty() ? data : own; }
};

[[nodiscard]] inline std::string shape_text(std::span<const std::int64_t> shape) {
    std::string text = "[";
    for (const auto extent : shape) {
        text.append(text.size() > 1 ? "," : "").append(std::to_string(extent));
    }
    return text + "]";
}

[[nodiscard]] inline std::uint64_t count_of(std::span<const std::int64_t> shape) noexcept {
    std::uint64_t count = 1;
    for (const auto extent : shape) {
        count *= extent < 0 ? 0 : static_cast<std::uint64_t>(extent);
    }
    return count;
}

/// Returns: the elements of a floating-point type with a change added. Complexity: O(bytes).
[[nodiscard]] inline std::string sum_of(std::string_view bytes, std::int64_t type,
                                        std::span<const float> change) {
    auto numbers = rounded_to_floats(bytes, type);
    for (std::size_t i = 0; i < numbers.size() && i < change.size(); ++i) {
        numbers[i] += change[i];
    }
    auto sum = bytes_of(numbers);
    return type == float32 ? std::move(sum) : convert_reals(sum, float32, type);
}

/// The type of tensors of floats or doubles.
template <class Real>
inline constexpr real_type type_of_real = std::is_same_v<Real, double> ? float64 : float32;

/// The factor of a batch norm per channel, with the rounding steps of PyTorch's exporter.
template <class Real>
[[nodiscard]] std::vector<Real> norm_factors(const std::vector<Real>& weight,
                                             const std::vector<Real>& variance, float epsilon) {
    // A power of ten was rounded to a float.
    const auto power = std::pow(10.0, std::round(std::log10(epsilon)));
    const bool is_power = std::abs(power - epsilon) <= 1e-6 * power;
    std::vector<Real> factors(variance.size());
    for (std::size_t i = 0; i < factors.size(); ++i) {
        factors[i] = variance[i] + static_cast<Real>(is_power ? power : epsilon);
    }
    for (std::size_t i = 0; i < factors.size(); ++i) {
        factors[i] = weight[i] / std::sqrt(factors[i]);
    }
    return factors;
}

/// Makes the elements of initializers from entries `get(name)`: `entry_values`, or nothing for a
/// missing one.
template <class Get>
class value_maker {
public:
    explicit value_maker(Get get) : get_(std::move(get)) {}

    /// Why nothing was made: `fc.weight is [3,2] where [2,3] is needed`.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

    /// Returns: the elements of an initializer by its origin; nothing if entries are missing or do
    /// not fit. Complexity: O(bytes of the entries).
    [[nodiscard]] std::optional<std::string> make(const parameter_origin& origin,
                                                  const tensor_header& header) {
        problem_.clear();
        if (origin.quantized || origin.entries.empty()) {
            return fail(origin.quantized ? "values are not requantized" : "its origin is unknown");
        }
        switch (origin.transform) {
        case parameter_origin::transform_kind::none:
            return fail("its transform is unknown");
        case parameter_origin::transform_kind::as_is:
        case parameter_origin::transform_kind::reshaped:
        case parameter_origin::transform_kind::transposed:
        case parameter_origin::transform_kind::sliced:
            return moved(origin, header);
        case parameter_origin::transform_kind::concatenated:
            return joined(origin, header);
        case parameter_origin::transform_kind::gates:
            return reordered(origin, header);
        case parameter_origin::transform_kind::folded:
            return header.data_type == float64 ? folded<double>(origin, header)
                                               : folded<float>(origin, header);
        case parameter_origin::transform_kind::normed:
            return header.data_type == float64 ? normed<double>(origin, header)
                                               : normed<float>(origin, header);
        }
        return std::nullopt;
    }

private:
    using outcome = std::optional<std::string>;

    outcome fail(std::string why) {
        problem_ = std::move(why);
        return std::nullopt;
    }

    outcome fail_shape(const std::string& name, std::span<const std::int64_t> is,
                       std::span<const std::int64_t> wanted) {
        return fail(name + " is " + shape_text(is) + " where " + shape_text(wanted) + " is needed");
    }

    /// Returns: the elements of an entry, converted to a type.
    [[nodiscard]] std::optional<entry_values> take(const std::string& name, std::int64_t type) {
        std::optional<entry_values> values = get_(name);
        if (!values) {
            problem_ = "missing " + name;
            return std::nullopt;
        }
        if (values->data_type != type) {
            if (!is_real_type(values->data_type) || !is_real_type(type)) {
                problem_ = name + " is " + std::string(data_type_name(values->data_type)) +
                           ", not " + std::string(data_type_name(type));
                return std::nullopt;
            }
            values->own = convert_reals(values->bytes(), values->data_type, type);
            values->data = {};
            values->data_type = type;
        }
        return values;
    }

    static std::string own(entry_values&& values) {
        return values.own.empty() ? std::string(values.data) : std::move(values.own);
    }

    /// Permutes the axes of an entry. Returns: whether it has as many.
    static bool permute(entry_values& values, const std::vector<std::uint8_t>& axes) {
        if (axes.empty() || axes.size() != values.shape.size()) {
            return false;
        }
        const auto before = values.shape;
        values.own = permute_axes(values.bytes(), before, axes, bits_of_type(values.data_type) / 8);
        for (std::size_t i = 0; i < axes.size(); ++i) {
            values.shape[i] = before[axes[i]];
        }
        return true;
    }

    /// Returns: computed elements as the type of an initializer.
    template <class Real>
    static std::string rounded(std::string bytes, const tensor_header& header) {
        constexpr auto type = type_of_real<Real>;
        return header.data_type == type ? std::move(bytes)
                                        : convert_reals(bytes, type, header.data_type);
    }

    outcome moved(const parameter_origin& origin, const tensor_header& header) {
        auto values = take(origin.entries.front(), header.data_type);
        if (!values) {
            return std::nullopt;
        }
        if (!origin.axes.empty() && !permute(*values, origin.axes)) {
            return fail_shape(origin.entries.front(), values->shape, header.dims);
        }
        const auto& shape = values->shape;
        if (origin.transform == parameter_origin::transform_kind::sliced) {
            return cut_out(origin, header, shape, values->bytes());
        }
        if (origin.transform == parameter_origin::transform_kind::reshaped
                ? count_of(shape) != header.elements()
                : shape != header.dims) {
            return fail_shape(origin.entries.front(), shape, header.dims);
        }
        return own(std::move(*values));
    }

    outcome cut_out(const parameter_origin& origin, const tensor_header& header,
                    const std::vector<std::int64_t>& shape, std::string_view bytes) {
        auto part = shape;
        const auto axis = origin.axis;
        if (axis < part.size() && axis < header.dims.size() &&
            origin.first + static_cast<std::uint64_t>(header.dims[axis]) <=
                static_cast<std::uint64_t>(shape[axis])) {
            part[axis] = header.dims[axis];
        }
        if (part != header.dims || part == shape) {
            return fail_shape(origin.entries.front(), shape, header.dims);
        }
        const std::size_t width = bits_of_type(header.data_type) / 8;
        const auto inner = count_of(std::span(shape).subspan(axis + 1)) * width;
        const auto outer = count_of(std::span(shape).first(axis));
        std::string result;
        for (std::uint64_t i = 0; i < outer; ++i) {
            const auto begin = (i * static_cast<std::uint64_t>(shape[axis]) + origin.first) * inner;
            result.append(bytes.substr(begin, static_cast<std::uint64_t>(part[axis]) * inner));
        }
        return result;
    }

    /// Concatenates entries along an axis, each transposed first if axes are given.
    outcome joined(const parameter_origin& origin, const tensor_header& header) {
        const std::size_t width = bits_of_type(header.data_type) / 8;
        std::vector<entry_values> parts;
        std::vector<std::int64_t> whole;
        for (const auto& name : origin.entries) {
            auto values = take(name, header.data_type);
            if (!values) {
                return std::nullopt;
            }
            permute(*values, origin.axes);
            const auto& shape = values->shape;
            if (origin.axis >= shape.size()) {
                return fail_shape(name, shape, header.dims);
            }
            if (whole.empty()) {
                whole = shape;
            } else if (whole.size() == shape.size()) {
                whole[origin.axis] += shape[origin.axis];
            }
            parts.push_back(std::move(*values));
        }
        const auto extent_of = [&](const entry_values& part) {
            return static_cast<std::uint64_t>(part.shape[origin.axis]);
        };
        for (std::size_t i = 0; i < parts.size(); ++i) {
            auto expected = header.dims;
            if (whole != header.dims || parts[i].shape.size() != expected.size()) {
                return fail_shape(origin.entries[i], parts[i].shape, header.dims);
            }
            expected[origin.axis] = parts[i].shape[origin.axis];
            if (parts[i].shape != expected) {
                return fail_shape(origin.entries[i], parts[i].shape, expected);
            }
        }
        const auto inner = count_of(std::span(whole).subspan(origin.axis + 1)) * width;
        const auto outer = count_of(std::span(whole).first(origin.axis));
        std::string result;
        for (std::uint64_t i = 0; i < outer; ++i) {
            for (const auto& part : parts) {
                const auto size = extent_of(part) * inner;
                result.append(part.bytes().substr(i * size, size));
            }
        }
        return result;
    }

    /// Reorders gates from PyTorch to ONNX: i f g o to i o f g, r z n to z r n.
    outcome reordered(const parameter_origin& origin, const tensor_header& header) {
        constexpr std::array<std::size_t, 4> lstm{0, 3, 1, 2};
        constexpr std::array<std::size_t, 4> gru{1, 0, 2, 3};
        const auto& order = origin.gates == 4 ? lstm : gru;
        const auto entries = origin.entries.size();
        if (header.dims.size() < 2 || header.dims[0] <= 0 || origin.gates == 0 ||
            header.elements() % entries != 0) {
            return fail("it is not a weight of a recurrent layer");
        }
        std::string result;
        for (const auto& name : origin.entries) {
            const auto values = take(name, header.data_type);
            if (!values) {
                return std::nullopt;
            }
            const auto bytes = values->bytes();
            std::vector<std::int64_t> expected(header.dims.begin() + 1, header.dims.end());
            if (origin.bias) {
                expected[0] /= 2;
            }
            if (values->shape != expected || expected[0] % origin.gates != 0) {
                return fail_shape(name, values->shape, expected);
            }
            const auto gate = bytes.size() / origin.gates;
            for (std::size_t g = 0; g < origin.gates; ++g) {
                result.append(bytes.substr((origin.gates == 1 ? 0 : order[g]) * gate, gate));
            }
        }
        const bool fits = result.size() == data_size(header).value_or(0);
        return fits ? outcome(std::move(result)) : fail("the entries do not fill it");
    }

    /// `weight * f`, or `(bias - mean) * f + shift`, where `f` is the batch norm's factor.
    template <class Real>
    outcome folded(const parameter_origin& origin, const tensor_header& header) {
        constexpr auto type = type_of_real<Real>;
        const auto count = origin.entries.size();
        if (header.dims.empty() || count < (origin.bias ? 4U : 3U) || header.dims[0] < 0) {
            return fail("it is not a weight of a convolution");
        }
        const auto channels = static_cast<std::size_t>(header.dims[0]);
        std::vector<std::vector<Real>> numbers; // of the norm, after the bias, if any
        const auto convolution = origin.bias ? count - 4 : 1;
        for (std::size_t i = 0; i < count; ++i) {
            const auto values = take(origin.entries[i], type);
            if (!values) {
                return std::nullopt;
            }
            const std::vector<std::int64_t> each{header.dims[0]};
            const auto& expected = !origin.bias && i == 0 ? header.dims : each;
            if (values->shape != expected) {
                return fail_shape(origin.entries[i], values->shape, expected);
            }
            numbers.push_back(reals_of<Real>(values->bytes()));
        }
        const auto epsilon = origin.epsilon > 0 ? origin.epsilon : 1e-5F;
        const auto factors = norm_factors(numbers[convolution], numbers.back(), epsilon);
        std::vector<Real> result;
        if (origin.bias) {
            auto mean = numbers[count - 2];
            const auto& shift = numbers[count - 3];
            result.resize(channels);
            // Separate loops, so that each step is rounded.
            if (convolution == 1) {
                for (std::size_t i = 0; i < channels; ++i) {
                    result[i] = numbers[0][i] - mean[i];
                }
                for (std::size_t i = 0; i < channels; ++i) {
                    mean[i] = result[i] * factors[i];
                }
                for (std::size_t i = 0; i < channels; ++i) {
                    result[i] = mean[i] + shift[i];
                }
            } else {
                for (std::size_t i = 0; i < channels; ++i) {
                    result[i] = mean[i] * factors[i];
                }
                for (std::size_t i = 0; i < channels; ++i) {
                    result[i] = shift[i] - result[i];
                }
            }
        } else {
            result = std::move(numbers[0]);
            const auto each = channels == 0 ? 0 : result.size() / channels;
            for (std::size_t i = 0; i < result.size(); ++i) {
                result[i] *= factors[i / each];
            }
        }
        return rounded<Real>(bytes_of(result), header);
    }

    /// Directions, each divided by its length and multiplied by the other entry; then transposed.
    template <class Real>
    outcome normed(const parameter_origin& origin, const tensor_header& header) {
        constexpr auto type = type_of_real<Real>;
        if (origin.entries.size() != 2) {
            return fail("it is not a weight with weight norm");
        }
        const auto directions = take(origin.entries[0], type);
        const auto lengths = directions ? take(origin.entries[1], type) : std::nullopt;
        if (!lengths) {
            return std::nullopt;
        }
        auto shape = directions->shape;
        const auto axis = length_axis_of(shape, lengths->shape);
        if (!axis) {
            return fail_shape(origin.entries[1], lengths->shape, shape);
        }
        auto bytes = bytes_of(with_lengths(reals_of<Real>(directions->bytes()), *axis,
                                           reals_of<Real>(lengths->bytes())));
        if (!origin.axes.empty() && shape.size() == 2) {
            bytes = permute_axes(bytes, shape, origin.axes, sizeof(Real));
            std::swap(shape[0], shape[1]);
        }
        if (shape != header.dims) {
            return fail_shape(origin.entries[0], directions->shape, header.dims);
        }
        return rounded<Real>(std::move(bytes), header);
    }

    Get get_;
    std::string problem_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_MAKE_VALUES_HPP
