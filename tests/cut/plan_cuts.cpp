// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/plan_cuts.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../vertex_set_scene.hpp"

#include <stemma/cut/cut_planner.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/open/attributed_model.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace test::cut_plan_cuts {

namespace {

using stemma::dependence;
using stemma::gap_rule;
using stemma::id;

using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
using vertices = std::vector<std::size_t>;

/// 0 -> 1 -> 2 -> 3, and a constant 4 that 1 and 3 read.
graph chain() {
    graph cyclic(5);
    for (std::size_t v = 1; v < 4; ++v) {
        add_edge(v - 1, v, cyclic);
    }
    add_edge(4, 1, cyclic);
    add_edge(4, 3, cyclic);
    return cyclic;
}

dependence of_chain(std::size_t v) {
    return v == 4 ? dependence::constant : dependence::data;
}

vertices sources(const graph& g, const std::vector<stemma::edge_t<graph>>& edges) {
    vertices tails;
    for (const auto& e : edges) {
        tails.push_back(source(e, g));
    }
    return tails;
}

} // namespace

TEST_CASE("plan_cuts: finds boundary values, and copies constants", "[algorithm][plan_cuts]") {
    const auto g = chain();
    const auto cuts = stemma::plan_cuts(g, {2, 1}, stemma::standard_cut{}, of_chain);
    REQUIRE(cuts.size() == 1);
    CHECK(std::is_permutation(cuts[0].vertices.begin(), cuts[0].vertices.end(),
                              vertices{4, 1, 2}.begin()));
    CHECK(cuts[0].copies == vertices{4});
    CHECK(sources(g, cuts[0].inputs) == vertices{0});
    CHECK(sources(g, cuts[0].outputs) == vertices{2});
    CHECK(cuts[0].way_back.empty());
    const auto alone = stemma::plan_cuts(g, {4}, stemma::standard_cut{}, of_chain);
    REQUIRE(alone.size() == 1);
    CHECK(alone[0].vertices == vertices{4});
    CHECK(sources(g, alone[0].outputs) == vertices{4});
    CHECK(stemma::plan_cuts(g, {}).empty());
}

TEST_CASE("plan_cuts: a set that is not convex is refused, completed or divided",
          "[algorithm][plan_cuts]") {
    const auto g = chain();
    const auto plan = [&](gap_rule rule) {
        return stemma::plan_cuts(g, {1, 3}, stemma::standard_cut{dependence::weight, rule},
                                 of_chain);
    };
    REQUIRE(plan(gap_rule::refuse).size() == 1);
    CHECK(plan(gap_rule::refuse)[0].way_back == vertices{1, 2, 3});
    const auto absorbed = plan(gap_rule::absorb);
    REQUIRE(absorbed.size() == 1);
    CHECK(absorbed[0].way_back.empty());
    CHECK(absorbed[0].vertices.size() == 4);
    const auto runs = plan(gap_rule::runs);
    REQUIRE(runs.size() == 2);
    CHECK(sources(g, runs[0].outputs) == vertices{1});
    CHECK(sources(g, runs[1].inputs) == vertices{2});
    CHECK(runs[1].copies == vertices{4});
}

TEST_CASE("plan_cuts: a policy that pulls in data needs no inputs", "[algorithm][plan_cuts]") {
    const auto g = chain();
    const auto cuts = stemma::plan_cuts(g, {3}, stemma::standard_cut{dependence::data});
    REQUIRE(cuts.size() == 1);
    CHECK(cuts[0].inputs.empty());
    CHECK(cuts[0].vertices.size() == 5);
}

TEST_CASE("plan_cuts: cuts nothing on or after a cycle", "[algorithm][plan_cuts]") {
    graph g(4);
    add_edge(0, 1, g);
    add_edge(1, 0, g);
    add_edge(1, 2, g);
    CHECK(stemma::plan_cuts(g, {0, 1}).empty());
    CHECK(stemma::plan_cuts(g, {1, 2}).empty());
    REQUIRE(stemma::plan_cuts(g, {1, 3}).size() == 1);
    CHECK(stemma::plan_cuts(g, {1, 3})[0].vertices == vertices{3});
}

