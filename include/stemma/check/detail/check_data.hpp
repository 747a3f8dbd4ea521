// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECK_DETAIL_CHECK_DATA_HPP
#define STEMMA_CHECK_DETAIL_CHECK_DATA_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the field of TensorProto that holds elements of a data type if they are not raw; 0 for
/// an unknown type.
[[nodiscard]] constexpr std::uint32_t typed_data(std::int64_t data_type) noexcept {
    using at = onnx_fields::tensor;
    switch (data_type) {
    case 1:  // float32
    case 14: // complex64
        return at::float_data;
    case 7: // int64
        return at::int64_data;
    case 8: // string
        return at::string_data;
    case 11: // float64
    case 15: // complex128
        return at::double_data;
    case 12: // uint32
    case 13: // uint64
        return at::uint64_data;
    default:
        return data_type_name(data_type).empty() ? 0 : std::uint32_t{at::int32_data};
    }
}

/// Returns: how many entries that field needs: two for a complex element, one for as many elements
/// of less than a byte as a byte holds. Complexity: O(rank).
[[nodiscard]] inline std::uint64_t entries_needed(const tensor_header& header) noexcept {
    const bool is_complex = header.data_type == 14 || header.data_type == 15;
    const auto bits = bits_of_type(header.data_type);
    const std::uint64_t in_byte = bits > 0 && bits < 8 ? 8 / bits : 1;
    const auto elements = header.elements();
    return is_complex ? 2 * elements : elements / in_byte + (elements % in_byte == 0 ? 0 : 1);
}

/// Returns: the number of entries in a repeated field, packed or not.
/// Complexity: O(fields + bytes of varints).
[[nodiscard]] inline std::uint64_t count_entries(wire_reader fields, std::uint32_t number) {
    using at = onnx_fields::tensor;
    std::uint64_t count = 0;
    for (wire_field field; fields.next(field);) {
        if (field.number != number) {
            continue;
        }
        if (!field.is_bytes(number) || number == at::string_data) {
            ++count;
        } else if (number == at::float_data || number == at::double_data) {
            count += field.size() / (number == at::float_data ? sizeof(float) : sizeof(double));
        } else { // varints end with a byte below 128
            const auto packed = fields.text(field);
            count += static_cast<std::uint64_t>(
                range::count_if(packed, [](char c) { return (c & 0x80) == 0; }));
        }
    }
    return count;
}

/// Checks the location and amount of initializer data.
template <class Report>
class data_checker {
public:
    data_checker(const wire_model& model, Report& report)
        : model_(model)
        , report_(report)
        , folder_(std::filesystem::absolute(model.file()).parent_path()) {}

    void check(const tensor_ref& tensor) {
        const auto header = read_tensor_header(model_, tensor);
        const auto place = "initializer '" + std::string(model_.text(tensor.name)) + "'";
        if (header.data_type <= 0) {
            tell("data.type", place, "has no data type");
        }
        if (range::any_of(header.dims, [](std::int64_t dim) { return dim < 0; })) {
            tell("data.dims", place, "has a negative dimension");
            return;
        }
        const auto expected = data_size(header);
        if (!expected && is_too_large(header)) {
            tell("data.size", place, "has dims that need more data than 64 bits can count");
            return;
        }
        if (header.external) {
            check_external(header, expected, place);
        } else if (const auto raw = raw_size(tensor)) {
            if (header.data_type == string_type) {
                tell("data.size", place, "has raw data, which strings cannot have");
            } else if (expected && *raw != *expected) {
                tell("data.size", place,
                     "has " + bytes(*raw) + ", but type and dims need " + bytes(*expected));
            }
        } else {
            check_typed(tensor, header, place);
        }
    }

private:
    static constexpr std::int64_t string_type = 8;

    /// Whether the size of data cannot be counted. Requires: no dimension is negative.
    [[nodiscard]] static bool is_too_large(const tensor_header& header) {
        const bool is_empty = range::any_of(header.dims, [](std::int64_t dim) { return dim == 0; });
        return !is_empty && (header.elements() == 0 || bits_of_type(header.data_type) != 0);
    }

    void tell(const char* code, std::string place, std::string text,
              severity level = severity::error) {
        report_(finding{code, no_id, std::move(text), level, std::move(place)});
    }

    [[nodiscard]] static std::string bytes(std::uint64_t count) {
        return std::to_string(count) + (count == 1 ? " byte" : " bytes");
    }

    [[nodiscard]] std::optional<std::uint64_t> raw_size(const tensor_ref& tensor) const {
        std::optional<std::uint64_t> size;
        auto fields = model_.reader(tensor.message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(onnx_fields::tensor::raw_data)) {
                size = field.size();
            }
        }
        return size;
    }

    void check_typed(const tensor_ref& tensor, const tensor_header& header,
                     const std::string& place) {
        const auto at = typed_data(header.data_type);
        const auto needed = entries_needed(header);
        const auto count = at == 0 ? needed : count_entries(model_.reader(tensor.message), at);
        if (count != needed) {
            tell("data.size", place,
                 count == 0 ? "has no data of its type, but dims need " + entries(needed)
                            : "has " + entries(count) + " of data, but type and dims need " +
                                  std::to_string(needed));
        }
    }

    [[nodiscard]] static std::string entries(std::uint64_t count) {
        return std::to_string(count) + (count == 1 ? " number" : " numbers");
    }

    void check_external(const tensor_header& header, std::optional<std::uint64_t> expected,
                        const std::string& place) {
        const std::string location(header.location);
        if (!is_inside_folder(location)) {
            tell("data.outside", place,
                 "its data '" + location + "' are outside the model's folder");
            return;
        }
        if (header.offset == tensor_header::unreadable ||
            header.length == tensor_header::unreadable) {
            tell("data.place", place, "its offset or length is not a number");
            return;
        }
        const auto size = size_of_file(location);
        if (header.length > 0 && expected && header.length != *expected) {
            tell("data.size", place,
                 "claims " + bytes(header.length) + " of data, but type and dims need " +
                     bytes(*expected));
        }
        const auto length = external_size(header).value_or(0);
        if (size && (header.offset > *size || length > *size - header.offset)) {
            tell("data.beyond_end", place,
                 "its data extend past the end of '" + location + "', which has " + bytes(*size));
        }
    }

    /// Returns: the size of a file; nothing, after reporting it once, if missing.
    [[nodiscard]] std::optional<std::uint64_t> size_of_file(const std::string& location) {
        const auto [entry, is_new] = sizes_.try_emplace(location);
        if (is_new) {
            const auto path = folder_ / location;
            std::error_code failed;
            const auto size = std::filesystem::file_size(path, failed);
            if (failed) {
                tell("data.missing", "file '" + location + "'", "is missing, or not a file");
            } else {
                entry->second = size;
                if (std::filesystem::is_symlink(path, failed)) {
                    tell("data.symlink", "file '" + location + "'",
                         "is a symbolic link, which runtimes reject", severity::warning);
                }
            }
        }
        return entry->second;
    }

    const wire_model& model_;
    Report& report_;
    std::filesystem::path folder_;
    std::map<std::string, std::optional<std::uint64_t>> sizes_; // by location
};

/// Calls `report(finding)` for all initializers whose data is missing or does not match type and
/// dims. External data is looked up beside the model's file; of other data, only integers that are
/// not raw are read, to count them. Complexity: O(initializers * log files + bytes of these).
template <class Report>
void check_data(const wire_model& model, Report report) {
    data_checker<Report> checker(model, report);
    for (const auto& tensor : model.tensors()) {
        checker.check(tensor);
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECK_DETAIL_CHECK_DATA_HPP
