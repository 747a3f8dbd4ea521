// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/infer_shapes.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"
#include "../../model_files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace test::types_detail_infer_shapes {

namespace {

/// How far two inferences agree on the values of one model.
struct agreement {
    std::size_t known = 0; ///< to the other one: type and rank
    std::size_t ours = 0;  ///< of these to us
};

agreement compare(const std::string& file, const nlohmann::json& values) {
    const stemma::mapped_file bytes(file);
    const stemma::wire_model model(bytes.bytes(), file);
    stemma::value_types types(model);
    stemma::detail::infer_shapes(model, types);
    agreement result;
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        const auto name = std::string(model.value_name(value));
        if (model.graph_of_value(value) != 0 || model.is_initializer(value) ||
            !values.contains(name) || values[name].is_null() || values[name][1].is_null()) {
            continue;
        }
        ++result.known;
        const auto type = types.type_of(value);
        if (!type) {
            continue;
        }
        ++result.ours;
        const auto described = stemma::detail::describe_type(*type);
        INFO(file << ": " << name << ": " << to_text(described) << ", " << values[name].dump());
        CHECK(described.name == stemma::data_type_name(values[name][0].get<std::int64_t>()));
        REQUIRE(described.shape.size() == values[name][1].size());
        for (std::size_t i = 0; i < described.shape.size(); ++i) {
            const auto* ours = std::get_if<std::int64_t>(&described.shape[i]);
            const auto& theirs = values[name][1][i];
            if (ours != nullptr && *ours >= 0 && theirs.is_number()) {
                CHECK(*ours == theirs.get<std::int64_t>());
            }
        }
    }
    return result;
}

} // namespace

TEST_CASE("infer_shapes: never contradicts onnx's inference, and knows as much",
          "[onnx][infer_shapes]") {
    agreement all;
    for (const auto& shapes : test::files_called("shapes.json", ".json")) {
        const auto model = std::filesystem::path(shapes).parent_path() / "model.onnx";
        if (!std::filesystem::exists(model)) {
            continue;
        }
        const auto counts =
            compare(model.string(), nlohmann::json::parse(test::read_bytes(shapes)).at("values"));
        INFO(model);
        CHECK(counts.ours * 100 >= counts.known * 95);
        all.known += counts.known;
        all.ours += counts.ours;
    }
    CHECK(all.known > 2000);
    CHECK(all.ours * 100 >= all.known * 99);
}

TEST_CASE("shape_inference: a value inferred alone has the same type as with all others",
          "[onnx][infer_shapes]") {
    std::mt19937 random(3);
    std::size_t count = 0;
    for (const auto& file : test::files_called("", ".onnx")) {
        const stemma::mapped_file bytes(file);
        const stemma::wire_model model(bytes.bytes(), file);
        stemma::value_types all(model);
        stemma::detail::infer_shapes(model, all);
        stemma::value_types asked(model);
        stemma::detail::shape_inference inference(model, asked);
        if (random() % 2 == 0) {
            inference.look_at_all();
        }
        std::vector<stemma::id> order(model.value_count());
        std::iota(order.begin(), order.end(), stemma::id{0});
        std::shuffle(order.begin(), order.end(), random);
        for (const auto value : order) {
            inference.find(value);
            INFO(file << ": " << model.value_name(value));
            REQUIRE(asked.type_of(value) == all.type_of(value));
            count += asked.type_of(value) ? 1U : 0U;
        }
    }
    CHECK(count > 10000);
}

TEST_CASE("shape_inference: handles nodes in any order, and cycles", "[onnx][infer_shapes]") {
    auto graph =
        test::graph({test::node("Relu", {"b"}, {"c"}), test::node("Neg", {"a"}, {"b"}),
                     test::node("Add", {"a", "e"}, {"d"}), test::node("Add", {"a", "d"}, {"e"})});
    graph.inner(11, test::typed_value("a", {2, 3}));
    const test::built_model model(test::model(graph));
    stemma::value_types types(model);
    stemma::detail::shape_inference inference(model, types);
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        inference.find(value);
        const auto name = model.value_name(value);
        CHECK(types.type_of(value).has_value() == (name != "d" && name != "e"));
    }
}

TEST_CASE("infer_shapes: sees a function as its calls do", "[onnx][infer_shapes]") {
    const auto call = [](std::uint64_t first, std::uint64_t second) {
        auto graph = test::graph({test::node("Own", {"a"}, {"p"}, "", "local"),
                                  test::node("Own", {"b"}, {"q"}, "", "local")});
        graph.inner(11, test::typed_value("a", {2, first}));
        graph.inner(11, test::typed_value("b", {2, second}));
        const test::inferred_model model(
            test::model(graph).inner(25, test::function("local", "Own", {"x"}, {"y"},
                                                        {test::node("Relu", {"x"}, {"inner"}),
                                                         test::node("Neg", {"inner"}, {"y"})})));
        return model.type_of("p") + " " + model.type_of("q") + " " +
               model.type_of("inner", model.functions()[0].graph);
    };
    CHECK(call(3, 3) == "float32[2,3] float32[2,3] float32[2,3]");
    CHECK(call(3, 4) == "float32[2,3] float32[2,4] float32[2,?]");
}

