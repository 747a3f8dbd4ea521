// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_EXTERNAL_DATA_HPP
#define STEMMA_ONNX_EXTERNAL_DATA_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/data_placement.hpp>
#include <stemma/onnx/detail/for_each_tensor.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

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

/// Whether the data of a tensor are in another file. Complexity: O(fields).
[[nodiscard]] inline bool is_external(wire_reader tensor) {
    bool external = false;
    for (wire_field field; tensor.next(field);) {
        if (field.is(onnx_fields::tensor::data_location, wire_type::varint)) {
            external = field.value == 1;
        }
    }
    return external;
}

/// Adds the external data files of the tensors in a message. Complexity: O(fields).
inline void list_external_files(wire_reader fields, tensors_in message,
                                std::vector<std::string>& files) {
    for_each_tensor(fields, message, [&](wire_reader tensor) {
        if (is_external(tensor)) {
            files.emplace_back(read_tensor_header(tensor).location);
        }
    });
}

/// Returns: the external data files of tensors other than the initializers of the main graph: those
/// of attributes, bodies, functions and sparse tensors. Complexity: O(nodes + fields of
/// initializers, functions and nodes with tensors).
[[nodiscard]] inline std::vector<std::string> nested_external_files(const wire_model& model) {
    std::vector<std::string> files;
    for (const auto& tensor : model.tensors()) {
        if (tensor.sparse) {
            list_external_files(model.reader_of(model.containers()[tensor.message.container]),
                                tensors_in::sparse_tensor, files);
        } else if (tensor.graph != 0) {
            list_external_files(model.reader(tensor.message), tensors_in::tensor, files);
        }
    }
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.holds_tensors(node)) {
            list_external_files(model.reader(model.message(node)), tensors_in::node, files);
        }
    }
    for (const auto& container : model.containers()) {
        if (container.parent != no_id || container.owner != no_id ||
            model.graph(container.graph).kind != graph_kind::function) {
            continue;
        }
        auto fields = model.reader_of(container);
        for (wire_field field; fields.next(field);) { // defaults of attributes are in no table
            if (field.is_bytes(onnx_fields::function::attribute_proto)) {
                list_external_files(fields.inner(field), tensors_in::attribute, files);
            }
        }
    }
    return range::each_once(std::move(files));
}

/// Returns: the folder that contains a file, as an absolute path without `.` and `..`, which is the
/// same for all spellings without links.
[[nodiscard]] inline std::filesystem::path folder_of(const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal().parent_path();
}

} // namespace detail

/// Returns: the external data files of all tensors, as named in the model, sorted.
/// Complexity: O(nodes + fields of initializers, functions and nodes with tensors).
[[nodiscard]] inline std::vector<std::string> external_files(const wire_model& model) {
    auto files = detail::nested_external_files(model);
    for (const auto& tensor : model.tensors()) {
        if (tensor.graph == 0 && !tensor.sparse) {
            detail::list_external_files(model.reader(tensor.message), detail::tensors_in::tensor,
                                        files);
        }
    }
    return detail::range::each_once(std::move(files));
}

/// Returns: the external data files that would be missing next to `output`, as it is in another
/// folder and they stay with the model: none if they are placed. Complexity: as `external_files`.
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
