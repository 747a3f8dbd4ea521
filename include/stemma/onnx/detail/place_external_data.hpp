// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_PLACE_EXTERNAL_DATA_HPP
#define STEMMA_ONNX_DETAIL_PLACE_EXTERNAL_DATA_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/on_failure.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/data_placement.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

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
/// Complexity: as `external_files`, if there is such a file.
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

/// A file that is to be placed.
struct data_move {
    std::filesystem::path from;
    std::filesystem::path to;
};

/// Returns: where a model's external data file goes next to `output`; nothing if it is there.
/// Throws: `error` of `malformed` for a location outside the model's folder, of `cannot_read`,
/// `cannot_write`, of `exists` for another file unless it may be replaced, of `refused` if the
/// model would take its place. Complexity: that of `check_location`.
[[nodiscard]] inline std::optional<data_move> move_of_data(const wire_model& model,
                                                           const std::string& location,
                                                           const std::string& output,
                                                           bool replace) {
    namespace fs = std::filesystem;
    check_location(model, location);
    const auto from = folder_of(model.file()) / location;
    const auto to = (folder_of(output) / location).lexically_normal();
    std::error_code failed;
    if (!fs::is_regular_file(from, failed)) {
        STEMMA_THROW(error(error_code::cannot_read, from.string(), "", "is not a file"));
    }
    if (fs::equivalent(from, to, failed)) {
        return std::nullopt;
    }
    if (to == fs::absolute(output).lexically_normal() || fs::equivalent(to, output, failed)) {
        STEMMA_THROW(error(error_code::refused, output, "",
                           "has the name of weights that would be put beside it"));
    }
    const auto status = fs::status(to, failed);
    if (status.type() == fs::file_type::none) {
        STEMMA_THROW(error(error_code::cannot_write, to.string(), "", failed.message()));
    }
    if (fs::is_regular_file(status) && !replace) {
        STEMMA_THROW(error(error_code::exists, to.string(), "", "already exists"));
    }
    return data_move{from, to};
}

/// Puts a copy of a file, or a link to it, in place of what is there, which keeps its contents if
/// it has other names or is mapped; `sync` waits until a copy is on the medium. Throws: `error` of
/// `cannot_read` or `cannot_write`. Complexity: O(bytes) if copied.
inline void place_file(const std::filesystem::path& from, const std::filesystem::path& to,
                       data_placement placement, bool sync) {
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::create_directories(to.parent_path(), failed);
    if (placement == data_placement::copy) {
        const mapped_file source(from.string());
        output_file copied(to.string(), output_file::target_state::absent);
        copied.copy(source, 0, source.bytes().size());
        copied.commit(sync);
        return;
    }
    failed.clear();
    const auto file = fs::canonical(from, failed); // a link to a link would lead elsewhere
    auto link = to;
    while (!failed && fs::exists(fs::symlink_status(link, failed))) {
        link += "~";
    }
    failed.clear();
    fs::create_hard_link(file, link, failed);
    if (!failed && link != to) {
        fs::rename(link, to, failed);
        std::error_code ignored;
        fs::remove(link, ignored);
    }
    if (failed) {
        STEMMA_THROW(error(error_code::cannot_write, to.string(), "", failed.message()));
    }
}

/// Places one of the model's external data files next to `output`, unless it is there. Throws:
/// `error`, as `move_of_data` and `place_file`. Complexity: O(bytes).
inline void place_data_file(const wire_model& model, const std::string& location,
                            const std::string& output, data_placement placement, bool replace,
                            bool sync) {
    if (const auto move = move_of_data(model, location, output, replace)) {
        place_file(move->from, move->to, placement, sync);
    }
}

/// Places the model's external data files next to `output`, if that is in another folder: all or,
/// if that fails, none that was not there.
///
/// An existing file is left alone if it is the same one, otherwise it is an error unless it may be
/// replaced. Copies are synced like the output that refers to them, as `sync` says.
/// Throws: `error`: `malformed` for a location outside the model's folder, `cannot_read` for a
/// missing file, `exists` for one that may not be replaced, `cannot_write`; `refused` if `output`
/// has the name of one; as `refuse_own_data`.
/// Complexity: O(fields of the model + bytes of the files).
inline void place_external_data(const wire_model& model, const std::string& output,
                                data_placement placement, bool replace, bool sync) {
    namespace fs = std::filesystem;
    refuse_own_data(model, output);
    if (placement == data_placement::keep) {
        return;
    }
    std::map<fs::path, fs::path> files; // by target: each once, however it is spelled
    for (const auto& location : external_files(model)) {
        if (const auto move = move_of_data(model, location, output, replace)) {
            files.emplace(move->to, move->from);
        }
    }
    std::vector<fs::path> placed;
    const on_failure undo([&] {
        for (const auto& file : placed) {
            fs::remove(file);
        }
    });
    for (const auto& [to, from] : files) {
        std::error_code failed;
        const bool is_new = !fs::exists(fs::symlink_status(to, failed));
        place_file(from, to, placement, sync);
        if (is_new) {
            placed.push_back(to);
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_PLACE_EXTERNAL_DATA_HPP
