// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/value_readers.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::onnx_detail_value_readers {

TEST_CASE("value_readers: nodes by value, one for each read") {
    const test::built_model model(
        {test::node("Mul", {"x", "x"}, {"a"}), test::node("Clip", {"a", "", "x"}, {"y"})}, {"x"},
        {"y"});
    const auto readers = stemma::detail::value_readers(model);
    const auto of = [&](const char* name) {
        const auto nodes = readers[test::value_called(model, name)];
        return std::vector<stemma::id>(nodes.begin(), nodes.end());
    };
    CHECK(of("x") == std::vector<stemma::id>{0, 0, 1});
    CHECK(of("a") == std::vector<stemma::id>{1});
    CHECK(of("y").empty());
}

TEST_CASE("value_readers: lists each reader as often as it reads") {
    for (const auto* name : {"control_flow/model.onnx", "shared_twice/model.functions.onnx"}) {
        const auto bytes = test::read_bytes(test::fixture(name));
        const stemma::wire_model model(bytes);
        const auto readers = stemma::detail::value_readers(model);
        for (stemma::id value = 0; value < model.value_count(); ++value) {
            std::vector<stemma::id> expected;
            for (stemma::id n = 0; n < model.node_count(); ++n) {
                for (auto input : model.inputs(n)) {
                    if (input == value) {
                        expected.push_back(n);
                    }
                }
            }
            const auto nodes = readers[value];
            CHECK(std::vector<stemma::id>(nodes.begin(), nodes.end()) == expected);
        }
    }
}

} // namespace test::onnx_detail_value_readers
