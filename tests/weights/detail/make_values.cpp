// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/make_values.hpp>

#include "../../catch.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace test::weights_detail_make_values {

using namespace stemma::detail;
using stemma::parameter_origin;

namespace {

using shape = std::vector<std::int64_t>;

/// Entries of float32 by name.
struct entries {
    std::map<std::string, entry_values> all{};

    entries& add(const std::string& name, const shape& extents, const std::vector<float>& numbers) {
        all[name] = {float32, extents, {}, bytes_of(numbers)};
        return *this;
    }

    std::optional<std::vector<float>> make(const parameter_origin& origin, const shape& dims,
                                           std::string* problem = nullptr) const {
        stemma::tensor_header header;
        header.dims = dims;
        header.data_type = float32;
        value_maker maker([this](const std::string& name) {
            const auto entry = all.find(name);
            return entry == all.end() ? std::nullopt : std::optional(entry->second);
        });
        const auto values = maker.make(origin, header);
        if (problem != nullptr) {
            *problem = maker.problem();
        }
        return values ? std::optional(floats_of(*values)) : std::nullopt;
    }
};

parameter_origin origin_of(parameter_origin::transform_kind transform,
                           std::vector<std::string> names) {
    parameter_origin origin;
    origin.transform = transform;
    origin.entries = std::move(names);
    return origin;
}

} // namespace

TEST_CASE("make_values: entries are moved as the transform says") {
    entries source;
    source.add("a", {2, 3}, {1, 2, 3, 4, 5, 6}).add("b", {1, 3}, {7, 8, 9});
    CHECK(source.make(origin_of(parameter_origin::transform_kind::as_is, {"a"}), {2, 3}) ==
          std::vector<float>{1, 2, 3, 4, 5, 6});
    auto turned = origin_of(parameter_origin::transform_kind::transposed, {"a"});
    turned.axes = {1, 0};
    CHECK(source.make(turned, {3, 2}) == std::vector<float>{1, 4, 2, 5, 3, 6});
    CHECK(source.make(origin_of(parameter_origin::transform_kind::reshaped, {"a"}), {6, 1}) ==
          std::vector<float>{1, 2, 3, 4, 5, 6});
    auto joined = origin_of(parameter_origin::transform_kind::concatenated, {"a", "b"});
    CHECK(source.make(joined, {3, 3}) == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9});
    joined.axes = {1, 0};
    joined.axis = 1;
    CHECK(source.make(joined, {3, 3}) == std::vector<float>{1, 4, 7, 2, 5, 8, 3, 6, 9});
    auto part = origin_of(parameter_origin::transform_kind::sliced, {"a"});
    part.axis = 1;
    part.first = 1;
    CHECK(source.make(part, {2, 2}) == std::vector<float>{2, 3, 5, 6});
    part.first = 2;
    CHECK_FALSE(source.make(part, {2, 2}));
}

TEST_CASE("make_values: gates stand in ONNX's order, biases side by side") {
    entries source;
    source.add("ih", {4, 1}, {1, 2, 3, 4})
        .add("b1", {4}, {1, 2, 3, 4})
        .add("b2", {4}, {5, 6, 7, 8});
    auto origin = origin_of(parameter_origin::transform_kind::gates, {"ih"});
    origin.gates = 4;
    CHECK(source.make(origin, {1, 4, 1}) == std::vector<float>{1, 4, 2, 3});
    origin.entries = {"b1", "b2"};
    origin.bias = true;
    CHECK(source.make(origin, {1, 8}) == std::vector<float>{1, 4, 2, 3, 5, 8, 6, 7});
    source.add("gru", {3, 1}, {1, 2, 3});
    auto gru = origin_of(parameter_origin::transform_kind::gates, {"gru"});
    gru.gates = 3;
    CHECK(source.make(gru, {1, 3, 1}) == std::vector<float>{2, 1, 3});
    CHECK_FALSE(source.make(gru, {2, 3, 1}));
}

