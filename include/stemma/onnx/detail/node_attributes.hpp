// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_NODE_ATTRIBUTES_HPP
#define STEMMA_ONNX_DETAIL_NODE_ATTRIBUTES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/number_types.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Indexed by AttributeProto.AttributeType.
inline constexpr std::array<std::string_view, 15> attribute_types{
    "",        "float",   "int",    "string",        "tensor",         "graph", "floats", "ints",
    "strings", "tensors", "graphs", "sparse_tensor", "sparse_tensors", "type",  "types"};

/// Returns: the type of an attribute with a value in that field, an index as above; 0 for other
/// fields.
[[nodiscard]] constexpr std::uint64_t type_of_attribute_field(std::uint32_t number) noexcept {
    using at = onnx_fields::attribute;
    return (number >= at::f && number <= at::graphs) || number == at::type_proto ||
                   number == at::type_protos
               ? number - 1
           : number == at::sparse_tensor || number == at::sparse_tensors ? number - 11
                                                                         : 0;
}

/// Reads an AttributeProto. Values of another type than asked for, and those that refer to an
/// attribute of the enclosing function, are none. Complexity of each member: O(fields).
class attribute_reader {
public:
    /// Throws: `error` of `malformed`.
    explicit attribute_reader(wire_reader fields) : fields_(fields) {
        std::uint64_t type = 0;
        std::uint64_t implied = 0; // for files that omit types
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at::name)) {
                name_ = fields.text(field);
            } else if (field.is(at::type, wire_type::varint)) {
                type = field.value;
            } else if (field.is_bytes(at::ref_attr_name)) {
                reference_ = fields.text(field);
            } else if (const auto kind = type_of_attribute_field(field.number); kind != 0) {
                implied = kind;
            }
        }
        type = type != 0 ? type : implied;
        type_ = type < attribute_types.size() ? attribute_types[type] : "";
    }

    /// Returns: its name.
    [[nodiscard]] std::string_view name() const noexcept { return name_; }

    /// Returns: an element of `attribute_types`, "" if unknown.
    [[nodiscard]] std::string_view type() const noexcept { return type_; }

    /// Returns: the attribute of the enclosing function that it refers to, or "".
    [[nodiscard]] std::string_view reference() const noexcept { return reference_; }

    [[nodiscard]] std::optional<std::int64_t> whole() const { return only<std::int64_t>("int"); }
    [[nodiscard]] std::optional<float> real() const { return only<float>("float"); }
    [[nodiscard]] std::optional<std::string_view> text() const {
        return only<std::string_view>("string");
    }
    [[nodiscard]] std::vector<std::int64_t> wholes() const {
        return only<std::vector<std::int64_t>>("ints").value_or(std::vector<std::int64_t>());
    }
    [[nodiscard]] std::vector<float> reals() const {
        return only<std::vector<float>>("floats").value_or(std::vector<float>());
    }
    [[nodiscard]] std::vector<std::string_view> texts() const {
        return only<std::vector<std::string_view>>("strings").value_or(
            std::vector<std::string_view>());
    }
    /// Returns: a reader of its TensorProto.
    [[nodiscard]] std::optional<wire_reader> tensor() const {
        return only<std::optional<wire_reader>>("tensor").value_or(std::nullopt);
    }

