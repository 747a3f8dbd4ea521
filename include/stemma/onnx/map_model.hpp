// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_MAP_MODEL_HPP
#define STEMMA_ONNX_MAP_MODEL_HPP

#include <stemma/io/foreign_file.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Whether the main graph of a large file has an initializer with much data near its beginning.
[[nodiscard]] inline bool is_mostly_data(std::string_view bytes, std::string_view file) {
    constexpr std::size_t large_file = std::size_t{1} << 26U;
    constexpr std::uint32_t large_tensor = 1U << 18U;
    constexpr std::size_t most_fields = 1U << 14U;
    if (bytes.size() < large_file || bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
        return false;
    }
    wire_reader model(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), file);
    for (wire_field part; model.next(part);) {
        if (!part.is_bytes(onnx_fields::model::graph)) {
            continue;
        }
        auto graph = model.inner(part);
        wire_field field;
        for (std::size_t i = 0; i < most_fields && graph.next(field); ++i) {
            if (field.is_bytes(onnx_fields::graph::initializer) && field.size() >= large_tensor) {
                return field.begin <= bytes.size() / 8;
            }
        }
    }
    return false;
}

} // namespace detail

/// Throws: `error` of `error_code::malformed` that says what the file is, if it is recognizably no
/// model. Complexity: O(1) after leading blanks.
inline void refuse_foreign(const mapped_file& file) {
    if (const auto foreign = detail::foreign_file_text(file.bytes()); !foreign.empty()) {
        STEMMA_THROW(error(error_code::malformed, file.path(), "", foreign));
    }
}

/// Returns: a model's file, mapped in small pages if that keeps unread tensor data out of the
/// process's memory; otherwise larger ones are faster.
/// Throws: as `mapped_file`, and `error` of `error_code::malformed` that says what the file is, if
/// it is recognizably no model.
/// Complexity: O(1), as few fields are examined.
[[nodiscard]] inline mapped_file map_model(const std::string& path) {
    mapped_file file(path);
    refuse_foreign(file);
    if (file.descriptor() >= 0 && detail::is_mostly_data(file.bytes(), path)) {
        return mapped_file(path, mapped_pages::small);
    }
    return file;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_MAP_MODEL_HPP
