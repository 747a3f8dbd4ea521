// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_JOIN_FOLDER_HPP
#define STEMMA_CUT_JOIN_FOLDER_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/cut/detail/edited_join.hpp>
#include <stemma/cut/detail/part_files.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/cut/detail/write_joined.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/for_each_tensor.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/tensor_header.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The result of joining.
struct joined_model {
    std::string source;               ///< file name of the split model
    std::vector<std::string> edited;  ///< files changed since; if empty, the bytes are identical
    std::vector<std::string> missing; ///< weight files that are not beside the output
};

namespace detail {

/// Returns: the files changed since `split_to_folder` wrote them. Complexity: O(parts).
[[nodiscard]] inline std::vector<std::string> list_edited(const split_folder& folder) {
    std::vector<std::string> edited;
    for (std::size_t p = 0; p < folder.parts().size(); ++p) {
        if (folder.parts()[p].edited) {
            edited.push_back(folder.manifest().parts[p].at.file);
        }
    }
    if (folder.skeleton().edited) {
        edited.push_back(folder.manifest().skeleton.file);
    }
    if (folder.weights_edited()) {
        edited.push_back(folder.manifest().weights.file);
    }
    return edited;
}

/// Returns: the external data files of a joined model; none of a device. Complexity: O(fields).
[[nodiscard]] inline std::vector<std::string> list_data(const std::string& joined) {
    std::vector<std::string> files;
    if (std::filesystem::is_regular_file(joined)) {
        const mapped_file file(joined);
        const auto bytes = file.bytes();
        list_external_files(
            wire_reader(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), file.path()),
            tensors_in::model, files);
    }
    return range::each_once(std::move(files));
}

/// Whether external data of the source was edited in the folder's file of weights.
[[nodiscard]] inline bool has_edited_data(const split_folder& folder) {
    const auto& source = *folder.skeleton().model;
    return folder.weights_edited() && range::any_of(source.tensors(), [&](const auto& tensor) {
               return tensor.graph == 0 && is_external(source.reader(tensor.message));
           });
}

/// Throws: `error` of `refused` if `output` is a file of the folder, or has data of the parts or of
/// the joined model.
inline void refuse_own_file(const split_folder& folder, const std::string& output) {
    const auto check = [&](const std::filesystem::path& file, std::string_view reason) {
        std::error_code ignored;
        if (std::filesystem::equivalent(file, output, ignored)) {
            STEMMA_THROW(error(error_code::refused, output, "", reason));
        }
    };
    const auto check_own = [&](std::string_view name) {
        check(std::filesystem::path(folder.path()) / name, "is a file of the split model itself");
    };
    check_own(split_manifest_name);
    check_own(folder.manifest().skeleton.file);
    check_own(folder.manifest().weights.file);
    for (const auto& part : folder.manifest().parts) {
        check_own(part.at.file);
    }
    std::error_code unknown;
    if (!std::filesystem::exists(output, unknown)) {
        return;
    }
    auto files = external_files(*folder.skeleton().model);
    for (const auto& part : folder.parts()) {
        refuse_own_data(*part.model, output);
        const auto more = nested_external_files(*part.model);
        files.insert(files.end(), more.begin(), more.end());
    }
    for (const auto& location : files) {
        check(folder_of(output) / location, "has weights of the joined model, which would be lost");
    }
}

} // namespace detail

/// Joins the parts of a split model; unchanged parts restore it byte for byte. `sync`: wait until
/// the bytes are on the medium.
///
/// Throws: `error` of `cannot_read`, `cannot_write` or `too_large`; of `malformed` for an
/// inconsistent manifest; of `refused` if changed parts no longer fit together, and if `output` is
/// one of the joined files or has data of the model; of `contradiction` if unchanged ones do not
/// restore the model. Complexity: O(bytes).
inline joined_model join_folder(const std::string& folder, const std::string& output,
                                bool sync = true) {
    const detail::split_folder parts(folder);
    detail::refuse_own_file(parts, output);
    joined_model joined{parts.manifest().source.file, detail::list_edited(parts), {}};
    const auto rope = parts.is_edited() || detail::has_edited_data(parts)
                          ? detail::edited_join(parts).build()
                          : detail::follow_recipe(parts);
    if (rope.size() >= std::uint64_t{1} << 32U) {
        STEMMA_THROW(
            error(error_code::too_large, output, "", "the model would have 4 GiB or more"));
    }
    if (joined.edited.empty() &&
        detail::to_hex(detail::hash_joined(rope, parts)) != parts.manifest().source.hash) {
        STEMMA_THROW(error(error_code::contradiction, folder, "",
                           "the parts are unchanged, but do not restore the source"));
    }
    output_file written(output);
    detail::write_joined(rope, parts, written);
    written.commit(sync);
    for (auto& name : detail::list_data(output)) {
        if (!std::filesystem::exists(detail::folder_of(output) / name)) {
            joined.missing.push_back(std::move(name));
        }
    }
    return joined;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_JOIN_FOLDER_HPP
