// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_SYSTEM_FILES_HPP
#define STEMMA_IO_DETAIL_SYSTEM_FILES_HPP

// What is not portable C++ stands in this header and in those that include it; STEMMA_IO of
// <stemma/config.hpp> says what of it is used. Without POSIX, files are read whole and written
// through a temporary file beside the target.

#include <stemma/config.hpp>
#include <stemma/error.hpp>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#if STEMMA_IO >= 1
#    include <fcntl.h>
#    include <sys/mman.h>
#    include <sys/stat.h>
#    include <unistd.h>
// A macro of <sys/mman.h> that a header of the ONNX library uses as a name.
#    undef MAP_TYPE
#endif

namespace stemma::inline STEMMA_ABI::detail {

[[noreturn]] inline void fail_to_read(std::string_view path, std::string_view reason) {
    STEMMA_THROW(error(error_code::cannot_read, path, "", reason));
}

[[noreturn]] inline void fail_to_write(std::string_view path, std::string_view reason) {
    STEMMA_THROW(error(error_code::cannot_write, path, "", reason));
}

[[nodiscard]] inline std::string reason_of(int number) {
    return std::generic_category().message(number);
}

inline constexpr std::string_view too_large = "is larger than this program can address";

/// Returns: why the last call failed that may have said so, which not every library does.
[[nodiscard]] inline std::string last_reason(std::string_view otherwise) {
    return errno != 0 ? reason_of(errno) : std::string(otherwise);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_SYSTEM_FILES_HPP
