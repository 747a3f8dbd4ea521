// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_TENSOR_HEADER_HPP
#define STEMMA_ONNX_TENSOR_HEADER_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The description of a TensorProto's data.
struct tensor_header {
    std::vector<std::int64_t> dims; ///< as written; empty for a scalar
    std::int64_t data_type = 0;     ///< number in TensorProto.DataType
    bool external = false;          ///< the data are in another file
    std::string_view location;      ///< of external data: the file, relative to the model's folder
    std::uint64_t offset = 0;       ///< offset from the start of that file
    std::uint64_t length = 0;       ///< in bytes; 0 if absent: as type and dims say
    /// An offset or length that is not a number: beyond the end of any file.
    static constexpr auto unreadable = ~std::uint64_t{0};

    /// Returns: the product of the dims; 0 if one is negative or the product overflows.
    /// Complexity: O(rank).
    [[nodiscard]] std::uint64_t elements() const noexcept {
        std::uint64_t product = 1;
        for (auto dim : dims) {
            if (dim < 0 ||
                __builtin_mul_overflow(product, static_cast<std::uint64_t>(dim), &product)) {
                return 0;
            }
        }
        return product;
    }
};

/// Returns: the name of a data type as PyTorch prints it, "" for an unknown one.
[[nodiscard]] constexpr std::string_view data_type_name(std::int64_t data_type) noexcept {
    constexpr std::array<std::string_view, 27> names{"",
                                                     "float32",
                                                     "uint8",
                                                     "int8",
                                                     "uint16",
                                                     "int16",
                                                     "int32",
                                                     "int64",
                                                     "string",
                                                     "bool",
                                                     "float16",
                                                     "float64",
                                                     "uint32",
                                                     "uint64",
                                                     "complex64",
                                                     "complex128",
                                                     "bfloat16",
                                                     "float8_e4m3fn",
                                                     "float8_e4m3fnuz",
                                                     "float8_e5m2",
                                                     "float8_e5m2fnuz",
                                                     "uint4",
                                                     "int4",
                                                     "float4_e2m1",
                                                     "float8_e8m0fnu",
                                                     "uint2",
                                                     "int2"};
    return data_type > 0 && data_type < 27 ? names[static_cast<std::size_t>(data_type)] : "";
}

namespace detail {

/// Data types with something in common.
class data_types {
public:
    /// Those whose number satisfies `predicate`.
    template <class Predicate>
    explicit constexpr data_types(Predicate predicate) {
        for (std::int64_t type = 0; type < 64; ++type) {
            bits_ |= std::uint64_t{predicate(type)} << type;
        }
    }

    /// Complexity: O(1), without looking at names.
    [[nodiscard]] constexpr bool contain(std::int64_t data_type) const noexcept {
        return data_type >= 0 && data_type < 64 && (bits_ >> data_type & 1U) != 0;
    }

private:
    std::uint64_t bits_ = 0;
};

/// Whether tensors of this type hold weights rather than indices, shapes, flags or text.
[[nodiscard]] constexpr bool is_floating_type(std::int64_t data_type) noexcept {
    constexpr data_types floating([](std::int64_t type) {
        return data_type_name(type).find("float") != std::string_view::npos;
    });
    return floating.contain(data_type);
}

} // namespace detail

/// Reads dims, type and location of a tensor's data, without touching the data.
/// Complexity: O(fields).
[[nodiscard]] inline tensor_header read_tensor_header(detail::wire_reader fields) {
    using at = detail::onnx_fields::tensor;
    tensor_header header;
    const auto number = [](std::string_view text) {
        std::uint64_t value = 0;
        const auto* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        return read.ec == std::errc() && read.ptr == end ? value : tensor_header::unreadable;
    };
    for (detail::wire_field field; fields.next(field);) {
        if (field.number == at::dims &&
            (field.type == detail::wire_type::varint || field.type == detail::wire_type::bytes)) {
            detail::read_dims(fields, field, header.dims);
        } else if (field.is(at::data_type, detail::wire_type::varint)) {
            header.data_type = static_cast<std::int64_t>(field.value);
        } else if (field.is(at::data_location, detail::wire_type::varint)) {
            header.external = field.value == 1;
        } else if (field.is_bytes(at::external_data)) {
            const auto [key, value] = wire_model::read_entry(fields, field);
            if (key == "location") {
                header.location = value;
            } else if (key == "offset") {
                header.offset = number(value);
            } else if (key == "length") {
                header.length = number(value);
            }
        }
    }
    return header;
}

/// The same for an initializer; for a sparse one, of its values. Complexity: O(fields).
[[nodiscard]] inline tensor_header read_tensor_header(const wire_model& model,
                                                      const tensor_ref& tensor) {
    return read_tensor_header(model.reader(tensor.message));
}

namespace detail {

/// Reads a SparseTensorProto: the description of its values, with the dims of the whole.
/// Complexity: O(fields).
[[nodiscard]] inline tensor_header read_sparse_header(wire_reader fields) {
    using at = onnx_fields::sparse_tensor;
    tensor_header header;
    std::vector<std::int64_t> dims;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::values)) {
            header = read_tensor_header(fields.inner(field));
        } else if (field.number == at::dims &&
                   (field.type == wire_type::varint || field.type == wire_type::bytes)) {
            read_dims(fields, field, dims);
        }
    }
    header.dims = std::move(dims);
    return header;
}

/// As `read_tensor_header` of an initializer, but a sparse one has the dims that operators see.
/// Complexity: O(fields).
[[nodiscard]] inline tensor_header read_value_header(const wire_model& model,
                                                     const tensor_ref& tensor) {
    if (!tensor.sparse) {
        return read_tensor_header(model, tensor);
    }
    return read_sparse_header(model.reader_of(model.containers()[tensor.message.container]));
}

/// Returns: the description of the numbers that a Constant holds: of a tensor, of the values of a
/// sparse one, or of a list of real numbers; nothing if it holds anything else.
/// Complexity: O(fields of the node).
[[nodiscard]] inline std::optional<tensor_header> read_constant_header(const wire_model& model,
                                                                       id node) {
    using at = onnx_fields::attribute;
    std::optional<tensor_header> header;
    std::int64_t reals = 0;
    auto fields = model.reader(model.message(node));
    for (wire_field field; fields.next(field);) {
        if (!field.is_bytes(onnx_fields::node::attribute)) {
            continue;
        }
        auto attribute = fields.inner(field);
        for (wire_field part; attribute.next(part);) {
            if (part.is_bytes(at::t)) {
                header = read_tensor_header(attribute.inner(part));
            } else if (part.is_bytes(at::sparse_tensor)) {
                auto sparse = attribute.inner(part);
                for (wire_field values; sparse.next(values);) {
                    if (values.is_bytes(onnx_fields::sparse_tensor::values)) {
                        header = read_tensor_header(sparse.inner(values));
                    }
                }
            } else if (part.number == at::floats &&
                       (part.type == wire_type::fixed32 || part.type == wire_type::bytes)) {
                reals += static_cast<std::int64_t>(attribute.text(part).size() / sizeof(float));
            }
        }
    }
    if (!header && reals > 0) {
        constexpr std::int64_t float32 = 1;
        header.emplace();
        header->dims = {reals};
        header->data_type = float32;
    }
    return header;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_TENSOR_HEADER_HPP
