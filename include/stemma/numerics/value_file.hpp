// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_VALUE_FILE_HPP
#define STEMMA_NUMERICS_VALUE_FILE_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/numerics/detail/npy.hpp>
#include <stemma/numerics/detail/npz.hpp>
#include <stemma/numerics/tensor_values.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// A TensorProto with its name.
struct named_tensor {
    std::string_view name;
    tensor_values values;
};

/// Reads a TensorProto, as in ONNX's test data.
/// Throws: `error` of `error_code::malformed` or `unsupported`. Complexity: O(bytes).
[[nodiscard]] inline named_tensor read_tensor_message(std::string_view bytes,
                                                      const std::string& file) {
    using at = onnx_fields::tensor;
    if (bytes.size() >= std::uint64_t{1} << 32U) {
        STEMMA_THROW(error(error_code::unsupported, file, "", "has 4 GiB or more"));
    }
    const wire_reader message(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), file);
    const auto header = read_tensor_header(message);
    if (header.external) {
        STEMMA_THROW(
            error(error_code::unsupported, file, "", "stores its elements in another file"));
    }
    named_tensor tensor;
    std::string_view raw;
    auto own = std::make_shared<std::string>();
    const auto width = bits_of_type(header.data_type) / 8;
    auto fields = message;
    for (wire_field field; fields.next(field);) {
        const bool varints = field.number == at::int32_data || field.number == at::int64_data ||
                             field.number == at::uint64_data;
        if (field.is_bytes(at::name)) {
            tensor.name = fields.text(field);
        } else if (field.is_bytes(at::raw_data)) {
            raw = fields.text(field);
        } else if ((field.number == at::float_data || field.number == at::double_data) &&
                   field.type != wire_type::varint) {
            own->append(fields.text(field));
        } else if (varints && (field.type == wire_type::bytes || field.type == wire_type::varint)) {
            std::vector<std::int64_t> numbers;
            read_dims(fields, field, numbers);
            for (const auto number : numbers) {
                append_little_endian(static_cast<std::uint64_t>(number), width, *own);
            }
        }
    }
    const auto content = own->empty() ? raw : std::string_view(*own);
    constexpr bool swapped = std::endian::native != std::endian::little;
    tensor.values = tensor_values(header.data_type, header.dims, content, file, tensor.name,
                                  swapped, false, std::move(own));
    return tensor;
}

} // namespace detail

/// The values of one run of a model, by name: an .npz file; one .npy or .pb file; a folder of such
/// files; or tensors in memory.
///  A value in an .npy file is named after the file, without extension, with `%2F` for `/`, as in
/// URLs; one in a .pb file has its stored name. Files are mapped and read on demand.
class value_file {
public:
    /// Throws: `error` of `error_code::cannot_read` for missing files, of `malformed` or
    /// `unsupported` for unreadable ones, of `contradiction` for duplicate names.
    /// Complexity: O(values), and of .pb files O(bytes).
    explicit value_file(const std::string& path) : path_(path) {
        std::error_code failed;
        if (!std::filesystem::is_directory(path, failed)) {
            add_file(path);
            return;
        }
        std::vector<std::string> files;
        for (const auto& one : std::filesystem::directory_iterator(path, failed)) {
            const auto extension = one.path().extension();
            if (extension == ".npy" || extension == ".pb" || extension == ".npz") {
                files.push_back(one.path().string());
            }
        }
        if (files.empty()) {
            STEMMA_THROW(
                error(error_code::cannot_read, path, "", "contains no .npz, .npy or .pb file"));
        }
        std::sort(files.begin(), files.end());
        for (const auto& file : files) {
            add_file(file);
        }
    }

    /// As above, from the bytes of one file. Requires: `file` has the right extension.
    explicit value_file(mapped_file file) : path_(file.path()) { add(std::move(file)); }

    /// Values in memory, by name: those of a runtime in the same program. `path` stands in for a
    /// file in messages. Requires: their elements outlive it. Complexity: O(values).
    value_file(std::string path, std::map<std::string, tensor_values> values)
        : path_(std::move(path)) {
        for (auto& [name, value] : values) {
            entries_.emplace(name, entry{nullptr, {}, std::move(value)});
        }
    }

    /// Returns: the path.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Returns: the names of all values, sorted. Complexity: O(values).
    [[nodiscard]] std::vector<std::string_view> names() const {
        std::vector<std::string_view> all;
        for (const auto& [name, what] : entries_) {
            all.push_back(name);
        }
        return all;
    }

    /// Whether a value exists.
    [[nodiscard]] bool holds(std::string_view name) const { return entries_.contains(name); }

    /// Returns: a value, if it exists. Valid as long as this.
    /// Throws: `error` of `error_code::malformed` or `unsupported`. Complexity: O(log values).
    [[nodiscard]] std::optional<tensor_values> find(std::string_view name) const {
        const auto value = entries_.find(name);
        if (value == entries_.end()) {
            return std::nullopt;
        }
        const auto& [file, bytes, read] = value->second;
        return read ? *read : detail::read_npy(bytes, file->path(), value->first);
    }

    /// Releases the pages of a value that is no longer needed.
    void release(std::string_view name) const noexcept {
        const auto value = entries_.find(name);
        if (value != entries_.end() && !value->second.read) {
            const auto& [file, bytes, read] = value->second;
            file->release(static_cast<std::size_t>(bytes.data() - file->bytes().data()),
                          bytes.size());
        }
    }

private:
    struct entry {
        const mapped_file* file;
        std::string_view bytes;
        std::optional<tensor_values> read; // of a .pb file, or in memory
    };

    void add_file(const std::string& path) { add(mapped_file(path)); }

    void add(mapped_file mapped) {
        auto& file = files_.emplace_back(std::move(mapped));
        const std::filesystem::path path(file.path());
        const auto extension = path.extension().string();
        if (extension == ".npy") {
            put(decoded(path.stem().string()), {&file, file.bytes(), std::nullopt});
        } else if (extension == ".pb") {
            auto tensor = detail::read_tensor_message(file.bytes(), file.path());
            put(tensor.name.empty() ? path.stem().string() : std::string(tensor.name),
                {&file, file.bytes(), std::move(tensor.values)});
        } else {
            for (const auto& one : detail::read_npz(file.bytes(), file.path())) {
                put(std::string(one.name), {&file, one.bytes, std::nullopt});
            }
        }
    }

    void put(std::string name, entry what) {
        const auto& path = what.file->path();
        const auto [place, is_new] = entries_.emplace(std::move(name), std::move(what));
        if (!is_new) {
            STEMMA_THROW(
                error(error_code::contradiction, path, place->first, "two values have this name"));
        }
    }

    [[nodiscard]] static std::string decoded(std::string_view name) {
        const auto digit = [](char c) {
            return std::string_view("0123456789ABCDEFabcdef").find(c);
        };
        std::string text;
        for (std::size_t i = 0; i < name.size(); ++i) {
            const bool escaped = name[i] == '%' && i + 2 < name.size() &&
                                 digit(name[i + 1]) != name.npos && digit(name[i + 2]) != name.npos;
            if (!escaped) {
                text.push_back(name[i]);
                continue;
            }
            const auto value = [&](char c) { return digit(c) < 16 ? digit(c) : digit(c) - 6; };
            text.push_back(static_cast<char>(value(name[i + 1]) * 16 + value(name[i + 2])));
            i += 2;
        }
        return text;
    }

    std::string path_;
    std::deque<mapped_file> files_; // with stable addresses
    std::map<std::string, entry, std::less<>> entries_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_NUMERICS_VALUE_FILE_HPP