private:
    using at = onnx_fields::attribute;

    /// Returns: the value that all fields add up to. A 0 need not be written.
    template <class Value>
    [[nodiscard]] std::optional<Value> only(std::string_view type) const {
        if (type_ != type || !reference_.empty()) {
            return std::nullopt;
        }
        Value value{};
        auto fields = fields_;
        for (wire_field field; fields.next(field);) {
            add(fields, field, value);
        }
        return value;
    }

    static void add(const wire_reader&, const wire_field& field, std::int64_t& number) {
        if (field.is(at::i, wire_type::varint)) {
            number = static_cast<std::int64_t>(field.value);
        }
    }
    static void add(const wire_reader& fields, const wire_field& field, float& number) {
        if (field.is(at::f, wire_type::fixed32)) {
            std::memcpy(&number, fields.text(field).data(), sizeof number);
        }
    }
    static void add(const wire_reader& fields, const wire_field& field, std::string_view& bytes) {
        if (field.is_bytes(at::s)) {
            bytes = fields.text(field);
        }
    }
    static void add(const wire_reader& fields, const wire_field& field,
                    std::vector<std::int64_t>& all) {
        if (field.is(at::ints, wire_type::varint) || field.is_bytes(at::ints)) {
            read_dims(fields, field, all);
        }
    }
    static void add(const wire_reader& fields, const wire_field& field, std::vector<float>& all) {
        if (field.is(at::floats, wire_type::fixed32) || field.is_bytes(at::floats)) {
            read_floats(fields, field, all);
        }
    }
    static void add(const wire_reader& fields, const wire_field& field,
                    std::vector<std::string_view>& all) {
        if (field.is_bytes(at::strings)) {
            all.push_back(fields.text(field));
        }
    }
    static void add(const wire_reader& fields, const wire_field& field,
                    std::optional<wire_reader>& tensor) {
        if (field.is_bytes(at::t)) {
            tensor = fields.inner(field);
        }
    }

    wire_reader fields_;
    std::string_view name_;
    std::string_view type_;
    std::string_view reference_;
};

/// A small integer tensor, as used for shapes and axes.
struct whole_numbers {
    std::vector<std::int64_t> dims;   ///< as written; negative ones are possible
    std::int64_t data_type = 0;       ///< number in TensorProto.DataType
    std::vector<std::int64_t> values; ///< in row-major order; empty unless they are `known`
    bool known = false;               ///< the values were read: few integers, stored in the file
};

/// Reads an integer tensor of at most that many elements; of others, only type and dims.
/// Complexity: O(fields + values).
[[nodiscard]] inline whole_numbers read_whole_numbers(wire_reader fields,
                                                      std::size_t max_values = 64) {
    using at = detail::onnx_fields::tensor;
    whole_numbers tensor;
    std::string_view raw;
    std::vector<std::int64_t> typed; // int32_data (5) or int64_data (7)
    bool elsewhere = false;
    for (wire_field field; fields.next(field);) {
        if (field.number == at::dims &&
            (field.type == wire_type::varint || field.type == wire_type::bytes)) {
            detail::read_dims(fields, field, tensor.dims);
        } else if (field.is(at::data_type, wire_type::varint)) {
            tensor.data_type = static_cast<std::int64_t>(field.value);
        } else if (field.is_bytes(at::raw_data)) {
            raw = fields.text(field);
        } else if ((field.number == 5 || field.number == 7) && field.size() <= 16 * max_values) {
            detail::read_dims(fields, field, typed);
        } else if (field.is(at::data_location, wire_type::varint)) {
            elsewhere = field.value == 1;
        }
    }
    constexpr std::int64_t int32 = 6;
    constexpr std::int64_t int64 = 7;
    constexpr std::int64_t boolean = 9;
    const std::size_t width = tensor.data_type == int64     ? 8
                              : tensor.data_type == int32   ? 4
                              : tensor.data_type == boolean ? 1
                                                            : 0;
    std::size_t count = 1;
    for (auto dim : tensor.dims) {
        const auto extent = static_cast<std::size_t>(dim); // negative ones become too large
        count = count > max_values || extent > max_values ? max_values + 1 : count * extent;
    }
    if (width == 0 || count > max_values || elsewhere) {
        return tensor;
    }
    if (raw.size() == count * width) {
        for (std::size_t i = 0; i < count; ++i) {
            std::int64_t value = 0;
            if (width == 8) {
                std::memcpy(&value, raw.data() + i * width, 8);
            } else if (width == 4) {
                std::int32_t narrow = 0;
                std::memcpy(&narrow, raw.data() + i * width, 4);
                value = narrow;
            } else {
                value = static_cast<unsigned char>(raw[i]);
            }
            tensor.values.push_back(value);
        }
        tensor.known = true;
    } else if (raw.empty() && typed.size() == count) {
        tensor.values = std::move(typed);
        tensor.known = true;
    }
    return tensor;
}

