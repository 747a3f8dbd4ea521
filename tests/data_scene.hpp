// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_DATA_SCENE_HPP
#define STEMMA_TESTS_DATA_SCENE_HPP

#include "scratch_folder.hpp"
#include "wire_builder.hpp"

#include <stemma/io/output_file.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace test {

/// A model whose initializers store their data in these locations.
inline std::string model_at(const std::vector<std::string>& locations) {
    auto graph = test::graph();
    for (const auto& location : locations) {
        graph.inner(
            5,
            message().text(8, "w" + location).number(14, 1).inner(13, entry("location", location)));
    }
    graph.inner(5, tensor("inside", {1}, "four"));
    return model(graph).bytes();
}

/// Two folders, the first with a model in it.
struct data_scene {
    explicit data_scene(const std::vector<std::string>& locations)
        : from(folder.file("from")), to(folder.file("to")), bytes(model_at(locations)) {
        std::filesystem::create_directories(from);
        std::filesystem::create_directories(to);
    }

    void make(const std::string& path, const std::string& content) const {
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        stemma::output_file out(path);
        out.write(content);
        out.commit(false);
    }

    scratch_folder folder;
    std::string from;
    std::string to;
    std::string bytes;
};

} // namespace test

#endif // STEMMA_TESTS_DATA_SCENE_HPP