TEST_CASE("make_values: a batch norm multiplies the weight and moves the bias") {
    entries source;
    source.add("w", {2, 1, 1}, {2, 4}).add("g", {2}, {3, 5}).add("v", {2}, {3.75F, 0});
    source.add("m", {2}, {1, 2}).add("s", {2}, {10, 20}).add("b", {2}, {7, 9});
    auto weight = origin_of(parameter_origin::transform_kind::folded, {"w", "g", "v"});
    weight.epsilon = 0x1p-2F;
    CHECK(source.make(weight, {2, 1, 1}) == std::vector<float>{3, 40});
    auto bias = origin_of(parameter_origin::transform_kind::folded, {"g", "s", "m", "v"});
    bias.bias = true;
    bias.epsilon = 0x1p-2F;
    CHECK(source.make(bias, {2}) == std::vector<float>{8.5F, 0});
    bias.entries.insert(bias.entries.begin(), "b");
    CHECK(source.make(bias, {2}) == std::vector<float>{19, 90});
}

TEST_CASE("make_values: doubles are computed as doubles") {
    const std::map<std::string, entry_values> all{
        {"w", {float64, {1, 1, 1}, {}, bytes_of(std::vector<double>{0.1})}},
        {"g", {float64, {1}, {}, bytes_of(std::vector<double>{0.3})}},
        {"v", {float64, {1}, {}, bytes_of(std::vector<double>{0.7})}},
        {"length", {float64, {1, 1, 1}, {}, bytes_of(std::vector<double>{0.3})}}};
    value_maker maker([&](const std::string& name) { return std::optional(all.at(name)); });
    stemma::tensor_header header;
    header.dims = {1, 1, 1};
    header.data_type = float64;
    auto weight = origin_of(parameter_origin::transform_kind::folded, {"w", "g", "v"});
    weight.epsilon = 1e-5F;
    CHECK(maker.make(weight, header) ==
          bytes_of(std::vector<double>{0.1 * (0.3 / std::sqrt(0.7 + 1e-5))}));
    const auto normed = origin_of(parameter_origin::transform_kind::normed, {"w", "length"});
    CHECK(maker.make(normed, header) == bytes_of(std::vector<double>{0.3}));
}

TEST_CASE("make_values: reports what does not fit") {
    entries source;
    source.add("a", {2, 3}, {1, 2, 3, 4, 5, 6});
    std::string problem;
    CHECK_FALSE(
        source.make(origin_of(parameter_origin::transform_kind::as_is, {"a"}), {3, 2}, &problem));
    CHECK(problem == "a is [2,3] where [3,2] is needed");
    CHECK_FALSE(
        source.make(origin_of(parameter_origin::transform_kind::as_is, {"c"}), {3, 2}, &problem));
    CHECK(problem == "missing c");
    auto quantized = origin_of(parameter_origin::transform_kind::as_is, {"a"});
    quantized.quantized = true;
    CHECK_FALSE(source.make(quantized, {2, 3}, &problem));
    CHECK(problem == "values are not requantized");
    CHECK_FALSE(source.make(origin_of(parameter_origin::transform_kind::none, {"a"}), {2, 3}));
    CHECK_FALSE(source.make(origin_of(parameter_origin::transform_kind::gates, {"a"}), {2, 3}));
    CHECK_FALSE(source.make(origin_of(parameter_origin::transform_kind::folded, {"a"}), {2, 3}));
    CHECK_FALSE(
        source.make(origin_of(parameter_origin::transform_kind::concatenated, {"a", "a"}), {2, 3}));
}

TEST_CASE("make_values: weight norm gives directions the lengths beside them") {
    entries source;
    source.add("v", {2, 2}, {3, 4, 0, 5}).add("g", {2, 1}, {10, 1}).add("h", {3, 1}, {1, 1, 1});
    auto normed = origin_of(parameter_origin::transform_kind::normed, {"v", "g"});
    CHECK(source.make(normed, {2, 2}) == std::vector<float>{6, 8, 0, 1});
    normed.axes = {1, 0};
    CHECK(source.make(normed, {2, 2}) == std::vector<float>{6, 0, 8, 1});
    std::string problem;
    CHECK_FALSE(source.make(normed, {2, 3}, &problem));
    CHECK(problem == "v is [2,2] where [2,3] is needed");
    normed.entries[1] = "h";
    CHECK_FALSE(source.make(normed, {2, 2}, &problem));
    CHECK(problem == "h is [3,1] where [2,2] is needed");
    normed.entries[1] = "nothing";
    CHECK_FALSE(source.make(normed, {2, 2}));
    normed.entries.pop_back();
    CHECK_FALSE(source.make(normed, {2, 2}));
}

} // namespace test::weights_detail_make_values
