// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/parameter_blocks.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>

#include <utility>
#include <vector>

namespace test::evidence_detail_parameter_blocks {

using stemma::id;
using stemma::no_id;

namespace {

/// The completed owners, if no operator is steady and these lost a weight's name.
std::vector<id> complete(const test::operator_scene& ops, std::vector<id> owner,
                         std::vector<id> lost = {}) {
    const test::region_scene<> scene{ops, {}, std::move(lost), {}, {}};
    test::region_knowledge known(scene);
    known.facts.owner = std::move(owner);
    stemma::detail::parameter_blocks(known.facts).complete();
    return known.facts.owner;
}

} // namespace

TEST_CASE("parameter_blocks: a product with a lost weight goes with the bias after it") {
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "Relu");
    const auto product = ops.add({x}, "product", "MatMul");
    ops.add({product}, "bias", "Add");
    CHECK(complete(ops, {no_id, no_id, 3}, {product}) == std::vector<id>{no_id, 3, 3});
    CHECK(complete(ops, {no_id, no_id, 3}) == std::vector<id>{no_id, no_id, 3});
}

TEST_CASE(
    "parameter_blocks: a product with a lost weight is no part of the normalization after it") {
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "Relu");
    const auto product = ops.add({x}, "product", "MatMul");
    ops.add({product}, "norm", "LayerNormalization");
    CHECK(complete(ops, {no_id, no_id, 3}, {product}) == std::vector<id>{no_id, no_id, 3});
}

TEST_CASE("parameter_blocks: a sum with a lost matrix is not a product") {
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "Relu");
    const auto sum = ops.add({x}, "sum", "Add");
    ops.add({sum}, "norm", "LayerNormalization");
    CHECK(complete(ops, {no_id, no_id, 3}, {sum}) == std::vector<id>{no_id, no_id, 3});
}

TEST_CASE(
    "parameter_blocks: a normalization is everything that depends on one value before its scale") {
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "Relu");
    const auto mean = ops.add({x}, "mean", "ReduceMean");
    const auto centred = ops.add({x, mean}, "centred", "Sub");
    ops.add({centred}, "scale", "Mul");
    CHECK(complete(ops, {no_id, no_id, no_id, 5}) == std::vector<id>{no_id, 5, 5, 5});
}

TEST_CASE("parameter_blocks: a normalization centred by a mean begins before the mean") {
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "Relu");
    const auto mean = ops.add({x}, "mean", "ReduceMean");
    const auto centred = ops.add({x, mean}, "centred", "Sub");
    const auto variance = ops.add({centred}, "variance", "ReduceMean");
    const auto whitened = ops.add({centred, variance}, "whitened", "Div");
    ops.add({whitened}, "scale", "Mul");
    CHECK(complete(ops, {no_id, no_id, no_id, no_id, no_id, 5}) ==
          std::vector<id>{no_id, 5, 5, 5, 5, 5});
}

TEST_CASE("parameter_blocks: what forks before a normalization does not belong to it") {
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "Pad");
    const auto even = ops.add({x}, "even", "Slice");
    const auto odd = ops.add({x}, "odd", "Slice");
    const auto merged = ops.add({even, odd}, "merged", "Concat");
    const auto mean = ops.add({merged}, "mean", "ReduceMean");
    const auto centred = ops.add({merged, mean}, "centred", "Sub");
    ops.add({centred}, "scale", "Mul");
    CHECK(complete(ops, {no_id, no_id, no_id, no_id, no_id, no_id, 5}) ==
          std::vector<id>{no_id, no_id, no_id, no_id, 5, 5, 5});
}

TEST_CASE("parameter_blocks: a product is not part of a normalization") {
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "Relu");
    const auto whitened = ops.add({x}, "whitened", "InstanceNormalization");
    const auto next = ops.add({whitened}, "next", "Conv");
    ops.add({next}, "scale", "Mul");
    CHECK(complete(ops, {no_id, no_id, no_id, 5}) == std::vector<id>{no_id, no_id, no_id, 5});
}

TEST_CASE("parameter_blocks: a product with a lost weight does not go with a scale after it") {
    test::operator_scene ops;
    const auto product = ops.add({}, "product", "Conv");
    ops.add({product}, "scale", "Mul");
    CHECK(complete(ops, {no_id, 5}, {product}) == std::vector<id>{no_id, 5});
}

TEST_CASE("parameter_blocks: flattening for a Gemm and undoing it belongs to the Gemm's module") {
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "Relu");
    const auto flat = ops.add({x}, "flat", "Reshape");
    const auto product = ops.add({flat}, "product", "Gemm");
    const auto full = ops.add({product}, "full", "Reshape");
    ops.add({full}, "next", "Relu");
    CHECK(complete(ops, {no_id, no_id, 2, no_id, no_id}) == std::vector<id>{no_id, 2, 2, 2, no_id});
}

TEST_CASE("parameter_blocks: a Reshape with other readers does not belong to the Gemm") {
    test::operator_scene ops;
    const auto flat = ops.add({}, "flat", "Reshape");
    const auto product = ops.add({flat}, "product", "Gemm");
    const auto full = ops.add({product}, "full", "Reshape");
    ops.add({flat, full}, "both", "Add");
    CHECK(complete(ops, {no_id, 2, no_id, no_id}) == std::vector<id>{no_id, 2, no_id, no_id});
}

} // namespace test::evidence_detail_parameter_blocks
