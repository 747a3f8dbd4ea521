// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/tensor_types.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>

#include <cstdint>

namespace test::types_detail_tensor_types {

namespace {

test::message tensor_of(const test::message& shape) {
    return test::message().inner(1, test::message().number(1, 7).inner(2, shape));
}

} // namespace

TEST_CASE("tensor_types: round-trips, names included but those of computed extents",
          "[detail][tensor_types]") {
    auto shape = test::message();
    shape.inner(1, test::message().number(1, 3));
    shape.inner(1, test::message().text(2, "batch"));
    shape.inner(1, test::message());
    shape.inner(1, test::message().text(2, "batch"));
    const auto bytes = tensor_of(shape).bytes();
    stemma::detail::tensor_types types;
    const auto facts = types.read(bytes);
    REQUIRE(facts.ranked());
    CHECK(facts.data_type == 7);
    CHECK((*facts.dims)[0] == 3);
    CHECK((*facts.dims)[1] == (*facts.dims)[3]);
    CHECK((*facts.dims)[1] < stemma::detail::any_extent);
    CHECK((*facts.dims)[2] == stemma::detail::any_extent);
    CHECK(types.write(facts) == bytes);
    const auto computed = -2 - static_cast<std::int64_t>(types.names().intern("floor(batch/2)"));
    CHECK(types.write({7, stemma::detail::extents{computed}, {}}) ==
          tensor_of(test::message().inner(1, test::message())).bytes());
}

TEST_CASE("tensor_types: a negative extent is unknown, and without a shape there is no rank",
          "[detail][tensor_types]") {
    stemma::detail::tensor_types types;
    const auto negative =
        tensor_of(test::message().inner(1, test::message().number(1, ~std::uint64_t{0}))).bytes();
    CHECK((*types.read(negative).dims)[0] == stemma::detail::any_extent);
    CHECK_FALSE(
        types.read(test::message().inner(1, test::message().number(1, 1)).bytes()).ranked());
    CHECK_FALSE(types.read("").ranked());
    CHECK_THROWS_AS(types.read("\x0a\x7f"), stemma::error);
}

} // namespace test::types_detail_tensor_types
