// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_SOURCE_TEXT_HPP
#define STEMMA_REPORT_SOURCE_TEXT_HPP

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/detail/stack_formats.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/source_lines.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// The text of a node's source line.
struct source_text {
    std::string text;       ///< the trimmed line; "" if changed
    bool changed = false;   ///< it differs from the exported line
    bool unchecked = false; ///< the exported line was not recorded, so it may differ
};

/// Reads source lines below one folder, and nothing outside it, not even through links, and no file
/// above 16 MiB. Files stay mapped; not thread-safe.
class source_folder {
public:
    /// Throws: `error` of `error_code::cannot_read` if the folder does not exist.
    explicit source_folder(const std::string& root) {
        std::error_code failed;
        root_ = std::filesystem::canonical(root, failed);
        if (failed || !std::filesystem::is_directory(root_, failed)) {
            STEMMA_THROW(error(error_code::cannot_read, root, "", "is not a folder"));
        }
    }

    /// Returns: the line of a frame, if the file and line exist.
    /// Complexity: O(bytes of the file).
    [[nodiscard]] std::optional<source_text> line(const source_lines& lines, id frame) {
        const auto& one = lines.frames()[frame];
        auto rest = text_of(lines.file_name(one.file));
        for (std::uint32_t line = 1; line < one.line && !rest.empty(); ++line) {
            static_cast<void>(detail::take_line(rest));
        }
        if (rest.empty()) {
            return std::nullopt;
        }
        auto text = detail::take_line(rest);
        const auto first = text.find_first_not_of(" \t\f");
        text = first == text.npos ? std::string_view() : text.substr(first);
        if (one.text != 0 && source_lines::hash_text(text) != one.text) {
            return source_text{"", true, false};
        }
        text = text.substr(0, text.find_last_not_of(" \t\f") + 1);
        return detail::is_plain_name(text)
                   ? std::optional(source_text{std::string(text), false, one.text == 0})
                   : std::nullopt;
    }

private:
    static constexpr std::uintmax_t largest = std::uintmax_t{16} << 20U;

    [[nodiscard]] std::string_view text_of(std::string_view name) {
        const auto [entry, is_new] = files_.try_emplace(std::string(name));
        if (is_new) {
            std::error_code failed;
            const auto path =
                std::filesystem::canonical(root_ / std::filesystem::path(name), failed);
            const bool inside =
                !failed &&
                std::mismatch(root_.begin(), root_.end(), path.begin(), path.end()).first ==
                    root_.end();
            if (inside && std::filesystem::is_regular_file(path, failed) &&
                std::filesystem::file_size(path, failed) <= largest && !failed) {
                entry->second.emplace(path.string());
            }
        }
        return entry->second ? entry->second->bytes() : std::string_view();
    }

    std::filesystem::path root_;
    std::map<std::string, std::optional<mapped_file>, std::less<>> files_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_SOURCE_TEXT_HPP
