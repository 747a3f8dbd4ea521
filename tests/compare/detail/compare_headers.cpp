// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/compare_headers.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>

namespace test::compare_detail_compare_headers {

namespace {

std::string bytes_of(const test::names& inputs, std::uint64_t opset) {
    return test::model(test::graph({test::node("Relu", {inputs.front()}, {"y"})}, inputs, {"y"}), 8,
                       opset)
        .bytes();
}

} // namespace

TEST_CASE("compare_headers: operator sets, inputs and outputs") {
    const auto first = bytes_of({"x"}, 17);
    const auto second = bytes_of({"z", "more"}, 18);
    const stemma::wire_model a(first, "a");
    const stemma::wire_model b(second, "b");
    CHECK(stemma::detail::compare_headers(a, a).empty());
    const auto differences = stemma::detail::compare_headers(a, b);
    REQUIRE(differences.size() == 3);
    CHECK(differences[0].what == "opset ai.onnx");
    CHECK(differences[0].second == "18");
    CHECK(differences[1].what == "input 0");
    CHECK(differences[1].first == "x");
    CHECK(differences[2].first.empty());
    CHECK(differences[2].second == "more");
}

TEST_CASE("compare_headers: types and shapes of inputs and outputs") {
    using test::message;
    // A tensor of an element type, with extents or their names.
    const auto info = [](const char* name, unsigned type, const test::names& shape) {
        message dims;
        for (const auto& extent : shape) {
            const bool is_number = extent.front() >= '0' && extent.front() <= '9';
            dims.inner(1, is_number       ? message().number(1, std::stoul(extent))
                          : extent == "?" ? message()
                                          : message().text(2, extent));
        }
        return message().text(1, name).inner(
            2, message().inner(1, message().number(1, type).inner(2, dims)));
    };
    const auto changes = [&](unsigned type_in, const test::names& in, unsigned type_out,
                             const test::names& out) {
        const auto with = [&](unsigned x_type, const test::names& x_shape, unsigned y_type,
                              const test::names& y_shape) {
            return test::model(test::graph({test::node("Relu", {"x"}, {"y"})})
                                   .inner(11, info("x", x_type, x_shape))
                                   .inner(12, info("y", y_type, y_shape)))
                .bytes();
        };
        const auto first = with(1, {"batch", "8"}, 1, {"batch", "8"});
        const auto second = with(type_in, in, type_out, out);
        const stemma::wire_model a(first, "a");
        const stemma::wire_model b(second, "b");
        std::string text;
        for (const auto& one : stemma::detail::compare_headers(a, b)) {
            text.append(one.what + ": " + one.first + " -> " + one.second + "\n");
        }
        return text;
    };
    CHECK(changes(1, {"batch", "8"}, 1, {"batch", "8"}).empty());
    CHECK(changes(10, {"batch", "8"}, 1, {"batch", "8"}) ==
          "input x: float32[batch,8] -> float16[batch,8]\n");
    CHECK(changes(1, {"1", "8"}, 1, {"batch", "8"}) ==
          "input x: float32[batch,8] -> float32[1,8]\n");
    CHECK(changes(1, {"batch", "8"}, 10, {"batch", "8"}) ==
          "output y: float32[batch,8] -> float16[batch,8]\n");
    CHECK(changes(1, {"batch", "8"}, 1, {"batch", "9"}) ==
          "output y: float32[batch,8] -> float32[batch,9]\n");
    CHECK(changes(1, {"batch", "8"}, 1, {"8"}) == "output y: float32[batch,8] -> float32[8]\n");
    // Shape inference may know more.
    CHECK(changes(1, {"batch", "8"}, 1, {"1", "8"}).empty());
    CHECK(changes(1, {"batch", "8"}, 1, {"batch", "?"}).empty());
    CHECK(changes(1, {"batch", "8"}, 0, {"batch", "?"}).empty());
}

} // namespace test::compare_detail_compare_headers
