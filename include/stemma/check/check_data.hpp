// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECK_CHECK_DATA_HPP
#define STEMMA_CHECK_CHECK_DATA_HPP

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

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Checks the location of initializer data, without reading it.
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
        if (detail::range::any_of(header.dims, [](std::int64_t dim) { return dim < 0; })) {
            tell("data.dims", place, "has a negative dimension");
            return;
        }
        const auto expected = data_size(header);
        if (header.external) {
            check_external(header, expected, place);
        } else if (const auto raw = raw_size(tensor); raw && expected && *raw != *expected) {
            tell("data.size", place,
                 "has " + bytes(*raw) + ", but type and dims need " + bytes(*expected));
        }
    }

private:
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
        const auto length = header.length > 0 ? header.length : expected.value_or(0);
        if (size && (header.offset > *size || length > *size - header.offset)) {
            tell("data.beyond_end", place,
                 "its data extend past the end of '" + location + "', which has " + bytes(*size));
        }
    }

    /// Returns: the size of a file; nothing, after reporting it once, if missing.
    [[nodiscard]] std::optional<std::uint64_t> size_of_file(const std::string& location) {
        const auto [known, is_new] = sizes_.try_emplace(location);
        if (is_new) {
            const auto path = folder_ / location;
            std::error_code failed;
            const auto size = std::filesystem::file_size(path, failed);
            if (failed) {
                tell("data.missing", "file '" + location + "'", "is missing, or not a file");
            } else {
                known->second = size;
                if (std::filesystem::is_symlink(path, failed)) {
                    tell("data.symlink", "file '" + location + "'",
                         "is a symbolic link, which runtimes reject", severity::warning);
                }
            }
        }
        return known->second;
    }

    const wire_model& model_;
    Report& report_;
    std::filesystem::path folder_;
    std::map<std::string, std::optional<std::uint64_t>> sizes_; // by location
};

} // namespace detail

/// Calls `report(finding)` for all initializers whose data is missing or does not match type and
/// dims. External data is looked up beside the model's file; no data is read. Complexity:
/// O(initializers * log files).
template <class Report>
void check_data(const wire_model& model, Report report) {
    detail::data_checker<Report> checker(model, report);
    for (const auto& tensor : model.tensors()) {
        checker.check(tensor);
    }
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CHECK_CHECK_DATA_HPP
