// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/stacked_results.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/detail/wired_operators.hpp>

#include <utility>
#include <vector>

namespace test::evidence_detail_stacked_results {

namespace {

using pairs = std::vector<std::pair<stemma::id, stemma::id>>;

pairs stacked_results(const test::operator_scene& ops) {
    pairs result;
    stemma::detail::for_each_stacked_result(
        stemma::detail::wired_operators(ops),
        [&](stemma::id part, stemma::id whole) { result.emplace_back(part, whole); });
    return result;
}

} // namespace

TEST_CASE("for_each_stacked_result: each Unsqueeze before a Concat of nothing else") {
    test::operator_scene ops;
    const auto x = ops.add({}, "", "Relu");
    const auto a = ops.add({x}, "", "Unsqueeze");
    const auto b = ops.add({x}, "", "Unsqueeze");
    const auto whole = ops.add({a, b}, "", "Concat");
    CHECK(stacked_results(ops) == pairs{{a, whole}, {b, whole}});

    SECTION("not if another operator reads one, too") {
        ops.add({b}, "", "Relu");
        CHECK(stacked_results(ops).empty());
    }
    SECTION("not if anything else is joined") {
        ops.read(whole, x);
        CHECK(stacked_results(ops).empty());
    }
}

TEST_CASE("for_each_stacked_result: a single Unsqueeze is not a stack") {
    test::operator_scene ops;
    const auto a = ops.add({}, "", "Unsqueeze");
    ops.add({a}, "", "Concat");
    CHECK(stacked_results(ops).empty());
}

} // namespace test::evidence_detail_stacked_results
