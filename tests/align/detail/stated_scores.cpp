// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/stated_scores.hpp>

#include "../../catch.hpp"

#include <stemma/align/alignment.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/detail/stated_module.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace test::align_detail_stated_scores {

using stemma::id;
using stemma::no_id;
using stemma::detail::stated_module;
using stemma::detail::stated_scores;

namespace {

/// Operators at vertices 0, 1, ...; the second computes shapes, the third constants.
stemma::detail::aligned_nodes three_operators(std::string_view type = "Relu") {
    stemma::detail::aligned_nodes nodes;
    nodes.vertex = {0, 1, 2};
    nodes.type.assign(3, nodes.types.intern(type));
    nodes.of_shapes = {false, true, false};
    nodes.fixed = {false, false, true};
    return nodes;
}

const stemma::tree_index tree(std::vector<id>{no_id, 0, 1, 0}); // 0 calls 1 and 3, 1 calls 2

} // namespace

TEST_CASE("stated_scores: modules neither stated nor below lose, by its confidence") {
    const auto against = [](float confidence, id module, bool fused = false) {
        const std::vector<stated_module> stated{{1, confidence, true}, {}, {}};
        return stated_scores(tree, stated, three_operators()).against(0, module, fused);
    };
    CHECK(against(0.95F, 1) == 0);
    CHECK(against(0.95F, 2) == 0);
    CHECK(against(0.95F, 0) > 2);
    CHECK(against(0.95F, 0, true) == 0); // made from others, too
    CHECK(against(0.95F, 3, true) > 2);
    CHECK(against(0.95F, 3) > against(0.9F, 3));
    CHECK(against(0.9F, 3) > 2);
    CHECK(against(1, 3) > 5);
    CHECK(against(0.6F, 3) == 0); // too doubtful
}

TEST_CASE(
    "stated_scores: shapes and constants may be anywhere, as may what nothing is said about") {
    const std::vector<stated_module> stated{{}, {1, 0.95F, true}, {1, 0.95F, true}};
    const stated_scores scores(tree, stated, three_operators());
    for (id n = 0; n < 3; ++n) {
        CHECK(scores.against(n, 3, false) == 0);
    }
    CHECK(stated_scores(tree, {}, three_operators()).against(0, 3, false) == 0);
}

TEST_CASE("stated_scores: only the stated module itself is confirmed") {
    const std::vector<stated_module> stated{{1, 0.9F, true}, {1, 0.9F, true}, {}};
    const stated_scores scores(tree, stated, three_operators());
    CHECK(scores.confirms(0, 1));
    CHECK_FALSE(scores.confirms(0, 0));
    CHECK_FALSE(scores.confirms(0, 2));
    CHECK_FALSE(scores.confirms(1, 1)); // a shape
    CHECK_FALSE(stated_scores(tree, {}, three_operators()).confirms(0, 1));
}

TEST_CASE("stated_scores: any other module is denied, and excluded if that is settled") {
    const std::vector<stated_module> stated{{1, 0.9F, false}, {1, 0.9F, true}, {}};
    const stated_scores scores(tree, stated, three_operators());
    CHECK(scores.denies(0, 2));
    CHECK(scores.denies(0, 0));
    CHECK_FALSE(scores.denies(0, 1));
    CHECK_FALSE(scores.denies(1, 2)); // a shape
    CHECK_FALSE(scores.excludes(0, 2));
    CHECK(scores.excludes(1, 2));
    CHECK_FALSE(scores.excludes(1, 1));
    CHECK_FALSE(scores.excludes(2, 1));
    const stated_scores silent(tree, {}, three_operators());
    CHECK_FALSE(silent.denies(0, 2));
    CHECK_FALSE(silent.excludes(1, 2));
}

TEST_CASE("stated_scores: conversions of layouts are inserted for what their names state") {
    const std::vector<stated_module> stated{{1, 0.9F, true}, {1, 0.9F, true}, {}};
    const auto inserted = [&](std::string_view type, id n) {
        return stated_scores(tree, stated, three_operators(type)).is_inserted(n);
    };
    CHECK(inserted("com.microsoft.nchwc::ReorderOutput", 0));
    CHECK(inserted("ReorderInput", 0));
    CHECK_FALSE(inserted("ReorderInput", 2)); // nothing is stated
    CHECK_FALSE(inserted("com.microsoft.nchwc::Conv", 0));
    CHECK_FALSE(stated_scores(tree, {}, three_operators("ReorderInput")).is_inserted(0));
}

TEST_CASE(
    "stated_scores: a claim for another module than the stated one is doubtful or withdrawn") {
    const std::vector<stated_module> stated{{1, 0.88F, true}, {1, 0.88F, true}, {}};
    const auto nodes = three_operators();
    const stated_scores scores(tree, stated, nodes);
    const auto claimed = [&](id module) {
        stemma::alignment aligned;
        for (id operation = 0; operation < 3; ++operation) {
            aligned.of.push_back({module, 0, operation, 0.99F, true});
        }
        scores.overrule(nodes, aligned);
        for (id n = 1; n < 3; ++n) { // shapes and constants may be anywhere
            CHECK(aligned.of[n].module == module);
            CHECK(aligned.of[n].confidence == 0.99F);
        }
        CHECK(aligned.denied == (aligned.of[0].module == no_id ? 1U : 0U));
        return std::pair(aligned.of[0].module, aligned.of[0].confidence > 0.5F);
    };
    CHECK(claimed(0) == std::pair(id{0}, false));
    CHECK(claimed(1) == std::pair(id{1}, true));
    CHECK(claimed(2) == std::pair(id{2}, false));
    CHECK(claimed(3) == std::pair(no_id, false));
}

TEST_CASE("stated_scores: what a name refutes for one operator of an operation, it does for all") {
    const std::vector<stated_module> stated{{1, 0.88F, true}, {}, {}};
    const auto nodes = three_operators();
    stemma::alignment aligned;
    for (id operation : {0U, 0U, 1U}) {
        aligned.of.push_back({3, 0, operation, 0.99F, true});
    }
    stated_scores(tree, stated, nodes).overrule(nodes, aligned);
    CHECK(aligned.of[0].module == no_id);
    CHECK(aligned.of[1].module == no_id);
    CHECK(aligned.of[2].module == 3);
}

} // namespace test::align_detail_stated_scores
