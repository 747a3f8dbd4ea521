// SPDX-License-Identifier: Apache-2.0
// Writes a model of any size like a real export: generate_model NODES OUT.onnx [options]
#include "generate_model.hpp"

#include <array>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

namespace {

constexpr std::string_view usage =
    "usage: generate_model NODES OUT.onnx [--weights BYTES] [--dynamo] [--capture OUT.json]\n"
    "       [--shape blocks|fan_out|chain|fan_in|distinct_sets|long_names|deep]\n";

constexpr std::array<std::pair<std::string_view, stemma_bench::model_shape>, 7> shapes{{
    {"blocks", stemma_bench::model_shape::blocks},
    {"fan_out", stemma_bench::model_shape::fan_out},
    {"chain", stemma_bench::model_shape::chain},
    {"fan_in", stemma_bench::model_shape::fan_in},
    {"distinct_sets", stemma_bench::model_shape::distinct_sets},
    {"long_names", stemma_bench::model_shape::long_names},
    {"deep", stemma_bench::model_shape::deep},
}};

bool save(const std::string& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return static_cast<bool>(file.flush());
}

int run(int count, char** words) {
    if (count < 3) {
        std::cerr << usage;
        return 2;
    }
    stemma_bench::model_options options;
    options.nodes = std::stoull(words[1]);
    std::string capture;
    for (int i = 3; i < count; ++i) {
        const std::string_view word = words[i];
        const bool more = i + 1 < count;
        bool valid = true;
        if (word == "--dynamo") {
            options.dynamo = true;
        } else if (word == "--weights" && more) {
            options.weights = std::stoull(words[++i]);
        } else if (word == "--capture" && more) {
            capture = words[++i];
        } else if (word == "--shape" && more) {
            valid = false;
            ++i;
            for (const auto& [name, shape] : shapes) {
                if (name == words[i]) {
                    options.shape = shape;
                    valid = true;
                }
            }
        } else {
            valid = false;
        }
        if (!valid) {
            std::cerr << usage;
            return 2;
        }
    }
    const auto generated = stemma_bench::generate_model(options);
    if (!save(words[2], generated.model) ||
        (!capture.empty() && !save(capture, generated.capture))) {
        std::cerr << words[2] << ": cannot write\n";
        return 4;
    }
    std::cout << generated.nodes << " nodes, " << generated.model.size() << " bytes\n";
    return 0;
}

} // namespace

int main(int count, char** words) {
    try {
        return run(count, words);
    } catch (const std::exception& problem) {
        std::cerr << problem.what() << '\n' << usage;
        return 2;
    }
}
