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
    stemma::alignment aligned;
    aligned.of.resize(graph.size());
    aligned.of[relu] = {4, 0, 0, 0.9F, true};
    aligned.of[tanh] = {5, 1, 1, 0.8F, true};
    const stemma::tree_index tree(std::vector<stemma::id>{no_id, 0, 0, 0, 0, 0});
    const std::vector<stemma::detail::stated_module> elsewhere(graph.size(), {3, 0.97F, true});
    stemma::detail::follow_readers(graph, nodes, {tree, elsewhere, nodes}, aligned);
    CHECK(aligned.of[cast].module == no_id);
    CHECK(aligned.of[first].module == no_id);
    stemma::detail::follow_readers(graph, nodes, {tree, {}, nodes}, aligned);
    CHECK(aligned.of[cast].module == 4);
    CHECK(aligned.of[first].module == 4);
    CHECK(aligned.of[first].call == 0);
    CHECK(aligned.of[first].operation == no_id);
    CHECK(aligned.of[cast].confidence < 0.9F);
    CHECK(aligned.of[first].confidence < aligned.of[cast].confidence);
    CHECK(aligned.of[shared].module == no_id);
    CHECK(aligned.of[unread].module == no_id);
}

} // namespace test::align_detail_follow_readers
