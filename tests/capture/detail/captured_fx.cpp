// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/detail/captured_fx.hpp>

#include "../../catch.hpp"
#include "../../parsed_json.hpp"
#include "../../refusal.hpp"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::capture_detail_captured_fx {

using stemma::id;
using stemma::module_tree;
using stemma::detail::captured_fx;

namespace {

module_tree some_modules() {
    stemma::module_tree_builder builder;
    const std::vector<std::int64_t> shape{4, 8};
    builder.add_parameter(0, {"scale", "float32", shape, true});
    const auto fc = builder.child(0, "fc");
    builder.add_parameter(fc, {"weight", "float32", shape, true});
    const auto whole = builder.child(0, "attention");
    builder.add_parameter(builder.child(whole, "out"), {"weight", "float32", shape, true});
    return builder.build();
}

void add(captured_fx& fx, std::string_view node) {
    fx.read_node(test::parsed_json(node).part(), "file");
}

stemma::captured_operations read(const module_tree& modules,
                                 std::initializer_list<const char*> nodes) {
    captured_fx fx;
    for (const auto* node : nodes) {
        add(fx, node);
    }
    auto graphs = fx.finish(modules);
    REQUIRE(graphs.size() == 1);
    return std::move(graphs.front());
}

} // namespace

TEST_CASE("captured_fx: reads all six kinds of nodes") {
    const auto modules = some_modules();
    const auto operations = read(
        modules,
        {R"({"name":"x","op":"placeholder","target":"x","args":[]})",
         R"({"name":"scale","op":"get_attr","target":"scale","args":[]})",
         R"({"name":"fc","op":"call_module","target":"fc","args":["x"],
             "class":"torch.nn.modules.linear.Linear","module_stack":["","fc"]})",
         R"({"name":"mul","op":"call_function","target":"_operator.mul","args":["fc","scale"],
             "module_stack":[""]})",
         R"({"name":"view","op":"call_method","target":"view","args":["mul"],"module_stack":["","fc"]})",
         R"({"name":"output","op":"output","target":"output","args":["view"]})"});
    REQUIRE(operations.size() == 3);
    CHECK(operations.faults().empty());
    CHECK(operations.names()[operations.names_of(0)[0]] == "torch.nn.modules.linear.Linear");
    CHECK(modules.path(operations[0].module) == "fc");
    CHECK(operations[0].varies);
    REQUIRE(operations.parameters_of(0).size() == 1);
    CHECK(operations.parameter_names()[operations.parameters_of(0)[0].name] == "fc.weight");
    CHECK(operations.parameters_of(0)[0].shape == std::vector<std::int64_t>{4, 8});
    CHECK(operations[1].module == 0);
    REQUIRE(operations.parameters_of(1).size() == 1);
    CHECK(operations.parameter_names()[operations.parameters_of(1)[0].name] == "scale");
    CHECK(ranges::equal(operations.sources_of(1), std::vector<id>{0}));
    CHECK(modules.path(operations[2].module) == "fc");
}

TEST_CASE("captured_fx: a layer of several modules stands for all of them") {
    const auto modules = some_modules();
    const auto operations =
        read(modules, {R"({"name":"a","op":"call_module","target":"attention","args":[]})",
                       R"({"name":"output","op":"output","target":"output","args":["a"]})"});
    REQUIRE(operations.size() == 1);
    CHECK_FALSE(operations[0].exact);
    REQUIRE(operations.parameters_of(0).size() == 1);
    CHECK(operations.parameter_names()[operations.parameters_of(0)[0].name] ==
          "attention.out.weight");
}

TEST_CASE("captured_fx: computations with sizes may leave nothing") {
    const auto modules = some_modules();
    // The second has shapes of tensors, which show the same.
    for (const std::string shape : {"", R"(,"shape":[1])"}) {
        captured_fx fx;
        add(fx, R"({"name":"x","op":"placeholder","target":"x")" + shape + "}");
        add(fx, R"({"name":"s","op":"call_method","target":"size","args":["x"]})");
        add(fx, R"({"name":"g","op":"call_function","target":"_operator.getitem","args":["s"]})");
        add(fx, R"({"name":"d","op":"call_function","target":"_operator.floordiv","args":["g"]})");
        add(fx, R"({"name":"v","op":"call_method","target":"view","args":["x","d"])" + shape + "}");
        add(fx, R"({"name":"output","op":"output","target":"output"})");
        const auto operations = fx.finish(modules).at(0);
        REQUIRE(operations.size() == 4);
        CHECK(operations[0].optional);
        CHECK(operations[1].optional);
        CHECK(operations[2].optional);
        CHECK_FALSE(operations[3].optional);
    }
}

TEST_CASE("captured_fx: a repeated call may leave nothing, a layer of another name may not") {
    const auto operations =
        read(some_modules(),
             {R"({"name":"x","op":"placeholder","target":"x","args":[]})",
              R"({"name":"a","op":"call_function","target":"torch.mul","args":["x"]})",
              R"({"name":"b","op":"call_function","target":"torch.mul","args":["x"]})",
              R"({"name":"c","op":"call_function","target":"torch.cos","args":["b"]})",
              R"({"name":"d","op":"call_module","target":"fc","args":["x"],"class":"Linear"})",
              R"({"name":"e","op":"call_module","target":"other","args":["x"],"class":"Linear"})",
              R"({"name":"output","op":"output","target":"output","args":["c","d","e"]})"});
    REQUIRE(operations.size() == 5);
    CHECK_FALSE(operations[0].optional);
    CHECK(operations[1].optional);
    CHECK_FALSE(operations[4].optional);
    // Its input may be that of the first one.
    CHECK(ranges::equal(operations.sources_of(2), std::vector<id>{1, 0}));
}

