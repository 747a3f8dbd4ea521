// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/map_model.hpp>

#include "../catch.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <stemma/error.hpp>

#include <cstddef>
#include <string>

namespace test::onnx_map_model {

namespace {

using stemma::detail::is_mostly_data;

/// Returns: a model with that many bytes of nodes, followed by initializers of some size.
std::string model_of(std::size_t nodes, std::size_t initializers, std::size_t size) {
    test::message graph;
    const std::string node(200, '\0');
    for (std::size_t i = 0; i < nodes; i += node.size()) {
        graph.text(1, node);
    }
    const std::string tensor(size, '\0');
    for (std::size_t i = 0; i < initializers; i += size) {
        graph.text(5, tensor);
    }
    return test::message().number(1, 8).inner(7, graph).bytes();
}

constexpr std::size_t mib = std::size_t{1} << 20U;

} // namespace

TEST_CASE("is_mostly_data: detects large tensors near the front of a large file") {
    CHECK(is_mostly_data(model_of(mib, 70 * mib, mib), "m"));
    CHECK(is_mostly_data(model_of(mib, 70 * mib, mib / 4), "m"));
    CHECK_FALSE(is_mostly_data(model_of(mib, 70 * mib, mib / 8), "m"));
    CHECK_FALSE(is_mostly_data(model_of(mib, 60 * mib, mib), "m"));
    CHECK_FALSE(is_mostly_data(model_of(70 * mib, 5 * mib, mib), "m"));
    CHECK_FALSE(is_mostly_data(model_of(0, 0, 1), "m"));
}

TEST_CASE("map_model: returns the bytes of a file, whatever they are") {
    const test::scratch_folder folder;
    for (const auto& bytes :
         {std::string(), std::string("\x01\x02 no model"), model_of(mib, 70 * mib, mib)}) {
        const auto file = stemma::map_model(folder.make("in.onnx", bytes));
        const bool same = file.bytes() == bytes;
        CHECK(same);
    }
}

TEST_CASE("map_model: rejects a large file that is not a model, by name") {
    const test::scratch_folder folder;
    const auto path = folder.make("in.onnx", std::string(70 * mib, '\xff'));
    const auto refusal = test::refusal([&] { return stemma::map_model(path); });
    CHECK(refusal.code() == stemma::error_code::malformed);
    CHECK(std::string(refusal.what()).starts_with(path));
}

} // namespace test::onnx_map_model
