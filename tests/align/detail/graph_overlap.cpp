// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/graph_overlap.hpp>

#include "../../catch.hpp"
#include "../../comparable_scene.hpp"

#include <stemma/align/align_graphs.hpp>

#include <string>
#include <vector>

namespace test::align_detail_graph_overlap {

namespace {

stemma::detail::graph_overlap overlap(const comparable_scene& before,
                                      const comparable_scene& after) {
    return stemma::detail::find_overlap(before.graph, after.graph,
                                        stemma::align_graphs(before.graph, after.graph));
}

/// A chain of products and activations; names and weights begin with what is given.
comparable_scene layers(const std::string& names, const std::string& weights,
                        const std::string& activation = "Relu") {
    comparable_scene scene({names + "x"});
    auto last = names + "x";
    for (int i = 0; i < 4; ++i) {
        const auto number = std::to_string(i);
        scene.add("MatMul", {last, weights + number}, names + "a" + number);
        scene.add(activation, {names + "a" + number}, names + "b" + number);
        last = names + "b" + number;
    }
    scene.result(last);
    return scene;
}

} // namespace

TEST_CASE("graph_overlap: a graph shares everything with itself") {
    const auto same = overlap(layers("", "w"), layers("", "w"));
    CHECK(same.contents == 1);
    CHECK(same.parameters == 1);
    CHECK(same.results == 1);
    CHECK(same.structure == 1);
    CHECK(same.is_related());
}

TEST_CASE("graph_overlap: weights tell without names, and names with other weights") {
    const auto renamed = overlap(layers("p", "w"), layers("q", "w"));
    CHECK(renamed.contents == 1);
    CHECK(renamed.results == 0);
    CHECK(renamed.is_related());
    const auto trained = overlap(layers("p", "wa"), layers("p", "wb"));
    CHECK(trained.contents == 0);
    CHECK(trained.results == 1);
    CHECK(trained.is_related());
}

TEST_CASE("graph_overlap: graphs of other names, weights and operators are unrelated") {
    const auto other = overlap(layers("p", "wa"), layers("q", "wb", "Sigmoid"));
    CHECK(other.contents == 0);
    CHECK(other.parameters == 0);
    CHECK(other.results == 0);
    CHECK(other.structure < 0.6);
    CHECK_FALSE(other.is_related());
}

TEST_CASE("graph_overlap: what is part of a larger graph shares all of itself") {
    auto before = layers("", "w");
    before.add("Erf", {"b3"}, "more").add("Exp", {"more"}, "end");
    CHECK(overlap(before, layers("", "w")).structure == 1);
    CHECK(overlap(layers("", "w"), before).contents == 1);
}

TEST_CASE("graph_overlap: an empty graph has nothing in common with another") {
    CHECK_FALSE(
        overlap(comparable_scene(std::vector<std::string>{}), layers("", "w")).is_related());
}

} // namespace test::align_detail_graph_overlap
