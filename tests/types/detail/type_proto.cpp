// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/type_proto.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::types_detail_type_proto {

namespace {

using stemma::detail::read_type;
using kind = stemma::detail::type_proto::kind;
using test::message;

message tensor(std::uint64_t data_type, const message& shape, unsigned field = 1) {
    return message().inner(field, message().number(1, data_type).inner(2, shape));
}

std::vector<std::pair<std::int64_t, std::string>> extents_of(const std::string& type) {
    std::vector<std::pair<std::int64_t, std::string>> extents;
    const auto read = read_type(type);
    REQUIRE(read.shape);
    stemma::detail::for_each_extent(*read.shape, [&](std::int64_t extent, std::string_view name) {
        extents.emplace_back(extent, name);
    });
    return extents;
}

} // namespace

TEST_CASE("read_type: tensors, dense and sparse") {
    for (const auto& [field, what] : {std::pair(1U, kind::tensor), std::pair(8U, kind::sparse)}) {
        const auto bytes = tensor(7, message(), field).bytes();
        const auto type = read_type(bytes);
        CHECK(type.what == what);
        CHECK(type.data_type == 7);
        CHECK(type.shape);
        CHECK(type.is_complete());
    }
    const auto unranked = message().inner(1, message().number(1, 7)).bytes();
    CHECK_FALSE(read_type(unranked).shape);
    CHECK_FALSE(read_type(unranked).is_complete());
    const auto untyped = message().inner(1, message().inner(2, message())).bytes();
    CHECK_FALSE(read_type(untyped).is_complete());
}

TEST_CASE("read_type: types that contain other types") {
    const auto element = tensor(1, message());
    const auto sequence = message().inner(4, message().inner(1, element)).bytes();
    CHECK(read_type(sequence).what == kind::sequence);
    REQUIRE(read_type(sequence).inner);
    CHECK(read_type(*read_type(sequence).inner).data_type == 1);
    const auto map = message().inner(5, message().number(1, 8).inner(2, element)).bytes();
    CHECK(read_type(map).what == kind::map);
    CHECK(read_type(map).data_type == 8);
    CHECK(read_type(*read_type(map).inner).what == kind::tensor);
    const auto empty = message().inner(9, message()).bytes();
    CHECK(read_type(empty).what == kind::optional);
    CHECK(read_type(empty).is_complete());
    CHECK_FALSE(read_type(empty).inner);
}

TEST_CASE("read_type: an empty type is unknown, and the last one counts") {
    CHECK(read_type("").what == kind::none);
    CHECK_FALSE(read_type("").is_complete());
    const auto twice =
        tensor(1, message()).inner(4, message().inner(1, tensor(7, message()))).bytes();
    CHECK(read_type(twice).what == kind::sequence);
    CHECK(read_type(twice).data_type == 0);
    CHECK_THROWS_AS(read_type("\x0a\x7f"), stemma::error);
}

TEST_CASE("for_each_extent: numbers, names, and neither") {
    const auto shape = message()
                           .inner(1, message().number(1, 3))
                           .inner(1, message().text(2, "batch"))
                           .inner(1, message())
                           .inner(1, message().number(1, ~std::uint64_t{0}))
                           .inner(1, message().number(1, 5).text(2, ""));
    using extent = std::pair<std::int64_t, std::string>;
    CHECK(extents_of(tensor(1, shape).bytes()) ==
          std::vector<extent>{{3, ""}, {-1, "batch"}, {-1, ""}, {-1, ""}, {5, ""}});
}

TEST_CASE("write_tensor_type: writes the bytes that protobuf does") {
    const auto written = stemma::detail::write_tensor_type(
        7, std::array<std::int64_t, 3>{3, -2, -1}, [](std::int64_t extent) {
            return extent == -2 ? std::string_view("batch") : std::string_view();
        });
    const auto shape = message()
                           .inner(1, message().number(1, 3))
                           .inner(1, message().text(2, "batch"))
                           .inner(1, message());
    CHECK(written == tensor(7, shape).bytes());
}

} // namespace test::types_detail_type_proto
