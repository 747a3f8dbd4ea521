// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/plan_cuts.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/cut/cut_planner.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/open/attributed_model.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
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

} // namespace test::cut_plan_cuts
