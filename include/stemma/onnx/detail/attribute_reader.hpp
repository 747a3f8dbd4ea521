// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_ATTRIBUTE_READER_HPP
#define STEMMA_ONNX_DETAIL_ATTRIBUTE_READER_HPP

#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_ATTRIBUTE_READER_HPP
