// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_TENSOR_CONTENT_HPP
#define STEMMA_ONNX_DETAIL_TENSOR_CONTENT_HPP

#include <stemma/core/id.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/message_refs.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The data of an initializer in the layout of `raw_data`, however they are stored.
struct tensor_content {
    tensor_header header;  ///< type, shape, and where the data are stored
    std::string_view data; ///< in a mapped file, or in `own`
    std::string own;       ///< data that had to be assembled
    std::string places;    ///< of a sparse one: its extents, and the indices of its values
    bool readable = true;  ///< false if external data are missing

    /// Returns: all data. Valid as long as this and the reader are.
    [[nodiscard]] std::string_view bytes() const noexcept { return own.empty() ? data : own; }

    /// Returns: all data, or where those that cannot be read are stored: to compare tensors of one
    /// model.
    [[nodiscard]] std::string bytes_or_place() const {
        return readable ? std::string(bytes())
                        : std::string(header.location) + "@" + std::to_string(header.offset) + "+" +
                              std::to_string(header.length);
    }
};

/// Whether two tensors have the same elements, sparse ones in the same places, whatever their types
/// are. Requires: both are readable. Complexity: O(bytes).
[[nodiscard]] inline bool have_same_data(const tensor_content& a, const tensor_content& b) {
    return a.bytes() == b.bytes() && a.places == b.places;
}

/// Whether two tensors are readable and have type, shape and data in common, however stored.
/// Complexity: O(bytes).
[[nodiscard]] inline bool have_same_content(const tensor_content& a, const tensor_content& b) {
    return a.readable && b.readable && a.header.dims == b.header.dims &&
           a.header.data_type == b.header.data_type && have_same_data(a, b);
}

/// Reads the data of initializers; data in files are mapped.
class tensor_content_reader {
public:
    /// Requires: `model` outlives the reader.
    explicit tensor_content_reader(const wire_model& model)
        : model_(&model), folder_(std::filesystem::absolute(model.file()).parent_path()) {}

    /// Complexity: O(fields), and O(data) if stored in typed fields.
    [[nodiscard]] tensor_content read(const tensor_ref& tensor) {
        using at = detail::onnx_fields::tensor;
        tensor_content content;
        content.header = read_tensor_header(*model_, tensor);
        if (tensor.sparse) {
            content.places = places_of(tensor);
        }
        if (content.header.external) {
            read_external(content);
            return content;
        }
        const auto bits = bits_of_type(content.header.data_type);
        auto fields = model_->reader(tensor.message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at::raw_data)) {
                content.data = fields.text(field);
            } else if (field.number == at::float_data || field.number == at::double_data) {
                const bool single = field.type == wire_type::fixed32 ||
                                    field.type == wire_type::fixed64 ||
                                    field.type == wire_type::bytes;
                content.own.append(single ? fields.text(field) : std::string_view());
            } else if (field.number == at::int32_data || field.number == at::int64_data ||
                       field.number == at::uint64_data) {
                append_numbers(fields, field, std::max(1U, bits / 8), content.own);
            } else if (field.is_bytes(at::string_data)) {
                const auto text = fields.text(field);
                content.own.append(std::to_string(text.size())).append(":").append(text);
            }
        }
        return content;
    }

    /// The same for a tensor in an attribute.
    [[nodiscard]] tensor_content read(const wire_field& field) {
        tensor_ref tensor;
        tensor.message = {field.content, field.size(), no_id};
        return read(tensor);
    }

private:
    [[nodiscard]] std::string places_of(const tensor_ref& sparse) {
        std::string text;
        auto fields = model_->reader_of(model_->containers()[sparse.message.container]);
        for (wire_field field; fields.next(field);) {
            if (field.number == onnx_fields::sparse_tensor::dims) {
                append_numbers(fields, field, sizeof(std::int64_t), text);
            } else if (field.is_bytes(onnx_fields::sparse_tensor::indices)) {
                tensor_ref indices;
                indices.message = {field.content, field.size(), sparse.message.container};
                const auto content = read(indices);
                text.append(content.bytes_or_place());
            }
        }
        return text;
    }

    static void append_numbers(const wire_reader& around, const wire_field& field, unsigned width,
                               std::string& out) {
        std::vector<std::int64_t> numbers;
        if (field.type == wire_type::varint || field.type == wire_type::bytes) {
            detail::read_dims(around, field, numbers);
        }
        for (auto number : numbers) {
            auto rest = static_cast<std::uint64_t>(number);
            for (unsigned i = 0; i < width; ++i, rest >>= 8U) {
                out.push_back(static_cast<char>(rest & 0xffU));
            }
        }
    }

    void read_external(tensor_content& content) {
        const auto& header = content.header;
        const auto* file = open(std::string(header.location));
        const auto size = file == nullptr ? 0 : file->bytes().size();
        const auto length = external_size(header).value_or(0);
        if (file == nullptr || header.offset > size || length > size - header.offset) {
            content.readable = false;
            return;
        }
        content.data = file->bytes().substr(header.offset, length);
    }

    /// Returns: a file, mapped; null if it is missing or outside the model's folder.
    [[nodiscard]] const mapped_file* open(const std::string& location) {
        const auto [entry, is_new] = files_.try_emplace(location);
        if (is_new && is_inside_folder(location)) {
            const auto path = folder_ / location;
            std::error_code failed;
            if (std::filesystem::is_regular_file(path, failed)) {
                entry->second = std::make_unique<mapped_file>(path.string());
            }
        }
        return entry->second.get();
    }

    const wire_model* model_;
    std::filesystem::path folder_;
    std::map<std::string, std::unique_ptr<mapped_file>> files_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_TENSOR_CONTENT_HPP
