// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/region_finder.hpp>

#include "../../catch.hpp"
#include "../../evidence_scene.hpp"
#include "../../model_with_metadata.hpp"

#include <stemma/core/id.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_region_finder {

using stemma::no_id;
using texts = std::vector<std::string>;

namespace {

/// The result for every operator: a path, `/` for the root, "" for nothing.
texts regions(test::evidence_scene& scene) {
    using finder =
        stemma::detail::region_finder<test::evidence_scene::operators, stemma::module_tree>;
    texts paths;
    for (auto module : finder(scene.context()).run()) {
        const auto path = module == no_id ? "" : scene.modules().path(module);
        paths.push_back(module == 0 ? "/" : path);
    }
    return paths;
}

/// An operator whose metadata give its module, if any.
test::message op(const char* type, const test::names& inputs, const char* name,
                 const char* module = nullptr) {
    const auto bare = test::node(type, inputs, {name}, name);
    return module == nullptr
               ? bare
               : test::described(bare, test::dynamo({"", "m", module, "op"},
                                                    {"app.Net", "app.M", "app.Part", "aten.op"}));
}

} // namespace

TEST_CASE("region_finder: what lies between operators of one module belongs to it") {
    test::evidence_scene scene(test::graph({op("Erf", {"x"}, "a", "m.act"), op("Add", {"a"}, "b"),
                                            op("Mul", {"b"}, "c", "m.act")},
                                           {"x"}, {"c"}),
                               10);
    CHECK(regions(scene) == texts{"", "m.act", ""});
}

TEST_CASE("region_finder: what lies between two named modules belongs to their common ancestor") {
    test::evidence_scene scene(test::graph({op("Gemm", {"x"}, "a", "m.fc1"), op("Relu", {"a"}, "b"),
                                            op("Gemm", {"b"}, "c", "m.fc2")},
                                           {"x"}, {"c"}),
                               10);
    CHECK(regions(scene) == texts{"", "m", ""});
}

TEST_CASE("region_finder: what a fusion left behind belongs where else its input is read") {
    test::evidence_scene scene(
        test::graph({op("Gemm", {"x"}, "a", "m.fc"), op("Transpose", {"a"}, "b", "m.fc"),
                     op("ReduceMean", {"b"}, "c"), op("LayerNormalization", {"b"}, "d", "m.norm"),
                     op("Relu", {"d"}, "e")},
                    {"x"}, {"e"}),
        10);
    const auto modules = regions(scene);
    CHECK(modules[2] == "m.norm");
    CHECK(modules[4] != "");
}

TEST_CASE("region_finder: a module computes what it reads from its own parameters") {
    auto graph =
        test::graph({op("ReduceMean", {"m.fc.weight"}, "mean"), op("Sqrt", {"mean"}, "s"),
                     op("Div", {"m.fc.weight", "s"}, "scaled"), op("Mul", {"scaled", "s"}, "w"),
                     op("Gemm", {"x", "w", "m.fc.bias"}, "y"), op("Add", {"y", "s"}, "z"),
                     op("Gemm", {"z", "m.last.weight"}, "out")},
                    {"x"}, {"out"});
    for (const char* name : {"m.fc.weight", "m.fc.bias", "m.last.weight"}) {
        graph.inner(5, test::tensor(name, {4, 4}));
    }
    test::evidence_scene shared(graph, 10);
    CHECK(regions(shared)[1] == "m"); // `z` reads it, too
    CHECK(regions(shared)[3] == "m.fc");
}

TEST_CASE(
    "region_finder: a shape serves a named operator, or the caller of one that reads weights") {
    auto graph =
        test::graph({op("Shape", {"x"}, "shape"), op("Reshape", {"x", "shape"}, "r", "m.head"),
                     op("Size", {"x"}, "size"), op("Gather", {"table", "size"}, "e", "m.emb"),
                     op("Add", {"r", "e"}, "y", "m.head")},
                    {"x"}, {"y"});
    graph.inner(5, test::tensor("table", {4, 4}));
    test::evidence_scene scene(graph, 10);
    CHECK(regions(scene) == texts{"m.head", "", "m", "", ""});
}

TEST_CASE(
    "region_finder: an If that reads data only in its bodies is surrounded by their modules") {
    const auto branch = [](const char* result) {
        return test::graph({test::node("Relu", {"b"}, {result}, result)}, {}, {result});
    };
    const auto choice = test::owner_node("If", {"c"}, {"i"},
                                         {test::graph_attribute("then_branch", branch("t")),
                                          test::graph_attribute("else_branch", branch("e"))},
                                         "i");
    test::evidence_scene scene(
        test::graph({op("Gemm", {"x"}, "a", "m.fc1"), op("Relu", {"a"}, "b"),
                     op("Shape", {"b"}, "s"), op("Cast", {"s"}, "c"), choice,
                     op("Relu", {"i"}, "r"), op("Gemm", {"r"}, "y", "m.fc2")},
                    {"x"}, {"y"}),
        10);
    const auto paths = regions(scene);
    for (const auto* name : {"b", "s", "c", "i", "r"}) {
        CHECK(paths[scene.node(name)] == "m");
    }
}

TEST_CASE("region_finder: at the end of a model, what others read too has left its module") {
    auto graph = test::graph({op("Gather", {"emb.a.weight", "x"}, "a"),
                              op("Gather", {"emb.b.weight", "x"}, "b"), op("Add", {"a", "b"}, "c"),
                              op("MatMul", {"c", "deep.weight"}, "d"), op("Pow", {"c"}, "p"),
                              op("ReduceSum", {"p"}, "r"), op("Add", {"d", "r"}, "y")},
                             {"x"}, {"y"});
    for (const auto* name : {"emb.a.weight", "emb.b.weight", "deep.weight"}) {
        graph.inner(5, test::tensor(name, {4, 4}));
    }
    test::evidence_scene scene(graph, 10);
    const auto paths = regions(scene);
    CHECK(paths[scene.node("c")] == "emb");
    CHECK(paths[scene.node("p")] == "/");
    CHECK(paths[scene.node("r")] == "/");
}

TEST_CASE("region_finder: results of unknown modules meet behind the module that these follow") {
    auto graph = test::graph(
        {op("MatMul", {"x", "block.0.a.weight"}, "a"), op("MatMul", {"x", "block.0.b.weight"}, "b"),
         op("MatMul", {"a", "val_0"}, "q"), op("MatMul", {"b", "val_1"}, "k"),
         op("Mul", {"q", "k"}, "m"), op("MatMul", {"m", "block.1.c.weight"}, "y")},
        {"x"}, {"y"});
    for (const auto* name :
         {"block.0.a.weight", "block.0.b.weight", "val_0", "val_1", "block.1.c.weight"}) {
        graph.inner(5, test::tensor(name, {4, 4}));
    }
    test::evidence_scene scene(graph, 10);
    CHECK(regions(scene)[scene.node("m")] == "/");
}

} // namespace test::evidence_detail_region_finder
