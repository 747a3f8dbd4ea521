// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_EXTERNAL_DATA_HPP
#define STEMMA_ONNX_EXTERNAL_DATA_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/data_placement.hpp>
#include <stemma/onnx/detail/for_each_tensor.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
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

/// Returns: the texts, each once, sorted. Complexity: O(n log n).
[[nodiscard]] inline std::vector<std::string> each_once(std::vector<std::string> texts) {
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    return texts;
}

/// Returns: the external data files of tensors other than the initializers of the main graph: those
/// of attributes, bodies, functions and sparse tensors. Complexity: O(fields of the model).
[[nodiscard]] inline std::vector<std::string> nested_external_files(const wire_model& model) {
    constexpr std::size_t deeper = 3; // than the initializers in the graph of the model
    std::vector<std::string> files;
    list_external_files(model.reader(), tensors_in::model, files, deeper);
    return each_once(std::move(files));
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
    return detail::each_once(std::move(files));
}

/// Returns: the external data files that would be missing next to `output`, as it is in another
/// folder and they stay with the model: none if they are placed. Complexity: O(fields of the
/// model).
[[nodiscard]] inline std::vector<std::string>
files_left_behind(const wire_model& model, const std::string& output,
                  data_placement placement = data_placement::keep) {
    return placement != data_placement::keep ||
                   detail::folder_of(output) == detail::folder_of(model.file())
               ? std::vector<std::string>()
               : external_files(model);
}

namespace detail {

/// Throws: `error` of `malformed` for a location outside the model's folder, with the name of an
/// initializer there. Complexity: O(initializers), if it is outside.
inline void check_location(const wire_model& model, const std::string& location) {
    if (is_inside_folder(location)) {
        return;
    }
    const auto tensors = model.tensors();
    const auto at = std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) {
        const auto header = read_tensor_header(model, tensor);
        return header.external && header.location == location;
    });
    STEMMA_THROW(error(error_code::malformed, model.file(),
                       at == tensors.end() ? std::string() : std::string(model.text(at->name)),
                       "its data '" + location + "' are outside the model's folder"));
}

/// Throws: `error` of `refused` if `output` is one of the model's external data files.
/// Complexity: O(fields of the model), if there is such a file.
inline void refuse_own_data(const wire_model& model, const std::string& output) {
    std::error_code failed;
    if (!std::filesystem::exists(output, failed)) {
        return;
    }
    const auto folder = std::filesystem::absolute(model.file()).parent_path();
    for (const auto& location : external_files(model)) {
        if (std::filesystem::equivalent(folder / location, output, failed)) {
            STEMMA_THROW(error(error_code::refused, output, "",
                               "has weights of " + model.file() + ", which would be lost"));
        }
    }
}

/// Places one of the model's external data files next to `output`, unless it is there. Another file
/// there is an error unless it may be replaced. Throws, Complexity: as below.
inline void place_data_file(const wire_model& model, const std::string& location,
                            const std::string& output, data_placement placement, bool replace) {
    namespace fs = std::filesystem;
    check_location(model, location);
    const auto from = fs::absolute(model.file()).parent_path() / location;
    const auto to = fs::absolute(output).parent_path() / location;
    std::error_code failed;
    if (!fs::is_regular_file(from, failed)) {
        STEMMA_THROW(error(error_code::cannot_read, from.string(), "", "is not a file"));
    }
    if (fs::equivalent(from, to, failed)) {
        return;
    }
    fs::create_directories(to.parent_path(), failed);
    failed.clear();
    if (fs::is_regular_file(to) && !replace) {
        STEMMA_THROW(error(error_code::exists, to.string(), "", "exists already"));
    }
    // A replaced file may be mapped, or linked elsewhere, and copying may fail: a new file takes
    // the name when it is complete.
    const auto made = fs::path(to.string() + ".stemma-new");
    fs::remove(made, failed);
    failed.clear();
    placement == data_placement::link ? fs::create_hard_link(from, made, failed)
                                      : static_cast<void>(fs::copy_file(from, made, failed));
    if (!failed) {
        fs::rename(made, to, failed);
    }
    if (failed) {
        std::error_code ignored;
        fs::remove(made, ignored);
        STEMMA_THROW(error(error_code::cannot_write, to.string(), "", failed.message()));
    }
}

/// Places the model's external data files next to `output`, if that is in another folder.
///
/// An existing file is left alone if it is the same one, otherwise it is an error unless it may be
/// replaced.
/// Throws: `error`: `malformed` for a location outside the model's folder, `cannot_read` for a
/// missing file, `exists` for one that may not be replaced, `cannot_write`; as `refuse_own_data`.
/// Complexity: O(fields of the model + bytes of the files).
inline void place_external_data(const wire_model& model, const std::string& output,
                                data_placement placement, bool replace = false) {
    refuse_own_data(model, output);
    if (placement == data_placement::keep) {
        return;
    }
    for (const auto& location : external_files(model)) {
        place_data_file(model, location, output, placement, replace);
    }
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_EXTERNAL_DATA_HPP
