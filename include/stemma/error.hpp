// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ERROR_HPP
#define STEMMA_ERROR_HPP

#include <stemma/config.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// Why an operation failed. The numbers are stable.
enum class error_code {
    cannot_read = 1,   ///< the file is missing, a folder, or not readable
    malformed = 2,     ///< the bytes are not what the format says
    contradiction = 3, ///< the input disagrees with itself
    unsupported = 4,   ///< well-formed, but beyond a stated limit
    cannot_write = 5,  ///< the output could not be written
    too_large = 6,     ///< the output would reach protobuf's limit of 2 GiB
    not_found = 7,     ///< the requested item is not in the model
    refused = 8,       ///< the request is valid but was declined for a reason
    exists = 9,        ///< the file exists and must not be replaced
};

/// Base of everything the library throws: `file: place: reason`, lower case, no trailing period.
class error : public std::runtime_error {
public:
    /// `file` and `place` may be empty and are then left out.
    error(error_code code, std::string_view file, std::string_view place, std::string_view reason)
        : std::runtime_error(join(file, place, reason)), code_(code) {}

    /// For programs: the code is stable, the wording of `what()` is not.
    [[nodiscard]] error_code code() const noexcept { return code_; }

private:
    static std::string join(std::string_view file, std::string_view place,
                            std::string_view reason) {
        std::string text;
        for (auto part : {file, place}) {
            if (!part.empty()) {
                text.append(part).append(": ");
            }
        }
        return text.append(reason);
    }

    error_code code_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ERROR_HPP