TEST_CASE("captured_fx: what the output reads are the results of the model") {
    const auto operations =
        read(some_modules(),
             {R"({"name":"x","op":"placeholder","target":"x","args":[]})",
              R"({"name":"a","op":"call_function","target":"torch.exp","args":["x"]})",
              R"({"name":"b","op":"call_function","target":"torch.abs","args":["x"]})",
              R"({"name":"output","op":"output","target":"output","args":["b","x","a"]})"});
    CHECK(ranges::equal(operations.results(), std::vector<id>{1, 0}));
}

TEST_CASE("captured_fx: nodes of two tracers make two graphs, each with its own names") {
    const auto modules = some_modules();
    captured_fx fx;
    for (const std::string tracer : {"symbolic_trace", "torch.export"}) {
        const auto end = R"(,"tracer":")" + tracer + "\"}";
        add(fx, R"({"name":"x","op":"placeholder","target":"x")" + end);
        add(fx, R"({"name":"a","op":"call_module","target":"fc","args":["x"])" + end);
        if (tracer == "symbolic_trace") {
            add(fx, R"({"name":"output","op":"output","target":"output")" + end);
        }
    }
    const auto graphs = fx.finish(modules);
    REQUIRE(graphs.size() == 2);
    CHECK(graphs[0].size() == 1);
    CHECK(graphs[0].faults().empty());
    CHECK(graphs[1].size() == 1);
    CHECK(graphs[1].faults().size() == 1); // it is truncated
    CHECK(fx.empty());
}

TEST_CASE("captured_fx: selecting one of several results is not an operation") {
    const auto modules = some_modules();
    const auto operations = read(
        modules,
        {R"({"name":"x","op":"placeholder","target":"x","shape":[2]})",
         R"({"name":"a","op":"call_module","target":"attention","args":["x"]})",
         R"({"name":"g","op":"call_function","target":"_operator.getitem","args":["a"],"shape":[2]})",
         R"({"name":"r","op":"call_method","target":"relu","args":["g"],"shape":[2]})",
         R"({"name":"output","op":"output","target":"output"})"});
    REQUIRE(operations.size() == 2);
    CHECK_FALSE(operations[0].optional);
    CHECK(ranges::equal(operations.sources_of(1), std::vector<id>{0}));
}

TEST_CASE("captured_fx: a placeholder may stand for a parameter") {
    const auto modules = some_modules();
    const auto operations =
        read(modules,
             {R"({"name":"p_fc_weight","op":"placeholder","target":"p_fc_weight",
                      "parameter":"fc.weight"})",
              R"({"name":"t","op":"call_function","target":"aten.t.default","args":["p_fc_weight"],
                      "module_stack":["","fc"]})",
              R"({"name":"output","op":"output","target":"output"})"});
    REQUIRE(operations.size() == 1);
    CHECK(operations.parameters_of(0).size() == 1);
    CHECK_FALSE(operations[0].varies);
}

TEST_CASE("captured_fx: a graph without an output is truncated") {
    const auto modules = some_modules();
    const auto operations = read(modules, {R"({"name":"fc","op":"call_module","target":"fc"})"});
    CHECK(operations.faults().size() == 1);
    const auto lost = read(modules, {R"({"name":"fc","op":"call_module","target":"gone"})",
                                     R"({"name":"output","op":"output","target":"output"})"});
    REQUIRE(lost.faults().size() == 1);
    CHECK(lost.faults()[0].find("'gone'") != std::string::npos);
}

TEST_CASE("captured_fx: a layer called many times does not list its parameters forever") {
    constexpr int many = 1100;
    stemma::module_tree_builder builder;
    const auto layer = builder.child(0, "fc");
    for (int i = 0; i < many; ++i) {
        builder.add_parameter(layer, {"p" + std::to_string(i), "float32", {}, true});
    }
    const auto modules = builder.build();
    captured_fx fx;
    const auto call = test::parsed_json(R"({"name":"fc","op":"call_module","target":"fc"})");
    for (int i = 0; i < many; ++i) {
        fx.read_node(call.part(), "file");
    }
    const auto operations = fx.finish(modules).at(0);
    CHECK(operations.size() == many);
    CHECK(operations.parameters_of(0).size() == many);
    CHECK(operations.parameters_of(many - 1).empty());
}

TEST_CASE("captured_fx: there are few graphs") {
    captured_fx fx;
    const auto read_one = [&](int tracer) {
        add(fx, R"({"name":"x","op":"placeholder","target":"x","tracer":")" +
                    std::to_string(tracer) + "\"}");
    };
    for (int tracer = 0; tracer < 64; ++tracer) {
        read_one(tracer);
    }
    read_one(0);
    CHECK_THROWS_WITH(read_one(64), Catch::Contains("is of another graph, after 64"));
}

TEST_CASE("captured_fx: rejects anything but an FX node, naming which one") {
    for (const char* damaged : {"7", "{}", R"({"op":"call_module","name":"a"})",
                                R"({"op":"jump","name":"a","target":"b"})",
                                R"({"op":"output","name":"a","target":"b","args":"c"})"}) {
        INFO(damaged);
        captured_fx fx;
        const auto refusal = test::refusal([&] { add(fx, damaged); });
        CHECK(refusal.code() == stemma::error_code::malformed);
        CHECK(std::string(refusal.what()).find("file: FX node 0: ") == 0);
    }
}

} // namespace test::capture_detail_captured_fx