TEST_CASE("plan_cuts: agrees with cut_planner on models", "[algorithm][plan_cuts]") {
    for (const std::string name : {"bert_micro", "unet_tiny", "gpt2_tiny", "shared_twice"}) {
        INFO(name);
        const stemma::attributed_model opened(test::fixture(name + "/model.onnx"), {});
        const auto& model = opened.model();
        const auto random = stemma::detail::find_random_operators(model);
        const auto depends = stemma::detail::find_dependence(model, random);
        const stemma::graph_contents contents(model);
        const stemma::detail::ordered_graph main(model, contents, 0);
        REQUIRE(main.view.nodes.size() == model.node_count());
        const stemma::detail::module_members members(opened.modules().index(),
                                                     opened.tags().attributions);
        std::size_t compared = 0;
        for (auto rule : {gap_rule::refuse, gap_rule::absorb, gap_rule::runs}) {
            for (auto pulled : {dependence::constant, dependence::weight, dependence::shape}) {
                const stemma::standard_cut policy{pulled, rule};
                stemma::cut_planner<> planner(model, policy, random);
                for (id m = 1; m < opened.modules().size(); ++m) {
                    const auto wanted = members.all(m);
                    const auto cuts = stemma::plan_cuts(main.view.graph, wanted, policy,
                                                        [&](id v) { return depends[v]; });
                    const auto plans = planner.plan(wanted);
                    REQUIRE(cuts.size() == plans.size());
                    for (std::size_t p = 0; p < plans.size(); ++p) {
                        CHECK(std::set<id>(cuts[p].vertices.begin(), cuts[p].vertices.end()) ==
                              std::set<id>(plans[p].nodes.begin(), plans[p].nodes.end()));
                        CHECK(cuts[p].copies.size() == plans[p].clones.size());
                        CHECK(cuts[p].way_back.empty() == plans[p].witness.empty());
                        std::set<id> read;
                        for (const auto& e : cuts[p].inputs) {
                            read.insert(stemma::detail::value_on(main.view.graph, e));
                        }
                        std::set<id> inputs;
                        for (auto value : plans[p].inputs) {
                            if (model.producer(value) != stemma::no_id) {
                                inputs.insert(value);
                            }
                        }
                        CHECK(read == inputs);
                        for (const auto& e : cuts[p].outputs) {
                            CHECK(std::count(plans[p].outputs.begin(), plans[p].outputs.end(),
                                             stemma::detail::value_on(main.view.graph, e)) == 1);
                        }
                        ++compared;
                    }
                }
            }
        }
        CHECK(compared > 50);
    }
}

namespace {

using stemma::id;

} // namespace

TEST_CASE("find_boundary: every value that crosses the boundary, once", "[algorithm][boundary]") {
    test::for_random_vertex_sets([](const test::vertex_set_scene& s) {
        std::set<id> in;
        std::set<id> out;
        for (auto [from, to] : s.dag.edges.edges) {
            if (s.set.is_outside(from) && s.set.is_inside(to)) {
                in.insert(static_cast<id>(from));
            }
            if (s.set.is_inside(from) && s.set.is_outside(to)) {
                out.insert(static_cast<id>(from));
            }
        }
        const auto boundary =
            stemma::detail::find_boundary(s.dag.graph, s.set, std::span<const id>(s.members));
        const auto values = [&](const auto& edges) {
            std::vector<id> result;
            for (auto e : edges) {
                result.push_back(get(stemma::value_index, s.dag.graph, e));
            }
            return result;
        };
        const auto inputs = values(boundary.inputs);
        const auto outputs = values(boundary.outputs);
        CHECK(inputs.size() == in.size());
        CHECK(std::set<id>(inputs.begin(), inputs.end()) == in);
        CHECK(outputs.size() == out.size());
        CHECK(std::set<id>(outputs.begin(), outputs.end()) == out);
        CHECK(std::is_sorted(outputs.begin(), outputs.end())); // in the order of producers
    });
}

TEST_CASE("find_boundary: without value ids, each vertex produces one value",
          "[algorithm][boundary]") {
    const auto graph = test::as_list_graph({3, {{0, 1}, {0, 2}, {1, 2}}});
    stemma::detail::vertex_set set(3);
    set.inside[2] = true;
    std::vector<test::list_graph::vertex_descriptor> members{
        *std::next(boost::vertices(graph).first, 2)};
    const auto boundary = stemma::detail::find_boundary(
        graph, set, std::span<const test::list_graph::vertex_descriptor>(members));
    CHECK(boundary.inputs.size() == 2);
    CHECK(boundary.outputs.empty());
}

} // namespace test::cut_plan_cuts
