// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_READ_CHECKPOINT_HPP
#define STEMMA_CHECKPOINT_READ_CHECKPOINT_HPP

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/checkpoint/detail/safetensors.hpp>
#include <stemma/checkpoint/detail/tensor_layout.hpp>
#include <stemma/checkpoint/detail/torch_archive.hpp>
#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Whether bytes begin like a pickle, as legacy checkpoints do.
[[nodiscard]] inline bool is_pickle(std::string_view bytes) noexcept {
    return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

/// Whether bytes begin like a zip archive.
[[nodiscard]] inline bool is_zip(std::string_view bytes) noexcept {
    return bytes.starts_with("PK\3\4");
}

/// Entries of one file, with its modules.
struct checkpoint_part {
    std::vector<checkpoint::entry> entries;
    std::vector<checkpoint::module> modules;
};

[[nodiscard]] inline checkpoint_part read_checkpoint_part(std::string_view bytes,
                                                          std::string_view file) {
    // A length may look like the beginning of anything.
    if (is_safetensors(bytes)) {
        return {safetensors_reader(bytes, file).read(), {}};
    }
    if (is_zip(bytes)) {
        torch_archive_reader reader(bytes, file);
        reader.read();
        return {std::move(reader.entries()), std::move(reader.modules())};
    }
    if (is_pickle(bytes)) {
        STEMMA_THROW(error(error_code::unsupported, file, "",
                           "is a pickle outside of an archive, as torch.save wrote it before 1.6: "
                           "load it and save it again with torch.save"));
    }
    STEMMA_THROW(error(error_code::malformed, file, "",
                       "is neither a safetensors file nor an archive of torch.save"));
}

[[nodiscard]] inline checkpoint read_checkpoint_index(const mapped_file& index) {
    auto [names, tensors] = checkpoint_index_reader(index.path()).read(index.bytes());
    const auto folder = std::filesystem::path(index.path()).parent_path();
    std::vector<mapped_file> files;
    std::vector<checkpoint::entry> entries;
    std::size_t count = 0;
    for (std::size_t f = 0; f < names.size(); ++f) {
        const auto path = folder / names[f];
        std::error_code failed;
        if (std::filesystem::is_other(path, failed)) { // opening a pipe would wait for its writer
            STEMMA_THROW(error(error_code::cannot_read, path.string(), "", "is not a file"));
        }
        mapped_file file(path.string());
        auto part = read_checkpoint_part(file.bytes(), file.path());
        for (auto& entry : part.entries) {
            const auto wanted = tensors.find(entry.name);
            if (wanted != tensors.end() && wanted->second == f) {
                entry.file = f;
                entries.push_back(std::move(entry));
                ++count;
            }
        }
        file.release_descriptor();
        files.push_back(std::move(file));
    }
    if (count != tensors.size()) {
        std::unordered_set<std::string_view> seen;
        for (const auto& entry : entries) {
            seen.insert(entry.name);
        }
        for (const auto& [tensor, number] : tensors) {
            if (!seen.contains(tensor)) {
                STEMMA_THROW(error(error_code::contradiction, index.path(), tensor,
                                   "is not in '" + names[number] + "'"));
            }
        }
    }
    find_aliases(entries);
    return {std::move(files), std::move(entries)};
}

/// Whether a file is a checkpoint, by its first bytes or, for an index, by name; also true for one
/// that `read_checkpoint` has to reject. Complexity: O(1).
[[nodiscard]] inline bool is_checkpoint(std::string_view bytes, std::string_view path) noexcept {
    return is_zip(bytes) || is_pickle(bytes) || is_safetensors(bytes) ||
           path.ends_with(".index.json");
}

} // namespace detail

/// Returns: the checkpoint in a mapped file: an archive by `torch.save` or `torch.jit.save`, a
/// safetensors file, or the index of several of either kind next to it. No pickle is executed, and
/// no other files are read.
/// Throws: `error` of `error_code::cannot_read`, `malformed`, `contradiction`, or `unsupported`.
/// Complexity: O(bytes of headers and pickles + n log n) for n tensors, whose data are not read.
[[nodiscard]] inline checkpoint read_checkpoint(mapped_file file) {
    if (file.path().ends_with(".index.json")) {
        return detail::read_checkpoint_index(file);
    }
    auto part = detail::read_checkpoint_part(file.bytes(), file.path());
    detail::find_aliases(part.entries);
    std::vector<mapped_file> files;
    files.push_back(std::move(file));
    return {std::move(files), std::move(part.entries), std::move(part.modules)};
}

/// As above, opening the file.
[[nodiscard]] inline checkpoint read_checkpoint(const std::string& path) {
    return read_checkpoint(mapped_file(path));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CHECKPOINT_READ_CHECKPOINT_HPP