/// Reads a tensor of float32, or of float16 as raw data, of at most that many elements.
/// Complexity: O(fields + values).
[[nodiscard]] inline std::optional<std::vector<float>>
read_small_floats(wire_reader fields, std::size_t max_values = 64) {
    using at = detail::onnx_fields::tensor;
    const auto header = read_tensor_header(fields);
    std::string bytes;
    for (wire_field field; fields.next(field);) {
        const bool data = field.is_bytes(at::raw_data) || field.is_bytes(at::float_data) ||
                          field.is(at::float_data, wire_type::fixed32);
        if (data && bytes.size() + field.size() <= 4 * max_values) {
            bytes.append(fields.text(field));
        }
    }
    std::optional<std::vector<float>> values;
    if ((header.data_type != float32 && header.data_type != float16) || header.external) {
        return values;
    }
    with_real_type(header.data_type, [&](auto number) {
        if (bytes.size() == sizeof number * header.elements()) {
            values.emplace();
            for (std::size_t begin = 0; begin < bytes.size(); begin += sizeof number) {
                std::memcpy(&number, bytes.data() + begin, sizeof number);
                values->push_back(static_cast<float>(number));
            }
        }
    });
    return values;
}

/// Reads attributes of one node by name.
class node_attributes {
public:
    /// Requires: `model` outlives this. Complexity: every look-up scans the fields of the node.
    node_attributes(const wire_model& model, id node)
        : fields_(model.reader(model.message(node))) {}

    /// Returns: an INT attribute.
    [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name) const {
        const auto one = find(name);
        return one ? one->whole() : std::nullopt;
    }

    /// Returns: an INTS attribute; nothing if the node has none with that name.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(std::string_view name) const {
        const auto one = find(name);
        return one ? std::optional(one->wholes()) : std::nullopt;
    }

    /// Returns: a FLOAT attribute.
    [[nodiscard]] std::optional<float> real(std::string_view name) const {
        const auto one = find(name);
        return one ? one->real() : std::nullopt;
    }

    /// Returns: a FLOATS attribute; nothing if the node has none with that name.
    [[nodiscard]] std::optional<std::vector<float>> reals(std::string_view name) const {
        const auto one = find(name);
        return one ? std::optional(one->reals()) : std::nullopt;
    }

    /// Returns: a STRING attribute.
    [[nodiscard]] std::string_view text(std::string_view name) const {
        const auto one = find(name);
        return one ? one->text().value_or("") : std::string_view();
    }

    /// Returns: a TENSOR attribute.
    [[nodiscard]] std::optional<whole_numbers> tensor(std::string_view name) const {
        const auto one = find(name);
        const auto fields = one ? one->tensor() : std::nullopt;
        return fields ? std::optional(read_whole_numbers(*fields)) : std::nullopt;
    }

    /// Calls `f(name, attribute)` with a reader of every attribute. Complexity: O(fields).
    template <class Function>
    void for_each(Function f) const {
        auto fields = fields_;
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(detail::onnx_fields::node::attribute)) {
                continue;
            }
            std::string_view name;
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(detail::onnx_fields::attribute::name)) {
                    name = parts.text(part);
                }
            }
            f(name, fields.inner(field));
        }
    }

    /// Whether some attribute refers to one of the enclosing function.
    /// Complexity: O(fields).
    [[nodiscard]] bool has_reference() const {
        bool has_match = false;
        for_each([&](std::string_view, const wire_reader& attribute) {
            has_match = has_match || !attribute_reader(attribute).reference().empty();
        });
        return has_match;
    }

private:
    /// Returns: the last attribute with a name.
    [[nodiscard]] std::optional<attribute_reader> find(std::string_view wanted) const {
        std::optional<attribute_reader> result;
        for_each([&](std::string_view name, const wire_reader& attribute) {
            if (name == wanted) {
                result.emplace(attribute);
            }
        });
        return result;
    }

    wire_reader fields_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_NODE_ATTRIBUTES_HPP
