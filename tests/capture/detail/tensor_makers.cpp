// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/detail/tensor_makers.hpp>

#include "../../catch.hpp"

#include <stemma/align/captured_operations.hpp>
#include <stemma/core/id.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test::capture_detail_tensor_makers {

using stemma::id;
using stemma::no_id;
using texts = std::vector<std::string>;
using shapes = std::vector<std::vector<std::int64_t>>;

namespace {

/// Records an operation and its results, and returns whether it repeats one.
bool run(stemma::detail::tensor_makers& makers, id operation, const std::string& name,
         const texts& inputs, const texts& results, const shapes& sizes = {{2}}) {
    const auto repeated = makers.is_repeated(operation, name, inputs, results, sizes);
    makers.note(results, operation);
    return repeated;
}

} // namespace

TEST_CASE("tensor_makers: a tensor belongs to its last writer, a parameter to none") {
    stemma::detail::tensor_makers makers;
    makers.note(texts{"t0", "p:w"}, 0);
    makers.note(texts{"t0"}, 1);
    CHECK(makers.maker("t0") == 1);
    CHECK(makers.maker("p:w") == no_id);
    CHECK(makers.maker("t1") == no_id);
}

TEST_CASE("tensor_makers: a repeated chain is recognized link by link") {
    stemma::detail::tensor_makers makers;
    CHECK_FALSE(run(makers, 0, "pow", {"i0"}, {"t0"}));
    CHECK_FALSE(run(makers, 1, "mean", {"t0"}, {"t1"}));
    CHECK(run(makers, 2, "pow", {"i0"}, {"t2"}));
    CHECK(run(makers, 3, "mean", {"t2"}, {"t3"}));
    stemma::captured_operations operations;
    for (const char* name : {"pow", "mean", "pow", "mean", "add"}) {
        operations.add({}, name);
    }
    CHECK(makers.add_source(operations, "t1"));
    CHECK(makers.add_source(operations, "t3"));
    CHECK_FALSE(makers.add_source(operations, "i0"));
    const auto sources = operations.sources_of(4);
    CHECK(std::vector<id>(sources.begin(), sources.end()) == std::vector<id>{1, 3, 1});
}

TEST_CASE("tensor_makers: another operand, shape, name or content is another operation") {
    stemma::detail::tensor_makers makers;
    CHECK_FALSE(run(makers, 0, "mul", {"i0", "p:w"}, {"t0"}));
    CHECK_FALSE(run(makers, 1, "mul", {"i0", "p:v"}, {"t1"}));
    CHECK_FALSE(run(makers, 2, "mul", {"i0", "p:w"}, {"t2"}, {{3}}));
    CHECK_FALSE(run(makers, 3, "add", {"i0", "p:w"}, {"t3"}));
    CHECK_FALSE(run(makers, 4, "relu_", {"t3"}, {"t3"}));
    CHECK_FALSE(run(makers, 5, "relu_", {"t3"}, {"t3"}));
}

TEST_CASE("tensor_makers: operations without tensors repeat nothing") {
    stemma::detail::tensor_makers makers;
    for (id i = 0; i < 4; i += 2) {
        CHECK_FALSE(run(makers, i, "rand", {}, {"t" + std::to_string(i)}));
        CHECK_FALSE(run(makers, i + 1, "size", {"i0"}, {}));
    }
}

} // namespace test::capture_detail_tensor_makers
