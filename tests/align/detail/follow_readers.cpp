// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/follow_readers.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"

#include <stemma/align/detail/stated_scores.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/detail/stated_module.hpp>

#include <vector>

namespace test::align_detail_follow_readers {

using stemma::no_id;

TEST_CASE("follow_readers: a constant goes where all its readers are, if they are, or nowhere",
          "[alignment]") {
    test::exported_graph graph;
    const auto first = graph.add("Constant", {});
    const auto cast = graph.add("Cast", {first});
    const auto shared = graph.add("Constant", {});
    const auto unread = graph.add("Constant", {});
    const auto relu = graph.add("Mul", {no_id, cast, shared});
    const auto tanh = graph.add("Add", {relu, shared});
    graph.finish();
    auto finder = stemma::detail::aligned_nodes_finder(graph);
    const auto nodes = finder.find();
    stemma::alignment made;
    made.of.resize(graph.size());
    made.of[relu] = {4, 0, 0, 0.9F, true};
    made.of[tanh] = {5, 1, 1, 0.8F, true};
    const stemma::tree_index tree(std::vector<stemma::id>{no_id, 0, 0, 0, 0, 0});
    const std::vector<stemma::detail::stated_module> elsewhere(graph.size(), {3, 0.97F, true});
    stemma::detail::follow_readers(graph, nodes, {tree, elsewhere, nodes}, made);
    CHECK(made.of[cast].module == no_id);
    CHECK(made.of[first].module == no_id);
    stemma::detail::follow_readers(graph, nodes, {tree, {}, nodes}, made);
    CHECK(made.of[cast].module == 4);
    CHECK(made.of[first].module == 4);
    CHECK(made.of[first].call == 0);
    CHECK(made.of[first].operation == no_id);
    CHECK(made.of[cast].confidence < 0.9F);
    CHECK(made.of[first].confidence < made.of[cast].confidence);
    CHECK(made.of[shared].module == no_id);
    CHECK(made.of[unread].module == no_id);
}

} // namespace test::align_detail_follow_readers
