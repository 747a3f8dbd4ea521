// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/aligned_items.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"

#include <stemma/align/captured_operations.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace test::align_detail_aligned_items {

using stemma::id;
using stemma::trail;
using stemma::detail::alignment_weights;

TEST_CASE("find_captured_conversions: what programs quantize or cast by themselves",
          "[alignment]") {
    const auto find = [](const char* name) {
        stemma::captured_operations captured;
        captured.add({}, "torch.relu");
        captured.add({}, name);
        const auto program =
            stemma::detail::find_captured_conversions(captured, stemma::torch_lexicon());
        return std::pair(program.quantizes, program.casts_inputs);
    };
    CHECK(find("torch.masked_fill") == std::pair(false, false));
    CHECK(find("torch.fake_quantize_per_tensor_affine") == std::pair(true, false));
    CHECK(find("torch.Tensor.to") == std::pair(false, true));
}

TEST_CASE("find_captured_conversions: casts inside a program are of neither inputs nor results",
          "[alignment]") {
    const auto find = [](const std::vector<const char*>& names) {
        stemma::captured_operations captured;
        for (const auto* name : names) {
            if (const auto added = captured.add({}, name); added > 0) {
                captured.add_source(added - 1);
            }
        }
        const auto program =
            stemma::detail::find_captured_conversions(captured, stemma::torch_lexicon());
        return std::pair(program.casts_inputs, program.casts_results);
    };
    CHECK(find({"torch.relu", "torch.Tensor.to", "torch.exp"}) == std::pair(false, false));
    CHECK(find({"torch.Tensor.to", "torch.exp"}) == std::pair(true, false));
    CHECK(find({"torch.relu", "torch.Tensor.to"}) == std::pair(false, true));
}

TEST_CASE("describe_items: operations that could have been folded may be missing", "[alignment]") {
    stemma::captured_operations captured;
    captured.add({}, "torch.exp"); // of a constant
    captured.add({}, "torch.exp");
    captured.add_input();
    captured.add({}, "torch.tanh"); // no counterpart in the model
    captured.add_source(1);
    captured.add({}, "torch.Tensor.contiguous");
    captured.add_source(2);
    captured.add({}, "torch.exp");
    captured.add_source(3);
    stemma::detail::string_pool types;
    types.intern("Exp");
    const alignment_weights weights;
    const auto items =
        stemma::detail::describe_items(captured, types, stemma::torch_lexicon{}, weights);
    CHECK(items.leaves ==
          std::vector{trail::maybe, trail::always, trail::maybe, trail::never, trail::always});
    // through operations that may leave nothing, data come from further back
    CHECK(ranges::equal(items.sources[4], std::vector<id>{1, 2, 3}));
    CHECK(std::is_sorted(items.skipped.begin(), items.skipped.end()));
    CHECK(items.profile[0] == items.profile[1]);
    CHECK(items.profile[0] != items.profile[2]);
}

TEST_CASE(
    "describe_items: operations that could have been fused in may be missing, leading ones may not",
    "[alignment]") {
    stemma::captured_operations captured;
    for (const char* name : {"torch.conv2d", "torch.relu"}) {
        captured.add({}, name);
        captured.add_input();
    }
    stemma::detail::string_pool types;
    types.intern("Relu");
    const auto conv = types.intern("com.microsoft::FusedConv");
    const auto items = stemma::detail::describe_items(captured, types, stemma::torch_lexicon{},
                                                      alignment_weights{});
    CHECK(items.leaves == std::vector{trail::always, trail::maybe});
    CHECK(items.is_fused[conv]);
    CHECK_FALSE(items.is_fused[types.find("Relu")]);
}

TEST_CASE("describe_items: tells operations that only rearrange from others", "[alignment]") {
    stemma::captured_operations captured;
    for (const char* name : {"torch.Tensor.transpose", "torch.tanh", "torch.sigmoid"}) {
        captured.add({}, name);
        captured.add_input();
    }
    captured.add_source(0);
    stemma::detail::string_pool types;
    for (const char* type : {"Transpose", "Tanh", "Sigmoid"}) {
        types.intern(type);
    }
    auto items = stemma::detail::describe_items(captured, types, stemma::torch_lexicon{},
                                                alignment_weights{});
    CHECK(items.moves[items.profile[0]]);
    CHECK_FALSE(items.moves[items.profile[1]]);
    CHECK(ranges::equal(items.sources[2], std::vector<id>{0}));
}

TEST_CASE("aligned_items: data flow past what is passed over", "[alignment]") {
    stemma::captured_operations captured;
    captured.add({}, "torch.tanh");
    captured.add_input();
    for (id i = 0; i < 3; ++i) {
        captured.add({}, "torch.Tensor.transpose");
        captured.add_source(i);
    }
    stemma::detail::string_pool types;
    types.intern("Tanh");
    types.intern("Transpose");
    auto items = stemma::detail::describe_items(captured, types, stemma::torch_lexicon{},
                                                alignment_weights{});
    CHECK_FALSE(items.flows(0, 2));
    items.find_sources(captured, [](id i) { return i == 1; });
    CHECK(items.flows(0, 2));
    CHECK_FALSE(items.flows(0, 3));
}

TEST_CASE("describe_items: a bias may have become part of a product", "[alignment]") {
    stemma::captured_operations captured;
    captured.add({}, "aten.mm.default");
    captured.add_input();
    captured.add({}, "aten.add.Tensor");
    captured.add_source(0);
    captured.add_parameter("bias", std::vector<std::int64_t>{8});
    captured.add({}, "aten.add.Tensor"); // of two results
    captured.add_source(0);
    captured.add_source(1);
    const auto leaves_with = [&](const char* product) {
        stemma::detail::string_pool types;
        types.intern(product);
        types.intern("Add");
        return stemma::detail::describe_items(captured, types, stemma::torch_lexicon{},
                                              alignment_weights{})
            .leaves;
    };
    CHECK(leaves_with("Gemm") == std::vector{trail::always, trail::maybe, trail::always});
    CHECK(leaves_with("MatMul") == std::vector{trail::always, trail::always, trail::always});
}

} // namespace test::align_detail_aligned_items
