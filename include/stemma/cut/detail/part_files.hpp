// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_PART_FILES_HPP
#define STEMMA_CUT_DETAIL_PART_FILES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/on_failure.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/external_data.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace stemma::inline STEMMA_ABI::detail {

/// Creates a folder if necessary. Returns: what removes a new one if an exception leaves the scope,
/// unless it has files by then. Throws: `error` of `cannot_write`.
[[nodiscard]] inline auto make_folder(const std::string& folder) {
    std::error_code failed;
    const bool created = std::filesystem::create_directories(folder, failed);
    if (!std::filesystem::is_directory(folder)) {
        STEMMA_THROW(error(error_code::cannot_write, folder, "",
                           failed ? failed.message() : "is not a folder"));
    }
    return on_failure([folder, created] {
        if (created) {
            std::filesystem::remove(folder);
        }
    });
}

/// Returns: whether the path leads to one of these files. Complexity: O(files).
[[nodiscard]] inline bool is_one_of(const std::filesystem::path& path,
                                    std::span<const std::string> files) {
    std::error_code missing;
    return std::any_of(files.begin(), files.end(), [&](const auto& file) {
        return std::filesystem::equivalent(path, file, missing);
    });
}

/// Throws: `error` of `refused` if the file is one of `spared`, which parts never replace; of
/// `exists` if it exists and may not be replaced; of `cannot_write` if it is a folder.
/// Complexity: O(spared).
inline void check_replaceable(const std::string& path, bool force,
                              std::span<const std::string> spared = {}) {
    if (is_one_of(path, spared)) {
        STEMMA_THROW(error(error_code::refused, path, "",
                           "is an input that would be overwritten; use another folder or name"));
    }
    if (!force && std::filesystem::exists(path)) {
        STEMMA_THROW(error(error_code::exists, path, "", "already exists"));
    }
    if (std::filesystem::is_directory(path)) {
        STEMMA_THROW(error(error_code::cannot_write, path, "", "is a folder"));
    }
}

/// Checks the files beside `store`; the model's own one may be there.
/// Throws: as `check_replaceable`.
inline void check_whole_files(const wire_model& model, std::span<const std::string> files,
                              const std::string& store, bool force,
                              std::span<const std::string> spared) {
    for (const auto& location : files) {
        const auto to = folder_of(store) / location;
        std::error_code unknown;
        if (!std::filesystem::equivalent(folder_of(model.file()) / location, to, unknown)) {
            check_replaceable(to.string(), force, spared);
        }
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
        auto first = base(module);
        if (parts > 1) {
            first.append(".").append(std::to_string(part));
        }
        auto candidate = first;
        for (std::size_t i = 2; !used_.insert(to_lower(candidate)).second; ++i) {
            candidate = first;
            candidate.append("~").append(std::to_string(i));
        }
        return candidate.append(".onnx");
    }

    /// Checks the files in a folder that have a name which parts of these modules may get. Throws:
    /// as `check_replaceable`. Complexity: O(n log n) in modules and files.
    void check(std::span<const id> modules, const std::string& folder, bool force,
               std::span<const std::string> spared) const {
        std::set<std::string> bases;
        for (auto module : modules) {
            bases.insert(base(module));
        }
        const auto strip = [](std::string_view name, char mark) {
            const auto end = name.find_last_not_of("0123456789");
            return end != name.npos && end + 1 < name.size() && name[end] == mark
                       ? name.substr(0, end)
                       : name;
        };
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            const auto stem = entry.path().stem().string();
            const auto one = std::string(strip(stem, '~'));
            if (entry.path().extension() == ".onnx" &&
                (bases.count(one) > 0 || bases.count(std::string(strip(one, '.'))) > 0)) {
                check_replaceable(entry.path().string(), force, spared);
            }
        }
    }

private:
    [[nodiscard]] std::string base(id module) const {
        auto text = tags_->text(module);
        if (!tags_->is_selected(module)) {
            text.append(".").append(modules_->path(module));
        }
        return as_file_name(text);
    }

    const module_tree* modules_;
    const tag_table* tags_;
    std::set<std::string> used_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_PART_FILES_HPP
