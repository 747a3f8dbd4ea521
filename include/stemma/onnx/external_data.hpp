// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_EXTERNAL_DATA_HPP
#define STEMMA_ONNX_EXTERNAL_DATA_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/onnx/data_placement.hpp>
#include <stemma/onnx/detail/for_each_tensor.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Whether an external-data location is inside the model's folder.
[[nodiscard]] inline bool is_inside_folder(std::string_view location) {
    const std::filesystem::path path(location);
    return !location.empty() && !path.is_absolute() && !detail::range::contains(path, "..") &&
           location.find('\0') == location.npos;
}

/// Adds the external data files of the tensors in a message that at least `depth` messages are
/// around. Complexity: O(fields).
inline void list_external_files(wire_reader fields, tensors_in message,
                                std::vector<std::string>& files, std::size_t depth = 0) {
    for_each_tensor(fields, message, [&](wire_reader tensor, std::size_t around) {
        if (around < depth) {
            return;
        }
        const auto header = read_tensor_header(tensor);
        if (header.external) {
            files.emplace_back(header.location);
        }
    });
}

/// Returns: the external data files of tensors other than the initializers of the main graph: those
/// of attributes, bodies, functions and sparse tensors. Complexity: O(fields of the model).
[[nodiscard]] inline std::vector<std::string> nested_external_files(const wire_model& model) {
    constexpr std::size_t deeper = 3; // than the initializers in the graph of the model
    std::vector<std::string> files;
    list_external_files(model.reader(), tensors_in::model, files, deeper);
    return range::each_once(std::move(files));
}

/// Returns: the folder that contains a file, as an absolute path without `.` and `..`, which is the
/// same for all spellings without links.
[[nodiscard]] inline std::filesystem::path folder_of(const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal().parent_path();
}

} // namespace detail

/// Returns: the external data files of all tensors, as named in the model, sorted.
/// Complexity: O(fields of the model).
[[nodiscard]] inline std::vector<std::string> external_files(const wire_model& model) {
    std::vector<std::string> files;
    detail::list_external_files(model.reader(), detail::tensors_in::model, files);
    return detail::range::each_once(std::move(files));
}

/// Returns: the external data files that would be missing next to `output`, as it is in another
/// folder and they stay with the model: none if they are placed. Complexity: O(fields of the
/// model).
[[nodiscard]] inline std::vector<std::string>
files_left_behind(const wire_model& model, const std::string& output,
                  data_placement placement = data_placement::keep) {
    const auto from = detail::folder_of(model.file());
    const auto to = detail::folder_of(output);
    if (placement != data_placement::keep || from == to) {
        return {};
    }
    auto files = external_files(model);
    std::erase_if(files, [&](const std::string& file) { // there by a link
        std::error_code missing;
        return detail::is_inside_folder(file) &&
               std::filesystem::equivalent(from / file, to / file, missing);
    });
    return files;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_EXTERNAL_DATA_HPP
