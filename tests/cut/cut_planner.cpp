// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/cut_planner.hpp>

#include "../catch.hpp"
#include "../find_in_model.hpp"
#include "../random_numbers.hpp"
#include "../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test::cut_cut_planner {

namespace {

using stemma::id;
using stemma::no_id;

/// A model and queries to its planner, with names instead of numbers.
struct scene {
    std::string bytes;
    stemma::wire_model model;

    explicit scene(const test::message& message) : bytes(message.bytes()), model(bytes) {}

    [[nodiscard]] std::vector<stemma::cut_plan> plan(const test::names& wanted,
                                                     stemma::standard_cut policy = {},
                                                     const std::vector<id>& calls = {}) const {
        std::vector<id> nodes;
        for (const auto& name : wanted) {
            nodes.push_back(test::node_called(model, name));
        }
        std::sort(nodes.begin(), nodes.end());
        return stemma::cut_planner<>(model, policy).plan(nodes, calls);
    }

    [[nodiscard]] test::names nodes(const std::vector<id>& ids) const {
        test::names names;
        for (auto node : ids) {
            names.emplace_back(model.name(node));
        }
        return names;
    }

    [[nodiscard]] test::names values(const std::vector<id>& ids) const {
        test::names names;
        for (auto value : ids) {
            names.emplace_back(model.value_name(value));
        }
        return names;
    }
};

test::message chain() {
    return test::model(test::graph({test::node("Constant", {}, {"k"}, "constant"),
                                    test::node("Transpose", {"w"}, {"wt"}, "turned"),
                                    test::node("MatMul", {"x", "wt"}, {"a"}, "product"),
                                    test::node("Add", {"a", "k"}, {"b"}, "sum"),
                                    test::node("Relu", {"b"}, {"y"}, "relu")},
                                   {"x"}, {"y"}, {"w", "unused"}));
}

} // namespace

TEST_CASE("cut_planner: refuses nodes on and after a cycle", "[onnx][cut_planner]") {
    const scene s(test::model(test::graph(
        {test::node("Relu", {"x"}, {"a"}, "before"), test::node("Add", {"a", "c"}, {"b"}, "first"),
         test::node("Relu", {"b"}, {"c"}, "second"), test::node("Relu", {"c"}, {"y"}, "after")},
        {"x"}, {"y"})));
    for (auto gaps : {stemma::gap_rule::refuse, stemma::gap_rule::runs, stemma::gap_rule::absorb}) {
        const stemma::standard_cut policy{stemma::dependence::weight, gaps};
        const auto refusals = [&](const test::names& wanted) {
            std::vector<stemma::cut_refusal> each;
            for (const auto& plan : s.plan(wanted, policy)) {
                each.push_back(plan.refusal);
            }
            return each;
        };
        using r = stemma::cut_refusal;
        CHECK(refusals({"before"}) == std::vector{r::none});
        CHECK(refusals({"before", "first"}) == std::vector{r::cycle});
        CHECK(refusals({"first", "second"}) == std::vector{r::cycle});
        CHECK(refusals({"after"}) == std::vector{r::cycle});
    }
}

TEST_CASE("cut_planner: constants stay constant, and are copied", "[onnx][cut_planner]") {
    const scene s(chain());
    const auto plans = s.plan({"product", "sum"});
    REQUIRE(plans.size() == 1);
    const auto& plan = plans.front();
    CHECK(plan.refusal == stemma::cut_refusal::none);
    CHECK(s.nodes(plan.nodes) == test::names{"constant", "turned", "product", "sum"});
    CHECK(s.nodes(plan.clones) == test::names{"constant", "turned"});
    CHECK(s.values(plan.inputs) == test::names{"x"});
    CHECK(s.values(plan.outputs) == test::names{"b"});
    CHECK(s.values(plan.initializers) == test::names{"w"});
    CHECK_FALSE(plan.random);
}

TEST_CASE("cut_planner: copies only constants if nothing else is pulled in",
          "[onnx][cut_planner]") {
    const scene s(chain());
    const auto plans = s.plan({"product", "sum"}, {stemma::dependence::constant});
    REQUIRE(plans.size() == 1);
    CHECK(s.nodes(plans[0].nodes) == test::names{"constant", "product", "sum"});
    CHECK(s.values(plans[0].inputs) == test::names{"x", "wt"});
    CHECK(plans[0].initializers.empty());
}

