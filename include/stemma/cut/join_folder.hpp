// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_JOIN_FOLDER_HPP
#define STEMMA_CUT_JOIN_FOLDER_HPP

#include <stemma/config.hpp>
#include <stemma/cut/detail/edited_join.hpp>
#include <stemma/cut/detail/part_files.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/cut/detail/write_joined.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/external_data.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
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

/// Throws: `error` of `refused` if `output` is a file of the folder.
inline void refuse_own_file(const split_folder& folder, const std::string& output) {
    std::error_code ignored;
    const auto check = [&](const std::string& name) {
        const auto path = std::filesystem::path(folder.path()) / name;
        if (std::filesystem::equivalent(path, output, ignored)) {
            STEMMA_THROW(
                error(error_code::refused, output, "", "is a file of the split model itself"));
        }
    };
    check(std::string(split_manifest_name));
    check(folder.manifest().skeleton.file);
    check(folder.manifest().weights.file);
    for (const auto& part : folder.manifest().parts) {
        check(part.at.file);
    }
}

} // namespace detail

/// Joins the parts of a split model; unchanged parts restore it byte for byte. `sync`: wait until
/// the bytes are on the medium.
///
/// Throws: `error` of `cannot_read`, `cannot_write` or `too_large`; of `malformed` for an
/// inconsistent manifest; of `refused` if changed parts no longer fit together, and if `output` is
/// one of the joined files; of `contradiction` if unchanged ones do not restore the model.
/// Complexity: O(bytes).
inline joined_model join_folder(const std::string& folder, const std::string& output,
                                bool sync = true) {
    const detail::split_folder parts(folder);
    detail::refuse_own_file(parts, output);
    joined_model joined{parts.manifest().source.file, detail::list_edited(parts), {}};
    const auto rope =
        parts.is_edited() ? detail::edited_join(parts).build() : detail::follow_recipe(parts);
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
    for (auto& name : external_files(*parts.skeleton().model)) {
        if (!std::filesystem::exists(detail::folder_of(output) / name)) {
            joined.missing.push_back(std::move(name));
        }
    }
    return joined;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_JOIN_FOLDER_HPP
