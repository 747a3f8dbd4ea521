// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_TENSOR_TEXT_HPP
#define STEMMA_TYPES_DETAIL_TENSOR_TEXT_HPP

#include <stemma/io/detail/real_text.hpp>
#include <stemma/onnx/detail/number_types.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_TENSOR_TEXT_HPP
