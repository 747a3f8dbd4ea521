// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/cut_obstacles.hpp>

#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../wire_builder.hpp"

#include <stemma/cut/cut_planner.hpp>

#include <string>
#include <vector>

namespace test::cut_detail_cut_obstacles {

using stemma::id;

TEST_CASE("find_untyped: a boundary value of unknown type", "[onnx][cut_obstacles]") {
    auto graph = test::graph(
        {test::node("Relu", {"x"}, {"a"}, "first"), test::node("Tanh", {"a"}, {"y"}, "second")},
        {"x"}, {"y"});
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes);
    stemma::cut_planner<> planner(model);
    const std::vector<id> wanted{test::node_called(model, "first")};
    const auto plans = planner.plan(wanted);
    REQUIRE(plans.size() == 1);
    stemma::value_types types(model);
    const auto untyped = stemma::detail::find_untyped(plans[0], types);
    REQUIRE(untyped);
    CHECK(model.value_name(*untyped) == "a");
    const auto x = plans[0].inputs.at(0);
    REQUIRE(types.type_of(x));
    types.add(*untyped, std::string(*types.type_of(x)));
    CHECK_FALSE(stemma::detail::find_untyped(plans[0], types));
}

TEST_CASE("find_unbound: an attribute that only a call binds", "[onnx][cut_obstacles]") {
    auto unbound = test::node("LeakyRelu", {"p"}, {"q"}, "unbound");
    unbound.inner(5, test::message().text(1, "alpha").text(21, "slope").number(20, 1));
    const auto function = test::function("local", "Own", {"p"}, {"q"}, {unbound});
    const auto bytes =
        test::model(test::graph({test::node("Own", {"x"}, {"y"}, "", "local")}, {"x"}, {"y"}))
            .inner(25, function)
            .bytes();
    const stemma::wire_model model(bytes);
    stemma::cut_planner<> planner(model);
    const auto node = test::node_called(model, "unbound");
    const std::vector<id> wanted{node};
    const auto plans = planner.plan(wanted);
    REQUIRE(plans.size() == 1);
    CHECK(stemma::detail::find_unbound(plans[0], model, planner.contents()) == node);
}

TEST_CASE("find_redefined: a value that several nodes define, read, made, or inside",
          "[onnx][cut_obstacles]") {
    const auto function = test::function("local", "Own", {"p"}, {"q"},
                                         {test::node("Relu", {"p"}, {"t"}, "t1"),
                                          test::node("Tanh", {"p"}, {"t"}, "t2"),
                                          test::node("Neg", {"t"}, {"q"}, "t3")});
    const auto bytes = test::model(test::graph({test::node("Relu", {"x"}, {"v"}, "first"),
                                                test::node("Tanh", {"x"}, {"v"}, "second"),
                                                test::node("Neg", {"v"}, {"a"}, "reader"),
                                                test::node("Abs", {"a"}, {"b"}, "other"),
                                                test::node("Own", {"b"}, {"y"}, "call", "local")},
                                               {"x"}, {"y"}))
                           .inner(25, function)
                           .bytes();
    const stemma::wire_model model(bytes);
    stemma::cut_planner<> planner(model);
    const auto redefined = [&](std::string_view node) {
        const std::vector<id> wanted{test::node_called(model, node)};
        const auto plans = planner.plan(wanted);
        REQUIRE(plans.size() == 1);
        const auto value = stemma::detail::find_redefined(plans[0], model, planner.contents());
        return value ? std::string(model.value_name(*value)) : std::string();
    };
    CHECK(redefined("first") == "v");
    CHECK(redefined("second") == "v");
    CHECK(redefined("reader") == "v");
    CHECK(redefined("other").empty());
    CHECK(redefined("call") == "t");
}

TEST_CASE("find_shadowed: a name in a body and in what comes along from outside",
          "[onnx][cut_obstacles]") {
    for (const std::string inner : {"k", "other"}) {
        const auto body = test::graph({test::node("Constant", {}, {inner}, "constant"),
                                       test::node("Mul", {"t", inner}, {"r"}, "product")},
                                      {}, {"r"});
        const auto bytes =
            test::model(test::graph({test::node("Neg", {"k"}, {"t"}, "turned"),
                                     test::node("If", {"x"}, {"y"}, "choice")
                                         .inner(5, test::graph_attribute("then_branch", body))},
                                    {"x"}, {"y"}, {"k"}))
                .bytes();
        const stemma::wire_model model(bytes);
        const auto shadowed = [&](const test::names& wanted) {
            std::vector<id> nodes;
            for (const auto& name : wanted) {
                nodes.push_back(test::node_called(model, name));
            }
            const auto plans = stemma::cut_planner<>(model).plan(nodes);
            REQUIRE(plans.size() == 1);
            return stemma::detail::find_shadowed(plans[0], model);
        };
        const auto redefined = shadowed({"constant", "product"});
        REQUIRE(redefined.size() == (inner == "k" ? 2 : 0));
        CHECK(shadowed({"choice"}).empty());
        if (inner == "k") {
            CHECK(model.is_initializer(redefined[0]));
            CHECK(model.producer(redefined[1]) == test::node_called(model, "constant"));
        }
    }
}

} // namespace test::cut_detail_cut_obstacles
