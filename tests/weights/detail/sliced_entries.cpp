// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/sliced_entries.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../opened_graph.hpp"
#include "../../scratch_folder.hpp"
#include "../../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/weights/detail/make_values.hpp>
#include <stemma/weights/identify_parameters.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace test::weights_detail_sliced_entries {

namespace {

struct slice {
    std::string entry;
    std::uint64_t first;
    std::size_t axis;

    friend bool operator==(const slice&, const slice&) = default;
};

std::vector<slice> slices_of(const std::vector<stemma::parameter_origin>& origins) {
    std::vector<slice> slices;
    for (const auto& origin : origins) {
        if (origin.transform == stemma::parameter_origin::transform_kind::sliced) {
            slices.push_back({origin.entries.at(0), origin.first, origin.axis});
        }
    }
    return slices;
}

} // namespace

TEST_CASE("sliced_entries: projections of an attention's query and of its keys and values") {
    const auto data = std::string(STEMMA_TEST_DATA "/weights/attention");
    const std::vector<slice> right{{"cross.in_proj_bias", 0, 0},
                                   {"cross.in_proj_bias", 8, 0},
                                   {"cross.in_proj_weight", 0, 1},
                                   {"cross.in_proj_weight", 8, 1}};
    const auto in_order = [](std::vector<slice> slices) {
        std::sort(slices.begin(), slices.end(), [](const slice& a, const slice& b) {
            return std::tie(a.entry, a.first) < std::tie(b.entry, b.first);
        });
        return slices;
    };
    const stemma::attributed_model alone(data + ".onnx", {});
    CHECK(in_order(slices_of(stemma::identify_parameters(alone))) == right);
    stemma::attribution_options declared;
    declared.set(stemma::captures({data + ".modules.json"}));
    const stemma::attributed_model captured(data + ".onnx", declared);
    CHECK(in_order(slices_of(stemma::identify_parameters(captured))) == right);
    const auto checkpoint = stemma::read_checkpoint(data + ".pt");
    CHECK(in_order(slices_of(stemma::identify_parameters(alone, {.known = &checkpoint}))) == right);
}

namespace {

/// A model whose module `a` multiplies by three slices of a matrix; nodes are in another order than
/// the numbers of slices.
std::string three_products() {
    const auto slice = [](const std::string& name, float from) {
        return test::tensor(
            name, {2, 2},
            stemma::detail::bytes_of(std::vector{from, from + 1, from + 2, from + 3}));
    };
    return test::model(
               test::graph({test::node("MatMul", {"x", "onnx::MatMul_9"}, {"v"}, "/a/MatMul_2"),
                            test::node("MatMul", {"x", "onnx::MatMul_5"}, {"q"}, "/a/MatMul"),
                            test::node("MatMul", {"x", "onnx::MatMul_7"}, {"k"}, "/a/MatMul_1"),
                            test::node("Sum", {"q", "k", "v"}, {"s"}, "/a/Sum"),
                            test::node("Add", {"s", "a.bias"}, {"y"}, "/a/Add")},
                           {"x"}, {"y"})
                   .inner(5, slice("onnx::MatMul_9", 1))
                   .inner(5, slice("onnx::MatMul_5", 10))
                   .inner(5, slice("onnx::MatMul_7", 20))
                   .inner(5, test::tensor("a.bias", {2}, "12345678")))
        .bytes();
}

} // namespace

TEST_CASE("sliced_entries: PyTorch's numbers tell the order, and only its attention is known to "
          "slice in order") {
    const test::scratch_folder folder;
    const stemma::attributed_model opened(folder.make("model.onnx", three_products()), {});
    for (const auto* entry : {"a.in_proj_weight", "a.all"}) {
        const auto saved =
            test::saved({{entry, {6, 2}, std::vector<float>(12, 1)}, {"a.bias", {2}, {1, 2}}});
        const auto origins =
            stemma::identify_parameters(opened, {.known = &saved, .contents = false});
        CHECK(slices_of(origins) ==
              std::vector<slice>{{entry, 4, 1}, {entry, 0, 1}, {entry, 2, 1}});
        CHECK((origins[0].confidence < stemma::detail::confidence::entry_below) ==
              (std::string_view(entry) == "a.all"));
    }
}

} // namespace test::weights_detail_sliced_entries
