// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_SCRATCH_FOLDER_HPP
#define STEMMA_TESTS_SCRATCH_FOLDER_HPP

#include <stemma/io/output_file.hpp>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace test {

/// A test's own folder, below the working folder; removed at the end.
class scratch_folder {
public:
    scratch_folder() {
        for (std::size_t i = 0;; ++i) {
            path_ = std::filesystem::current_path() / ("scratch-" + std::to_string(i));
            if (std::filesystem::create_directory(path_)) {
                return;
            }
        }
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] std::string path() const { return path_.string(); }
    [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

    /// Makes a file with this content.
    [[nodiscard]] std::string make(std::string_view name, std::string_view content) const {
        stemma::output_file out(file(name));
        out.write(content);
        out.commit(false);
        return file(name);
    }

    [[nodiscard]] std::size_t file_count() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                                      std::filesystem::directory_iterator()));
    }

private:
    std::filesystem::path path_;
};

} // namespace test

#endif // STEMMA_TESTS_SCRATCH_FOLDER_HPP
