// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DESCRIBED_ATTRIBUTE_HPP
#define STEMMA_TYPES_DESCRIBED_ATTRIBUTE_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/io/detail/real_text.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/number_types.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tag_attribute.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/describe_type.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// An attribute of a node as readable text.
struct described_attribute {
    /// Limits for long attributes.
    struct limits {
        std::size_t items = 8;  ///< of lists and tensors
        std::size_t bytes = 60; ///< of strings
    };

    std::string name;         ///< `strides`
    std::string_view type;    ///< `int`, `ints`, `string`, `tensor`, ...; "" where unknown
    std::string text;         ///< `[2,2]`, `SAME_UPPER`, `float16`, `int64[2] [1,-1]`
    std::uint64_t length = 1; ///< numbers of a list or tensor, strings of a list, bytes of a string
    bool cut = false;         ///< whether `text` is abbreviated
    std::optional<double> number; ///< if it is a single number
};

namespace detail {

/// Returns: the number at the start of a text. Requires: it is long enough.
template <class Number>
[[nodiscard]] Number number_at(std::string_view bytes) {
    Number number{};
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
}

/// A tensor as readable text.
struct tensor_text {
    std::string text;           ///< `int64[3] [1,2,3]`; without numbers if they are not read
    std::uint64_t elements = 0; ///< by its dims
    bool cut = false;           ///< whether numbers are omitted
};

/// Reads the first numbers of a tensor.
class tensor_numbers {
public:
    explicit tensor_numbers(std::size_t most) : most_(most) {}

    /// Returns: the texts of at most that many numbers; none if the tensor has no readable data.
    [[nodiscard]] std::vector<std::string> read(wire_reader fields, std::int64_t data_type) {
        const auto name = data_type_name(data_type);
        using at = onnx_fields::tensor;
        for (wire_field field; fields.next(field) && items_.size() < most_;) {
            const auto bytes =
                field.type == wire_type::varint ? std::string_view() : fields.text(field);
            if (field.is_bytes(at::raw_data)) {
                read_raw(bytes, data_type);
            } else if (field.number == at::float_data && name == "float32") {
                read_fixed<float>(bytes);
            } else if (field.number == at::double_data && name == "float64") {
                read_fixed<double>(bytes);
            } else if (is_whole(name) &&
                       (field.number == at::int32_data || field.number == at::int64_data ||
                        field.number == at::uint64_data)) {
                read_whole(fields, field);
            }
        }
        return std::move(items_);
    }

private:
    /// Elements of 8 bits and more.
    [[nodiscard]] static bool is_whole(std::string_view name) {
        return name == "bool" || ((name.starts_with("int") || name.starts_with("uint")) &&
                                  !name.ends_with("t4") && !name.ends_with("t2"));
    }

    template <class Number>
    void read_fixed(std::string_view bytes) {
        for (std::size_t i = 0; i + sizeof(Number) <= bytes.size() && items_.size() < most_;
             i += sizeof(Number)) {
            const auto number = number_at<Number>(bytes.substr(i));
            if constexpr (std::is_floating_point_v<Number>) {
                items_.push_back(real_text(number));
            } else {
                items_.push_back(std::to_string(number));
            }
        }
    }

    void read_raw(std::string_view bytes, std::int64_t data_type) {
        constexpr std::int64_t complex64 = 14;
        with_number_type(data_type < complex64 ? data_type : 0, [&]<class Number>(Number) {
            if constexpr (std::is_arithmetic_v<Number>) {
                read_fixed<Number>(bytes);
            }
        });
    }

    void read_whole(const wire_reader& fields, const wire_field& field) {
        constexpr std::size_t longest = 10; // bytes of a number
        if (field.type == wire_type::bytes && field.size() > longest * 1024) {
            return;
        }
        std::vector<std::int64_t> numbers;
        if (field.type == wire_type::varint || field.type == wire_type::bytes) {
            read_dims(fields, field, numbers);
        }
        for (auto number : numbers) {
            if (items_.size() < most_) {
                items_.push_back(field.number == onnx_fields::tensor::uint64_data
                                     ? std::to_string(static_cast<std::uint64_t>(number))
                                     : std::to_string(number));
            }
        }
    }