TEST_CASE("infer_shapes: constants that a call passes are known in the function",
          "[onnx][infer_shapes]") {
    // As inputs, through two calls, and as attributes.
    auto graph = test::graph(
        {test::node("Outer", {"x", "shape"}, {"p"}, "", "local")
             .inner(5, test::message()
                           .text(1, "scale")
                           .inner(5, test::message().packed(1, {3, 1}).number(2, 1))),
         test::node("Outer", {"x", "other"}, {"q"}, "", "local")
             .inner(5, test::message().text(1, "scale").inner(5, test::message().number(2, 1)))});
    graph.inner(11, test::typed_value("x", {2, 6}));
    graph.inner(5, test::whole_numbers("shape", {3, 4}));
    graph.inner(5, test::whole_numbers("other", {12}));
    const test::inferred_model model(
        test::model(graph)
            .inner(25, test::function(
                           "local", "Outer", {"a", "b"}, {"d"},
                           {test::node("Inner", {"a", "b"}, {"c"}, "", "local"),
                            test::node("Constant", {}, {"s"})
                                .inner(5, test::message().text(1, "value").text(21, "scale")),
                            test::node("Mul", {"c", "s"}, {"d"})}))
            .inner(25, test::function("local", "Inner", {"a", "b"}, {"c"},
                                      {test::node("Reshape", {"a", "b"}, {"c"})})));
    CHECK(model.type_of("p") == "float32[3,4]");
    CHECK(model.type_of("q") == "float32[12]");
}

TEST_CASE("infer_shapes: what a call declares is known in the function", "[onnx][infer_shapes]") {
    auto graph = test::graph({test::node("Own", {"a"}, {"p", "q"}, "", "local")});
    graph.inner(11, test::typed_value("a", {2}));
    graph.inner(12, test::typed_value("p", {3}));
    const test::inferred_model model(test::model(graph).inner(
        25, test::function("local", "Own", {"x"}, {"u", "v"},
                           {test::node("Mystery", {"x"}, {"u"}, "", "other"),
                            test::node("Relu", {"u"}, {"v"})})));
    const auto function = model.functions()[0].graph;
    CHECK(model.type_of("u", function) == "float32[3]");
    CHECK(model.type_of("v", function) == "float32[3]");
    CHECK(model.type_of("q") == "float32[3]");
}

TEST_CASE("infer_shapes: infers a function as often as it is called", "[onnx][infer_shapes]") {
    // Functions of `calls` calls in a row, the last of as many Relus.
    const auto type_after = [](int calls, int depth) {
        auto graph = test::graph();
        graph.inner(11, test::typed_value("v0", {2, 3}));
        const auto chain = [calls](const std::string& op, const char* domain) {
            std::vector<test::message> nodes;
            for (int i = 0; i < calls; ++i) {
                nodes.push_back(test::node(op, {"v" + std::to_string(i)},
                                           {"v" + std::to_string(i + 1)}, "", domain));
            }
            return nodes;
        };
        const auto last = "v" + std::to_string(calls);
        for (const auto& call : chain("F0", "local")) {
            graph.inner(1, call);
        }
        auto message = test::model(graph.inner(12, test::message().text(1, last)));
        for (int i = 0; i < depth; ++i) {
            const bool leaf = i + 1 == depth;
            message.inner(25, test::function("local", "F" + std::to_string(i), {"v0"}, {last},
                                             chain(leaf ? "Relu" : "F" + std::to_string(i + 1),
                                                   leaf ? "" : "local")));
        }
        return test::inferred_model(message).type_of(last);
    };
    CHECK(type_after(40, 1) == "float32[2,3]");
    CHECK(type_after(10, 4) == "float32[2,3]");
}

TEST_CASE("infer_shapes: handles endless recursion of functions", "[onnx][infer_shapes]") {
    auto message =
        test::model(test::graph({test::node("F0", {"x"}, {"y"}, "", "local")}, {"x"}, {"y"}));
    constexpr int count = 60;
    for (int i = 0; i < count; ++i) {
        const auto next = "F" + std::to_string((i + 1) % count);
        message.inner(25, test::function("local", "F" + std::to_string(i), {"a"}, {"c"},
                                         {test::node(next, {"a"}, {"b"}, "", "local"),
                                          test::node(next, {"b"}, {"c"}, "", "local")}));
    }
    CHECK_NOTHROW(test::inferred_model(message));
}

TEST_CASE("infer_shapes: ignores unknown operators and newer operator sets",
          "[onnx][infer_shapes]") {
    CHECK(test::inferred(test::inference_scene().input("x", {2}), "SomethingElse", {"x"}).empty());
    CHECK(test::inferred(test::inference_scene().input("x", {2}), "Relu", {"x"}) == "float32[2]");
    CHECK(test::inferred(test::inference_scene().input("x", {2}), "Relu", {"x"}, {}, 1000).empty());
}

} // namespace test::types_detail_infer_shapes
