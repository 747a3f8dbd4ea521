// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_LINK_TARGET_HPP
#define STEMMA_IO_DETAIL_LINK_TARGET_HPP

#include <stemma/config.hpp>

#include <filesystem>
#include <string>
#include <system_error>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the path of the file that writing to a path creates: the path itself, unless it is a
/// symbolic link to a file that does not exist; after 40 links, the next one.
/// Complexity: O(links).
[[nodiscard]] inline std::string link_target(const std::string& path) {
    namespace fs = std::filesystem;
    fs::path at(path);
    std::error_code failed;
    for (unsigned followed = 0; followed < 40; ++followed) {
        const auto next = fs::read_symlink(at, failed);
        if (failed) {
            break;
        }
        at = at.parent_path() / next;
    }
    return at.string();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_LINK_TARGET_HPP