    std::size_t most_;
    std::vector<std::string> items_;
};

/// Reads a tensor with its first numbers. Complexity: O(fields + numbers).
[[nodiscard]] inline tensor_text read_tensor_text(wire_reader fields, std::size_t most) {
    const auto header = read_tensor_header(fields);
    const auto type = data_type_name(header.data_type);
    tensor_text result;
    result.elements = header.elements();
    result.text = type.empty() ? "type " + std::to_string(header.data_type) : std::string(type);
    result.text.push_back('[');
    for (std::size_t i = 0; i < header.dims.size(); ++i) {
        result.text.append(i == 0 ? "" : ",").append(std::to_string(header.dims[i]));
    }
    result.text.push_back(']');
    if (header.external) {
        return result;
    }
    const auto items = tensor_numbers(most).read(fields, header.data_type);
    if (items.empty()) {
        return result;
    }
    result.cut = result.elements > items.size();
    if (header.dims.empty()) {
        result.text.append(" ").append(items.front());
        return result;
    }
    std::string list;
    for (const auto& item : items) {
        list.append(list.empty() ? "" : ",").append(item);
    }
    result.text.append(" [").append(list).append(result.cut ? ",\xe2\x80\xa6]" : "]");
    return result;
}

/// Attributes of standard operators that are element types.
inline constexpr std::array<std::string_view, 7> type_attributes{
    "dtype", "output_datatype", "output_dtype", "precision", "softmax_precision", "stash_type",
    "to"};

/// Reads one AttributeProto.
class attribute_describer {
public:
    explicit attribute_describer(described_attribute::limits limits) : limits_(limits) {}

    [[nodiscard]] described_attribute describe(wire_reader fields, bool standard) {
        const attribute_reader attribute(fields);
        attribute_.name = attribute.name();
        attribute_.type = attribute.type();
        if (!attribute.reference().empty()) {
            attribute_.text = "@" + std::string(attribute.reference());
            return std::move(attribute_);
        }
        for (wire_field field; fields.next(field);) {
            read_value(fields, field);
        }
        finish(standard);
        return std::move(attribute_);
    }

private:
    using at = onnx_fields::attribute;

    void read_value(const wire_reader& fields, const wire_field& field) {
        if (field.is(at::f, wire_type::fixed32)) {
            attribute_.number = number_at<float>(fields.text(field));
        } else if (field.is(at::i, wire_type::varint)) {
            whole_ = static_cast<std::int64_t>(field.value);
            attribute_.number = static_cast<double>(whole_);
        } else if (field.is_bytes(at::s)) {
            bytes_ = fields.text(field);
        } else if (field.is_bytes(at::t)) {
            auto read = read_tensor_text(fields.inner(field), limits_.items);
            attribute_.length = read.elements;
            attribute_.text = std::move(read.text);
            attribute_.cut = read.cut;
        } else if (field.is_bytes(at::g)) {
            attribute_.length = count_nodes(fields.inner(field));
        } else if (field.number == at::floats &&
                   (field.type == wire_type::fixed32 || field.type == wire_type::bytes)) {
            const auto packed = fields.text(field); // one four-byte number, or many packed ones
            for (std::size_t i = 0; i + 4 <= packed.size(); i += 4) {
                add_item([&] { return real_text(number_at<float>(packed.substr(i))); });
            }
        } else if (field.number == at::ints &&
                   (field.type == wire_type::varint || field.type == wire_type::bytes)) {
            std::vector<std::int64_t> numbers;
            read_dims(fields, field, numbers);
            for (auto number : numbers) {
                add_item([&] { return std::to_string(number); });
            }
        } else if (field.is_bytes(at::strings)) {
            add_item([&] { return shown_bytes(fields.text(field)); });
        } else {
            read_rest(fields, field);
        }
    }

    void read_rest(const wire_reader& fields, const wire_field& field) {
        if (field.is_bytes(at::tensors) || field.is_bytes(at::sparse_tensors)) {
            add_item([] { return std::string("tensor"); });
        } else if (field.is_bytes(at::graphs)) {
            add_item([&] { return nodes_text(count_nodes(fields.inner(field))); });
        } else if (field.is_bytes(at::sparse_tensor)) {
            attribute_.text = "sparse tensor";
        } else if (field.is_bytes(at::type_proto)) {
            attribute_.text = to_text(stemma::detail::describe_type(fields.text(field)));
        } else if (field.is_bytes(at::type_protos)) {
            add_item([&] { return to_text(stemma::detail::describe_type(fields.text(field))); });
        }
    }

    template <class Text>
    void add_item(Text text) {
        if (items_++ < limits_.items) {
            list_.append(list_.empty() ? "" : ",").append(text());
        }
    }

