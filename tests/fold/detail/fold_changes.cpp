// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_changes.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <string>
#include <vector>

namespace test::fold_detail_fold_changes {

namespace {

stemma::detail::folded_graph_record record_of(test::fold_scene& scene) {
    const auto plan = scene.plan();
    const stemma::detail::fold_names names(scene.model, scene.contents, scene.modules, plan);
    return stemma::detail::fold_changes(scene.model, plan, names, 0).take();
}

} // namespace

TEST_CASE("fold_changes: records nothing if names follow from the scopes of calls") {
    auto scene = test::layered_model(4);
    const auto record = record_of(scene);
    CHECK(record.nodes == 12);
    CHECK(record.changes.empty());
    CHECK(record.order.empty());
}

TEST_CASE("fold_changes: records other names as differences") {
    std::vector<test::message> nodes;
    for (int i = 0; i < 4; ++i) {
        const auto number = std::to_string(i);
        const auto in = i == 0 ? "x" : "v" + std::to_string(i - 1);
        nodes.push_back(test::node("Relu", {in}, {"v" + number}, "node_" + number));
    }
    test::fold_scene scene{test::model(test::graph(nodes, {"x"}, {"v3"})).bytes(),
                           test::layers(2),
                           {{2, stemma::no_id, 1},
                            {2, stemma::no_id, 1},
                            {4, stemma::no_id, 1},
                            {4, stemma::no_id, 1}}};
    const auto record = record_of(scene);
    // The names of two nodes, and the one value that no call in the main graph names.
    REQUIRE(record.changes.size() == 3);
    for (const auto& change : record.changes) {
        CHECK(change.middle.size() == 1);
        CHECK(change.node >= 2);
    }
}

TEST_CASE("fold_changes: records the order of interleaved operators") {
    // Two branches whose nodes alternate.
    test::fold_scene scene{
        test::model(
            test::graph({test::node("Relu", {"x"}, {"a"}), test::node("Relu", {"x"}, {"b"}),
                         test::node("Tanh", {"a"}, {"c"}), test::node("Tanh", {"b"}, {"d"})},
                        {"x"}, {"c", "d"}))
            .bytes(),
        test::layers(2),
        {{2, stemma::no_id, 1},
         {4, stemma::no_id, 1},
         {2, stemma::no_id, 1},
         {4, stemma::no_id, 1}}};
    const auto record = record_of(scene);
    CHECK(record.order ==
          std::vector<stemma::detail::fold_record::order_run>{{0, 1}, {2, 1}, {1, 1}, {3, 1}});
    CHECK(test::unfold(scene.fold()) == scene.bytes);
}

TEST_CASE("fold_changes: rejects a name that JSON cannot represent") {
    test::fold_scene scene{test::model(test::graph({test::node("Relu", {"x"}, {"a"}, "n"),
                                                    test::node("Relu", {"a"}, {"b"}, "n"),
                                                    test::node("Relu", {"b"}, {"c"}, "\xff"),
                                                    test::node("Relu", {"c"}, {"y"}, "n")},
                                                   {"x"}, {"y"}))
                               .bytes(),
                           test::layers(2),
                           {{2, stemma::no_id, 1},
                            {2, stemma::no_id, 1},
                            {4, stemma::no_id, 1},
                            {4, stemma::no_id, 1}}};
    CHECK_THROWS_AS(record_of(scene), stemma::error);
}

} // namespace test::fold_detail_fold_changes