TEST_CASE("cut_planner: a constant is an output of constants alone", "[onnx][cut_planner]") {
    const scene s(chain());
    const auto mixed = s.plan({"constant", "turned", "product"});
    REQUIRE(mixed.size() == 1);
    CHECK(s.values(mixed[0].outputs) == test::names{"a"});

    stemma::cut_planner<> planner(s.model, {});
    const std::vector<id> constants{test::node_called(s.model, "constant"),
                                    test::node_called(s.model, "turned")};
    for (int again = 0; again < 2; ++again) {
        const auto plans = planner.plan(constants);
        REQUIRE(plans.size() == 1);
        CHECK(plans[0].refusal == stemma::cut_refusal::none);
        CHECK(s.nodes(plans[0].nodes) == test::names{"constant", "turned"});
        CHECK(s.values(plans[0].outputs) == test::names{"k", "wt"});
        CHECK(plans[0].inputs.empty());
        CHECK(s.values(plans[0].initializers) == test::names{"w"});
    }
}

TEST_CASE("cut_planner: a path out and back is refused, absorbed, or divides the part",
          "[onnx][cut_planner]") {
    const scene s(test::model(test::graph({test::node("Relu", {"x"}, {"a"}, "first"),
                                           test::node("Tanh", {"a"}, {"b"}, "outside"),
                                           test::node("Add", {"a", "b"}, {"y"}, "last")},
                                          {"x"}, {"y"})));
    const auto refused = s.plan({"first", "last"});
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].refusal == stemma::cut_refusal::non_convex);
    CHECK(s.nodes(refused[0].witness) == test::names{"first", "outside", "last"});

    const auto absorbed =
        s.plan({"first", "last"}, {stemma::dependence::weight, stemma::gap_rule::absorb});
    REQUIRE(absorbed.size() == 1);
    CHECK(absorbed[0].refusal == stemma::cut_refusal::none);
    CHECK(s.nodes(absorbed[0].nodes) == test::names{"first", "outside", "last"});

    const auto runs =
        s.plan({"first", "last"}, {stemma::dependence::weight, stemma::gap_rule::runs});
    REQUIRE(runs.size() == 2);
    CHECK(s.nodes(runs[0].nodes) == test::names{"first"});
    CHECK(s.values(runs[0].outputs) == test::names{"a"});
    CHECK(s.nodes(runs[1].nodes) == test::names{"last"});
    CHECK(s.values(runs[1].inputs) == test::names{"a", "b"});
}

TEST_CASE("cut_planner: keeps calls apart if nothing else does", "[onnx][cut_planner]") {
    const scene s(test::model(test::graph(
        {test::node("Relu", {"x"}, {"a"}, "first"), test::node("Relu", {"a"}, {"y"}, "second")},
        {"x"}, {"y"})));
    const stemma::standard_cut runs{stemma::dependence::weight, stemma::gap_rule::runs};
    CHECK(s.plan({"first", "second"}, runs).size() == 1);
    CHECK(s.plan({"first", "second"}, runs, {0, 1}).size() == 2);
    // An unknown call is that of a neighbour.
    CHECK(s.plan({"first", "second"}, runs, {1, no_id}).size() == 1);
}

TEST_CASE("cut_planner: captures of bodies are inputs, and bodies come with their owner",
          "[onnx][cut_planner]") {
    const auto body =
        test::graph({test::node("Add", {"x", "a"}, {"inner"}, "inside")}, {}, {"inner"});
    const scene s(
        test::model(test::graph({test::node("Relu", {"x"}, {"a"}, "before"),
                                 test::owner_node("If", {"c"}, {"y"},
                                                  {test::graph_attribute("then_branch", body),
                                                   test::graph_attribute("else_branch", body)},
                                                  "choice")},
                                {"x", "c"}, {"y"})));
    const auto owner = s.plan({"choice"});
    REQUIRE(owner.size() == 1);
    CHECK(s.values(owner[0].inputs) == test::names{"c", "x", "a"});
    CHECK(s.nodes(owner[0].nodes) == test::names{"choice"});

    const auto inside = s.plan({"inside"});
    REQUIRE(inside.size() == 1);
    CHECK(inside[0].graph != 0);
    CHECK(s.values(inside[0].inputs) == test::names{"x", "a"});
}

TEST_CASE("cut_planner: includes called functions and their callees", "[onnx][cut_planner]") {
    auto message = test::model(
        test::graph({test::node("Outer", {"x"}, {"y"}, "call", "local")}, {"x"}, {"y"}));
    message.inner(8, test::opset("local", 1));
    message.inner(
        25, test::function("local", "Inner", {"a"}, {"b"}, {test::node("Relu", {"a"}, {"b"})}));
    message.inner(25, test::function("local", "Outer", {"a"}, {"b"},
                                     {test::node("Inner", {"a"}, {"b"}, "", "local")}));
    message.inner(
        25, test::function("local", "Other", {"a"}, {"b"}, {test::node("Relu", {"a"}, {"b"})}));
    const scene s(message);
    const auto plans = s.plan({"call"});
    REQUIRE(plans.size() == 1);
    REQUIRE(plans[0].functions.size() == 2);
    for (auto f : plans[0].functions) {
        CHECK(s.model.text(s.model.functions()[f].name) != "Other");
    }
}

