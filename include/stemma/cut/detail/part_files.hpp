// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_PART_FILES_HPP
#define STEMMA_CUT_DETAIL_PART_FILES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the absolute folder of a path.
[[nodiscard]] inline std::filesystem::path folder_of(const std::filesystem::path& path) {
    return std::filesystem::absolute(path).parent_path().lexically_normal();
}

/// Creates a folder if necessary. Throws: `error` of `cannot_write`.
inline void make_folder(const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (!std::filesystem::is_directory(folder)) {
        STEMMA_THROW(error(error_code::cannot_write, folder, "",
                           failed ? failed.message() : "is not a folder"));
    }
}

/// Throws: `error` of `exists` if the file exists and may not be replaced.
inline void check_replaceable(const std::string& path, bool force) {
    if (!force && std::filesystem::exists(path)) {
        STEMMA_THROW(error(error_code::exists, path, "", "exists already"));
    }
}

/// Returns: a file name for a tag or path: letters, digits, `.`, `-` and `_`, at most 180 bytes.
/// Complexity: O(length).
[[nodiscard]] inline std::string as_file_name(std::string_view text) {
    constexpr std::size_t longest = 180;
    constexpr std::string_view hex = "0123456789abcdef";
    std::string name;
    for (char c : text) {
        const bool plain = is_alphanumeric(c) || c == '.' || c == '-' || c == '_';
        if (plain) {
            name.push_back(c);
        } else if (c == '/') {
            if (!name.empty()) {
                name.push_back('-');
            }
        } else {
            const auto byte = static_cast<unsigned char>(c);
            name.append("%").append(1, hex[byte >> 4U]).append(1, hex[byte & 15U]);
        }
    }
    if (name.size() > longest) {
        const auto hash = hash_bytes(name);
        name.resize(longest - 17);
        name.push_back('~');
        for (unsigned shift = 0; shift < 64; shift += 4) {
            name.push_back(hex[hash >> shift & 15U]);
        }
    }
    if (name.empty() || name.front() == '.') {
        name.insert(name.begin(), '_');
    }
    return name;
}

/// Names files after modules, distinct even case-insensitively.
class file_namer {
public:
    /// Requires: both outlive it.
    file_namer(const module_tree& modules, const tag_table& tags)
        : modules_(&modules), tags_(&tags) {}

    /// Returns: a new name for part `part` of `parts`. Complexity: O(length), plus a lookup per
    /// collision.
    [[nodiscard]] std::string name(id module, std::size_t part, std::size_t parts) {
        auto text = tags_->text(module);
        if (!tags_->is_selected(module)) {
            text.append(".").append(modules_->path(module));
        }
        auto base = as_file_name(text);
        if (parts > 1) {
            base.append(".").append(std::to_string(part));
        }
        auto candidate = base;
        for (std::size_t i = 2; !used_.insert(folded(candidate)).second; ++i) {
            candidate = base;
            candidate.append("~").append(std::to_string(i));
        }
        return candidate.append(".onnx");
    }

private:
    [[nodiscard]] static std::string folded(std::string text) {
        std::transform(text.begin(), text.end(), text.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        return text;
    }

    const module_tree* modules_;
    const tag_table* tags_;
    std::set<std::string> used_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_PART_FILES_HPP
