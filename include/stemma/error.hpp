// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ERROR_HPP
#define STEMMA_ERROR_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <cstddef>
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

/// Returns: its name, `not_found`; "" for another number.
[[nodiscard]] constexpr std::string_view to_string(error_code code) noexcept {
    switch (code) {
    case error_code::cannot_read:
        return "cannot_read";
    case error_code::malformed:
        return "malformed";
    case error_code::contradiction:
        return "contradiction";
    case error_code::unsupported:
        return "unsupported";
    case error_code::cannot_write:
        return "cannot_write";
    case error_code::too_large:
        return "too_large";
    case error_code::not_found:
        return "not_found";
    case error_code::refused:
        return "refused";
    case error_code::exists:
        return "exists";
    }
    return "";
}

namespace detail {

/// Returns: the beginning of a text, cut between UTF-8 characters, with an ellipsis.
[[nodiscard]] inline std::string cut_text(std::string_view text, std::size_t most) {
    if (text.size() <= most) {
        return std::string(text);
    }
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80U) {
        --most;
    }
    return std::string(text.substr(0, most)).append("\xe2\x80\xa6");
}

/// Returns: a name from an input as messages quote it: short, and on one line.
[[nodiscard]] inline std::string quoted_name(std::string_view name, std::size_t most = 200) {
    auto text = cut_text(name, most);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
    return text;
}

} // namespace detail

/// Base of everything the library throws: `file: place: reason`, lower case, no trailing period.
/// Long parts are cut, and control characters replaced: it is one line.
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
        if (!file.empty()) {
            text.append(detail::quoted_name(file, most)).append(": ");
        }
        if (!place.empty()) {
            text.append(detail::quoted_name(place)).append(": ");
        }
        return text.append(detail::quoted_name(reason, most));
    }

    static constexpr std::size_t most = 4096; // bytes of a file or a reason

    error_code code_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ERROR_HPP