TEST_CASE("cut_planner: a function's body is not a part beside its call, or without one",
          "[onnx][cut_planner]") {
    const auto relu = [](const char* name) { return test::node("Relu", {"a"}, {"b"}, name); };
    auto message = test::model(
        test::graph({test::node("Outer", {"x"}, {"y"}, "call", "local")}, {"x"}, {"y"}));
    message.inner(8, test::opset("local", 1));
    message.inner(25, test::function("local", "Inner", {"a"}, {"b"}, {relu("inner")}));
    message.inner(25, test::function("local", "Outer", {"a"}, {"b"},
                                     {test::node("Inner", {"a"}, {"b"}, "outer", "local")}));
    message.inner(25, test::function("local", "Other", {"a"}, {"b"}, {relu("other")}));
    const scene s(message);
    for (const auto& wanted :
         {test::names{"call", "inner"}, {"call", "other"}, {"call", "inner", "outer", "other"}}) {
        const auto plans = s.plan(wanted);
        REQUIRE(plans.size() == 1);
        CHECK(plans[0].graph == 0);
    }
    CHECK(s.plan({"inner"}).at(0).graph != 0);
    CHECK(s.plan({"other"}).at(0).graph != 0);
}

TEST_CASE("cut_planner: reports that nodes were sorted, and that results are random",
          "[onnx][cut_planner]") {
    const scene s(test::model(test::graph({test::node("Relu", {"a"}, {"y"}, "reader"),
                                           test::node("RandomNormalLike", {"x"}, {"a"}, "random")},
                                          {"x"}, {"y"})));
    const auto plans = s.plan({"reader", "random"});
    REQUIRE(plans.size() == 1);
    CHECK(plans[0].sorted);
    CHECK(plans[0].random);
    CHECK(s.nodes(plans[0].nodes) == test::names{"random", "reader"});
}

TEST_CASE("cut_planner: on random graphs, every part reads exactly what it needs",
          "[onnx][cut_planner]") {
    test::random_numbers random(3);
    for (int round = 0; round < 500; ++round) {
        const auto count = 2 + random(10);
        std::vector<test::message> nodes;
        for (std::size_t i = 0; i < count; ++i) {
            const auto source = [&] {
                return i == 0 || random.one_in(4) ? std::string(random.one_in(2) ? "x" : "w")
                                                  : "v" + std::to_string(random(i));
            };
            nodes.push_back(test::node("Add", {source(), source()}, {"v" + std::to_string(i)},
                                       "n" + std::to_string(i)));
        }
        const scene s(
            test::model(test::graph(nodes, {"x"}, {"v" + std::to_string(count - 1)}, {"w"})));
        test::names wanted;
        for (std::size_t i = 0; i < count; ++i) {
            if (random.one_in(2)) {
                wanted.push_back("n" + std::to_string(i));
            }
        }
        if (wanted.empty()) {
            continue;
        }
        for (const auto& plan :
             s.plan(wanted, {stemma::dependence::weight, stemma::gap_rule::runs})) {
            std::set<id> available(plan.inputs.begin(), plan.inputs.end());
            CHECK(available.size() == plan.inputs.size());
            available.insert(plan.initializers.begin(), plan.initializers.end());
            std::set<id> read;
            for (auto node : plan.nodes) {
                for (auto value : s.model.inputs(node)) {
                    CHECK(available.count(value) == 1); // each node follows its producers
                    read.insert(value);
                }
                available.insert(s.model.first_output(node));
            }
            for (auto value : plan.inputs) {
                CHECK(read.count(value) == 1);
                CHECK((s.model.producer(value) != no_id || s.model.value_name(value) == "x"));
            }
            for (auto value : plan.outputs) {
                const auto producer = s.model.producer(value);
                CHECK(std::find(plan.nodes.begin(), plan.nodes.end(), producer) !=
                      plan.nodes.end());
                // Only the model's output may be that of a constant.
                CHECK((!std::binary_search(plan.clones.begin(), plan.clones.end(), producer) ||
                       producer == s.model.node_count() - 1));
            }
        }
    }
}

TEST_CASE("cut_planner: what is pulled in also stays outside, and reads there",
          "[onnx][cut_planner]") {
    const scene s(test::model(test::graph({test::node("Relu", {"x"}, {"a"}, "first"),
                                           test::node("Tanh", {"a"}, {"b"}, "outside"),
                                           test::node("Neg", {"b"}, {"y"}, "last")},
                                          {"x"}, {"y"})));
    const stemma::standard_cut all{stemma::dependence::data, stemma::gap_rule::runs};
    const auto together = s.plan({"first", "last"}, all);
    REQUIRE(together.size() == 1);
    CHECK(s.nodes(together[0].nodes) == test::names{"first", "outside", "last"});
    CHECK(s.nodes(together[0].clones) == test::names{"outside"});
    CHECK(s.values(together[0].outputs) == test::names{"a", "y"});
    const auto apart = s.plan({"first", "last"}, all, {0, 1});
    REQUIRE(apart.size() == 2);
    CHECK(apart[0].refusal == stemma::cut_refusal::none);
    CHECK(s.values(apart[0].outputs) == test::names{"a"});
}

