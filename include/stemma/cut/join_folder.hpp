// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_JOIN_FOLDER_HPP
#define STEMMA_CUT_JOIN_FOLDER_HPP

#include <stemma/config.hpp>
#include <stemma/cut/detail/join_edited.hpp>
#include <stemma/cut/detail/join_model.hpp>
#include <stemma/cut/detail/part_files.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/external_data.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// What came of joining.
struct joined_model {
    std::string source;               ///< file name of the model that was split
    std::vector<std::string> edited;  ///< files that were changed since; empty: the same bytes
    std::vector<std::string> missing; ///< files of weights that are not beside the output
};

namespace detail {

/// Returns: the files that are no longer as `split_to_folder` wrote them. Complexity: O(parts).
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

} // namespace detail

/// Puts the parts of a split model together again. Parts that nobody changed give the model back
/// byte for byte. `sync` waits until the bytes are on the medium.
///
/// Throws: `error` of `cannot_read`; of `malformed` for a manifest that does not fit; of `refused`
/// where changed parts no longer fit together; of `contradiction` where unchanged ones do not make
/// the model; of `cannot_write`, of `too_large`. Complexity: O(bytes).
inline joined_model join_folder(const std::string& folder, const std::string& output,
                                bool sync = true) {
    const detail::split_folder parts(folder);
    joined_model made{parts.manifest().source.file, detail::list_edited(parts), {}};
    const auto rope =
        parts.is_edited() ? detail::edited_join(parts).build() : detail::follow_recipe(parts);
    if (rope.size() >= std::uint64_t{1} << 32U) {
        STEMMA_THROW(
            error(error_code::too_large, output, "", "the model would have 4 GiB or more"));
    }
    if (made.edited.empty() &&
        detail::to_hex(detail::hash_joined(rope, parts)) != parts.manifest().source.hash) {
        STEMMA_THROW(error(error_code::contradiction, folder, "",
                           "the parts are unchanged, but do not restore the source"));
    }
    output_file written(output);
    detail::write_joined(rope, parts, written);
    written.commit(sync);
    for (auto& name : external_files(*parts.skeleton().model)) {
        if (!std::filesystem::exists(detail::folder_of(output) / name)) {
            made.missing.push_back(std::move(name));
        }
    }
    return made;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_JOIN_FOLDER_HPP
