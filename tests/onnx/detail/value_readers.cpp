// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/value_readers.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
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

} // namespace test::onnx_detail_value_readers
