// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/boundary_types.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/cut/cut_planner.hpp>
#include <stemma/types/detail/infer_shapes.hpp>

#include <string>
#include <vector>

namespace test::cut_detail_boundary_types {

namespace {

using stemma::id;

} // namespace

TEST_CASE("boundary_types: the fallback is called once, and its message is passed on") {
    const auto path = test::fixture("bert_micro/model.onnx");
    const stemma::mapped_file file(path);
    const stemma::wire_model model(file.bytes(), path);
    const stemma::graph_contents contents(model);
    int asked = 0;
    stemma::detail::boundary_types types(model, [&](const auto&, auto&) {
        ++asked;
        return std::string("nobody knows");
    });
    types.prepare(true);
    id unknown = stemma::no_id; // of no input, and of no operator
    for (id value = 0; value < model.value_count() && unknown == stemma::no_id; ++value) {
        stemma::cut_plan plan;
        plan.inputs = {value};
        const auto reason = types.refuse_unknown(plan, contents);
        CHECK(reason.empty() == (plan.refusal == stemma::cut_refusal::none));
        if (plan.refusal == stemma::cut_refusal::unknown_type) {
            unknown = value;
            CHECK(reason.ends_with("is unknown: nobody knows"));
            CHECK(asked == 1);
            stemma::cut_plan again;
            again.outputs = {value};
            CHECK(types.refuse_unknown(again, contents) == reason);
        }
    }
    CHECK(asked <= 1);
}

TEST_CASE("boundary_types: another library may provide missing types") {
    const auto path = test::fixture("bert_micro/model.onnx");
    const stemma::mapped_file file(path);
    const stemma::wire_model model(file.bytes(), path);
    const stemma::graph_contents contents(model);
    const std::string type("\x0a\x06\x08\x01\x12\x02\x0a\x00", 8); // float, of one dimension
    const auto untyped = [&](stemma::type_inference infer) {
        stemma::detail::boundary_types types(model, std::move(infer));
        std::size_t count = 0;
        for (id value = 0; value < model.value_count(); ++value) {
            stemma::cut_plan plan;
            plan.outputs = {value};
            static_cast<void>(types.refuse_unknown(plan, contents));
            count += plan.refusal == stemma::cut_refusal::unknown_type ? 1U : 0U;
        }
        return count;
    };
    const auto all = untyped([&](const stemma::wire_model& of, stemma::value_types& types) {
        for (id value = 0; value < of.value_count(); ++value) {
            types.add(value, type);
        }
        return std::string();
    });
    CHECK(all == 0);
    CHECK(untyped({}) >= all);
}

TEST_CASE("boundary_types: a refused plan stays refused") {
    const auto path = test::fixture("mlp/model.onnx");
    const stemma::mapped_file file(path);
    const stemma::wire_model model(file.bytes(), path);
    const stemma::graph_contents contents(model);
    stemma::detail::boundary_types types(model);
    stemma::cut_plan plan;
    plan.refusal = stemma::cut_refusal::no_output;
    CHECK(types.refuse_unknown(plan, contents).empty());
    CHECK(plan.refusal == stemma::cut_refusal::no_output);
}

TEST_CASE("find_untyped: a boundary value of unknown type", "[onnx][cut_obstacles]") {
    auto graph = test::graph(
        {test::node("Relu", {"x"}, {"a"}, "first"), test::node("Tanh", {"a"}, {"y"}, "second")},
        {"x"}, {"y"});
    const test::built_model model(test::model(graph));
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
    const test::built_model model(
        test::model(test::graph({test::node("Own", {"x"}, {"y"}, "", "local")}, {"x"}, {"y"}))
            .inner(25, function));
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
    const test::built_model model(
        test::model(test::graph({test::node("Relu", {"x"}, {"v"}, "first"),
                                 test::node("Tanh", {"x"}, {"v"}, "second"),
                                 test::node("Neg", {"v"}, {"a"}, "reader"),
                                 test::node("Abs", {"a"}, {"b"}, "other"),
                                 test::node("Own", {"b"}, {"y"}, "call", "local")},
                                {"x"}, {"y"}))
            .inner(25, function));
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
        const test::built_model model(
            test::model(test::graph({test::node("Neg", {"k"}, {"t"}, "turned"),
                                     test::node("If", {"x"}, {"y"}, "choice")
                                         .inner(5, test::graph_attribute("then_branch", body))},
                                    {"x"}, {"y"}, {"k"})));
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

} // namespace test::cut_detail_boundary_types
