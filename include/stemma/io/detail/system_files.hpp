// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_SYSTEM_FILES_HPP
#define STEMMA_IO_DETAIL_SYSTEM_FILES_HPP

// Non-portable code is confined to this header and those that include it, and STEMMA_IO of
// <stemma/config.hpp> selects it. Without POSIX, files are read whole and written through a
// temporary file next to the target.

#include <stemma/config.hpp>
#include <stemma/error.hpp>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#if STEMMA_IO >= 1
#    include <fcntl.h>
#    include <sys/mman.h>
#    include <sys/stat.h>
#    include <unistd.h>
// A macro of <sys/mman.h> that clashes with a name in a header of the ONNX library.
#    undef MAP_TYPE
#endif

namespace stemma::inline STEMMA_ABI::detail {

[[noreturn]] inline void fail_to_read(std::string_view path, std::string_view reason) {
    STEMMA_THROW(error(error_code::cannot_read, path.empty() ? "''" : path, "", reason));
}

[[noreturn]] inline void fail_to_write(std::string_view path, std::string_view reason) {
    STEMMA_THROW(error(error_code::cannot_write, path, "", reason));
}

[[nodiscard]] inline std::string reason_of(int number) {
    return std::generic_category().message(number);
}

inline constexpr std::string_view too_large = "is larger than this program can address";

/// Returns: why the last call failed, if the library sets errno, which not all do.
[[nodiscard]] inline std::string last_reason(std::string_view otherwise) {
    return errno != 0 ? reason_of(errno) : std::string(otherwise);
}

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

#endif // STEMMA_IO_DETAIL_SYSTEM_FILES_HPP