TEST_CASE("cut_planner: a path back leads through shapes that are pulled in",
          "[onnx][cut_planner]") {
    const auto refusal = [](const std::string& shaped, const std::string& read, auto gaps) {
        const scene s(test::model(test::graph({test::node("Relu", {"x"}, {"a"}, "first"),
                                               test::node("Tanh", {"a"}, {"b"}, "other"),
                                               test::node("Shape", {shaped}, {"s"}, "shape"),
                                               test::node("Reshape", {"z", "s"}, {"r"}, "outside"),
                                               test::node("Reshape", {read, "s"}, {"y"}, "last")},
                                              {"x", "z"}, {"y", "b", "r"})));
        const auto plans = s.plan({"first", "last"}, {stemma::dependence::shape, gaps});
        const auto& witness = plans[0].witness;
        CHECK((witness.empty() || s.model.name(witness[0]) == "first"));
        return std::pair(plans.size(), plans[0].refusal);
    };
    using r = stemma::cut_refusal;
    constexpr auto refuse = stemma::gap_rule::refuse;
    CHECK(refusal("a", "r", refuse).second == r::non_convex); // out behind the shape
    CHECK(refusal("b", "a", refuse).second == r::non_convex); // before it
    CHECK(refusal("a", "a", refuse).second == r::none);       // nothing comes back
    CHECK(refusal("x", "r", refuse).second == r::none);       // of no result of the part
    CHECK(refusal("a", "r", stemma::gap_rule::absorb).second == r::none);
    CHECK(refusal("a", "r", stemma::gap_rule::runs).first == 2);
    CHECK(refusal("x", "r", stemma::gap_rule::runs).first == 1);
}

TEST_CASE("cut_planner: an initializer that the model returns is an output of its readers",
          "[onnx][cut_planner]") {
    const scene s(test::model(test::graph(
        {test::node("Add", {"x", "w"}, {"a"}, "reader"), test::node("Relu", {"a"}, {"y"}, "other")},
        {"x"}, {"y", "w"}, {"w"})));
    const auto reader = s.plan({"reader"});
    REQUIRE(reader.size() == 1);
    CHECK(s.values(reader[0].outputs) == test::names{"a", "w"});
    CHECK(s.values(reader[0].initializers) == test::names{"w"});
    const auto other = s.plan({"other"});
    REQUIRE(other.size() == 1);
    CHECK(s.values(other[0].outputs) == test::names{"y"});
}

TEST_CASE("cut_planner: a constant that the model returns is an output of the part it belongs to",
          "[onnx][cut_planner]") {
    const scene s(test::model(test::graph(
        {test::node("Constant", {}, {"k"}, "constant"), test::node("Neg", {"k"}, {"grid"}, "grid"),
         test::node("Relu", {"x"}, {"a"}, "first"), test::node("Tanh", {"a"}, {"b"}, "between"),
         test::node("Add", {"a", "b"}, {"c"}, "second"),
         test::node("Mul", {"c", "grid"}, {"y"}, "reader")},
        {"x"}, {"y", "grid"})));
    const stemma::standard_cut runs{stemma::dependence::weight, stemma::gap_rule::runs};
    for (const auto& policy : {stemma::standard_cut{}, runs}) {
        const auto owner = s.plan({"constant", "grid", "first"}, policy);
        REQUIRE(owner.size() == 1);
        CHECK(s.nodes(owner[0].nodes) == test::names{"constant", "grid", "first"});
        CHECK(s.values(owner[0].outputs) == test::names{"grid", "a"});
        CHECK(s.values(owner[0].inputs) == test::names{"x"});
        CHECK(s.nodes(owner[0].clones) == test::names{"constant", "grid"});
        const auto reader = s.plan({"reader"}, policy); // has a copy
        REQUIRE(reader.size() == 1);
        CHECK(s.values(reader[0].outputs) == test::names{"y"});
        CHECK(s.values(reader[0].inputs) == test::names{"c"});
        CHECK(s.nodes(reader[0].nodes) == test::names{"constant", "grid", "reader"});
    }
    const auto divided = s.plan({"constant", "grid", "first", "second"}, runs); // once
    REQUIRE(divided.size() == 2);
    CHECK(s.values(divided[0].outputs) == test::names{"grid", "a"});
    CHECK(s.values(divided[1].outputs) == test::names{"c"});
}

} // namespace test::cut_cut_planner
