// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_MODEL_FILES_HPP
#define STEMMA_TESTS_MODEL_FILES_HPP

#include <stemma/capture/detail/capture_reader.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/module_tree.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace test {

/// Files of one kind below the fixtures, sorted by path.
inline std::vector<std::string> files_called(const std::string& name, const std::string& ending) {
    std::vector<std::string> paths;
    const auto root = std::filesystem::path(STEMMA_TEST_DATA) / "fixtures";
    for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
        const auto& path = file.path();
        if (file.is_regular_file() && path.extension() == ending &&
            (name.empty() || path.filename() == name)) {
            paths.push_back(path.string());
        }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// All exported models.
inline std::vector<std::string> model_files() {
    return files_called("", ".onnx");
}

/// The module trees captured with them.
inline std::vector<std::string> capture_files() {
    return files_called("modules.json", ".json");
}

inline std::string fixture(const std::string& path) {
    return (std::filesystem::path(STEMMA_TEST_DATA) / "fixtures" / path).string();
}

inline std::string read_bytes(const std::string& path) {
    return std::string(stemma::mapped_file(path).bytes());
}

inline stemma::module_tree read_capture(const std::string& path) {
    const stemma::mapped_file file(path);
    stemma::detail::capture_reader reader;
    reader.read(file.bytes(), path);
    return reader.tree();
}

/// Returns: the module tree captured with a model, if any.
inline std::optional<stemma::module_tree> capture_beside(const std::string& model) {
    const auto path = std::filesystem::path(model).parent_path() / "modules.json";
    return std::filesystem::exists(path) ? std::optional(read_capture(path.string()))
                                         : std::nullopt;
}

} // namespace test

#endif // STEMMA_TESTS_MODEL_FILES_HPP
