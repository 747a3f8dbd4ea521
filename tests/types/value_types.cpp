// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/value_types.hpp>

#include "../catch.hpp"
#include "../find_in_model.hpp"
#include "../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <string>

namespace test::types_value_types {

using stemma::value_types;

namespace {

test::message tensor_type_of(std::uint64_t elements, bool ranked) {
    auto tensor = test::message().number(1, elements);
    if (ranked) {
        tensor.inner(2, test::message());
    }
    return test::message().inner(1, tensor);
}

/// A model with the values x (complete), y (without rank), z (nothing said).
struct scene {
    std::string bytes = bytes_of();
    stemma::wire_model model{bytes};
    value_types types{model};

    static std::string bytes_of() {
        const auto info = [](const char* name, const test::message& type) {
            return test::message().text(1, name).inner(2, type);
        };
        auto graph =
            test::graph({test::node("Relu", {"x"}, {"y"}), test::node("Relu", {"y"}, {"z"}),
                         test::node("Relu", {"z"}, {"w"})});
        graph.inner(11, info("x", tensor_type_of(1, true)))
            .inner(13, info("y", tensor_type_of(1, false)))
            .inner(12, info("w", tensor_type_of(7, true)));
        return test::model(graph).bytes();
    }

    [[nodiscard]] stemma::id value(const char* name) const {
        return test::value_called(model, name);
    }
};

} // namespace

TEST_CASE("value_types: declared types are known when they are complete") {
    scene s;
    CHECK(s.types.type_of(s.value("x")) == tensor_type_of(1, true).bytes());
    CHECK(s.types.type_of(s.value("w")) == tensor_type_of(7, true).bytes());
    CHECK_FALSE(s.types.type_of(s.value("y")));
    CHECK_FALSE(s.types.type_of(s.value("z")));
    REQUIRE(s.types.declaration(s.value("x")));
    CHECK(s.model.value_name(s.value("x")) == "x");
    CHECK_FALSE(s.types.declaration(s.value("y")));
}

TEST_CASE("value_types: a damaged extent is reported with the file and the position") {
    const auto shape = test::message().text(1, "\x08\x80"); // a dim_value that does not end
    const auto tensor = test::message().number(1, 1).inner(2, shape);
    const auto info = test::message().text(1, "x").inner(2, test::message().inner(1, tensor));
    const auto graph = test::graph({test::node("Relu", {"x"}, {"y"})}).inner(13, info);
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes, "net.onnx");
    CHECK_THROWS_WITH(value_types(model), Catch::StartsWith("net.onnx: byte "));
}

TEST_CASE("value_types: what others know is added, and does not overrule the file") {
    scene s;
    const auto floats = tensor_type_of(1, true).bytes();
    const auto halves = tensor_type_of(10, true).bytes();
    s.types.add(s.value("z"), halves);
    s.types.add(s.value("z"), floats);
    s.types.add(s.value("x"), halves);
    s.types.add(s.value("y"), tensor_type_of(1, false).bytes());
    CHECK(s.types.type_of(s.value("z")) == halves); // who comes first
    CHECK(s.types.type_of(s.value("x")) == floats);
    CHECK_FALSE(s.types.type_of(s.value("y")));
    s.types.add(s.value("y"), floats); // after questions were asked
    CHECK(s.types.type_of(s.value("y")) == floats);
}

TEST_CASE("value_types: a type is complete with element type and rank") {
    CHECK(value_types::is_complete(tensor_type_of(1, true).bytes()));
    CHECK_FALSE(value_types::is_complete(tensor_type_of(0, true).bytes()));
    CHECK_FALSE(value_types::is_complete(tensor_type_of(1, false).bytes()));
    CHECK_FALSE(value_types::is_complete(""));
    for (unsigned field : {4U, 5U, 9U}) { // sequence, map, optional
        CHECK(value_types::is_complete(test::message().inner(field, test::message()).bytes()));
    }
}

TEST_CASE("tensor_type: what it writes is complete and says element type and extents") {
    stemma::tensor_header header;
    header.data_type = 7;
    header.dims = {2, 300};
    const auto extent = [](std::uint64_t n) { return test::message().number(1, n); };
    const auto shape = test::message().inner(1, extent(2)).inner(1, extent(300));
    const auto expected = test::message().inner(1, test::message().number(1, 7).inner(2, shape));
    CHECK(stemma::detail::tensor_type(header) == expected.bytes());
    CHECK(value_types::is_complete(stemma::detail::tensor_type(header)));
    header.dims.clear();
    CHECK(value_types::is_complete(stemma::detail::tensor_type(header)));
}

} // namespace test::types_value_types