    void finish(bool standard) {
        if (attribute_.type == "float") {
            attribute_.text = real_text(static_cast<float>(attribute_.number.value_or(0)));
            attribute_.number = attribute_.number.value_or(0);
        } else if (attribute_.type == "int") {
            const bool names_type =
                standard && std::find(type_attributes.begin(), type_attributes.end(),
                                      attribute_.name) != type_attributes.end();
            const auto name = names_type ? data_type_name(whole_) : std::string_view();
            attribute_.text = name.empty() ? std::to_string(whole_) : std::string(name);
            attribute_.number = static_cast<double>(whole_);
        } else if (attribute_.type == "string") {
            attribute_.length = bytes_.size();
            attribute_.cut = bytes_.size() > limits_.bytes;
            attribute_.text = shown_bytes(bytes_);
        } else if (attribute_.type == "graph") {
            attribute_.text = nodes_text(attribute_.length);
        } else if (attribute_.text.empty()) {
            attribute_.length = items_;
            attribute_.cut = items_ > limits_.items;
            attribute_.text = "[" + list_ + (attribute_.cut ? ",\xe2\x80\xa6" : "") + "]";
        }
    }

    [[nodiscard]] static std::string nodes_text(std::uint64_t nodes) {
        return "{" + std::to_string(nodes) + (nodes == 1 ? " node}" : " nodes}");
    }

    [[nodiscard]] static std::uint64_t count_nodes(wire_reader fields) {
        std::uint64_t nodes = 0;
        for (wire_field field; fields.next(field);) {
            nodes += field.is_bytes(onnx_fields::graph::node) ? 1U : 0U;
        }
        return nodes;
    }

    /// Returns: the beginning of a string, without invalid UTF-8.
    [[nodiscard]] std::string shown_bytes(std::string_view bytes) const {
        std::string shown;
        for (auto rest = bytes; !rest.empty();) {
            const auto length = utf8_length(rest);
            if (shown.size() + length > limits_.bytes) {
                return shown + "\xe2\x80\xa6";
            }
            shown.append(length == 0 ? std::string_view("?") : rest.substr(0, length));
            rest.remove_prefix(length == 0 ? 1 : length);
        }
        return shown;
    }

    described_attribute::limits limits_;
    described_attribute attribute_;
    std::int64_t whole_ = 0;
    std::string_view bytes_;
    std::string list_;
    std::size_t items_ = 0;
};

} // namespace detail

/// Returns: the attributes of a node in file order, without stemma's own. One that refers to an
/// attribute of the enclosing function is `@name`.
/// Throws: `error` of `malformed`. Complexity: O(fields, without data of tensors).
[[nodiscard]] inline std::vector<described_attribute>
describe_attributes(const wire_model& model, index_arg<node_id> node,
                    described_attribute::limits limits = {}) {
    std::vector<described_attribute> all;
    detail::node_attributes(model, node)
        .for_each([&](std::string_view, detail::wire_reader fields) {
            if (!detail::is_tag_attribute(fields)) {
                all.push_back(detail::attribute_describer(limits).describe(
                    fields, model.domain(node).empty()));
            }
        });
    return all;
}

namespace detail {

/// Returns: `[2,2]`; with the length of long ones: `[1,2,3,…] (64)`. Complexity: O(length).
[[nodiscard]] inline std::string value_text(const described_attribute& one) {
    return one.text +
           (one.cut ? " (" + std::to_string(one.length) + (one.type == "string" ? " bytes)" : ")")
                    : "");
}

} // namespace detail

/// Returns: `strides=[2,2]`, as above. Complexity: O(length).
[[nodiscard]] inline std::string to_text(const described_attribute& one) {
    return one.name + "=" + detail::value_text(one);
}

namespace detail {

/// Lists the attributes of nodes on one line: `group=1, strides=[2,2]`.
class attribute_texts {
public:
    /// Requires: `model` outlives this.
    explicit attribute_texts(const wire_model& model) : model_(&model) {}

    /// Returns: "" for a node without attributes.
    /// Throws, Complexity: as `describe_attributes`.
    [[nodiscard]] std::string operator()(id node) const {
        std::string text;
        for (const auto& one : describe_attributes(*model_, node)) {
            text.append(text.empty() ? "" : ", ").append(to_text(one));
        }
        return text;
    }

private:
    const wire_model* model_;
};

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TYPES_DESCRIBED_ATTRIBUTE_HPP
