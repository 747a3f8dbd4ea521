// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/recorded_origins.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace test::record_detail_recorded_origins {

using stemma::id;
using stemma::no_id;
using test::message;
using test::node;

namespace {

// The root, a block with four children, and another one with one.
const stemma::tree_index tree(std::vector<id>{no_id, 0, 1, 1, 1, 1, 0, 6});
constexpr id block = 1, conv = 2, norm = 3, relu = 4, pool = 5, head = 6, fc = 7;

std::string bytes_of(const std::vector<message>& nodes, const std::string& output) {
    return test::model(test::graph(nodes, {"x"}, {output}, {"w", "b"})).bytes();
}

/// conv -> norm -> relu -> pool -> fc, and a constant, each in its own module.
std::string original() {
    return bytes_of({node("Conv", {"x", "w"}, {"c"}), node("BatchNormalization", {"c", "b"}, {"n"}),
                     node("Relu", {"n"}, {"r"}), node("MaxPool", {"r"}, {"p"}),
                     node("Constant", {}, {"k"}), node("Reshape", {"p", "k"}, {"s"}),
                     node("Gemm", {"s", "w"}, {"y"})},
                    "y");
}

/// The sketch of a graph with a node in each of these modules.
stemma::detail::graph_sketch sketch(const std::string& bytes, const std::vector<id>& modules,
                                    const stemma::tree_index& of = tree) {
    std::vector<stemma::attribution> attributions;
    for (const auto module : modules) {
        attributions.push_back({module, no_id, 0.95F, stemma::provenance::scope, false});
    }
    return *stemma::detail::graph_sketch::read(
        stemma::detail::sketch_of(stemma::wire_model(bytes), attributions), of.size());
}

stemma::detail::graph_sketch sketch() {
    return sketch(original(), {conv, norm, relu, pool, head, head, fc});
}

/// Returns: the module of each node of another graph, `no_id` if unknown.
std::vector<id> modules_of(const std::string& bytes,
                           const std::vector<stemma::detail::node_mark_found>& marks = {},
                           const stemma::detail::graph_sketch& then = sketch()) {
    const stemma::wire_model model(bytes);
    std::vector<id> modules;
    for (const auto& origin : stemma::detail::find_recorded_origins(model, then, tree, marks).of) {
        modules.push_back(origin.module);
        CHECK((origin.module == no_id || origin.source == stemma::provenance::recorded));
    }
    return modules;
}

} // namespace

TEST_CASE("find_recorded_origins: remaining nodes keep their modules, by their values alone") {
    CHECK(modules_of(original()) == std::vector<id>{conv, norm, relu, pool, head, head, fc});
}

TEST_CASE("find_recorded_origins: a fused node belongs to the common ancestor of its origins") {
    CHECK(modules_of(bytes_of({node("FusedConv", {"x", "w"}, {"r"}, "", "com.microsoft"),
                               node("MaxPool", {"r"}, {"p"}), node("Reshape", {"p", "k"}, {"s"}),
                               node("Gemm", {"s", "w"}, {"y"})},
                              "y")) == std::vector<id>{block, pool, head, fc});
    // Reshape and Gemm, across the boundary of the module below.
    CHECK(modules_of(bytes_of({node("Conv", {"x", "w"}, {"c"}),
                               node("BatchNormalization", {"c", "b"}, {"n"}),
                               node("Relu", {"n"}, {"r"}), node("MaxPool", {"r"}, {"p"}),
                               node("FusedGemm", {"p", "w"}, {"y"}, "", "com.microsoft")},
                              "y")) == std::vector<id>{conv, norm, relu, pool, head});
}

TEST_CASE(
    "find_recorded_origins: missing successors were absorbed by the node whose value is new") {
    const auto bytes =
        bytes_of({node("Conv", {"x", "w"}, {"new"}, "kept"), node("Relu", {"new"}, {"r"}),
                  node("MaxPool", {"r"}, {"p"}), node("Reshape", {"p", "k"}, {"s"}),
                  node("Gemm", {"s", "w"}, {"y"})},
                 "y");
    CHECK(modules_of(bytes, {{0, 0}}) == std::vector<id>{block, relu, pool, head, fc});
}

TEST_CASE("find_recorded_origins: a node does itself what it no longer reads from another") {
    // The Relu is left for the MaxPool beside.
    const std::vector<message> before{node("Conv", {"x", "w"}, {"c"}), node("Relu", {"c"}, {"r"}),
                                      node("MaxPool", {"r"}, {"p"}),
                                      node("Gemm", {"r", "w"}, {"y"})};
    auto after = before;
    after.back() = node("FusedGemm", {"c", "w"}, {"y"}, "", "com.microsoft");
    const auto then = sketch(bytes_of(before, "y"), {conv, relu, pool, fc});
    CHECK(modules_of(bytes_of(before, "y"), {}, then).back() == fc);
    CHECK(modules_of(bytes_of(after, "y"), {}, then).back() == 0);
}

TEST_CASE("find_recorded_origins: a node that makes the values of several stands for them all") {
    CHECK(modules_of(bytes_of({node("Both", {"x", "w"}, {"c", "n"}), node("Relu", {"n"}, {"r"}),
                               node("MaxPool", {"r"}, {"p"}), node("Reshape", {"p", "k"}, {"s"}),
                               node("Gemm", {"s", "w"}, {"y"})},
                              "y")) == std::vector<id>{block, relu, pool, head, fc});
}

TEST_CASE(
    "find_recorded_origins: a node that makes very many values stands for the first, roughly") {
    for (const std::size_t count : {2U, 1000U}) {
        std::vector<message> before;
        std::vector<std::string> outputs;
        std::vector<id> modules;
        for (std::size_t i = 0; i < count; ++i) {
            outputs.push_back("o" + std::to_string(i));
            before.push_back(node("Relu", {"x"}, {outputs.back()}));
            modules.push_back(i < 500 ? norm : fc);
        }
        const auto then = sketch(bytes_of(before, "o0"), modules);
        const test::built_model now(bytes_of({node("Split", {"x"}, outputs)}, "o0"));
        const auto origin = stemma::detail::find_recorded_origins(now, then, tree, {}).of.front();
        CHECK(origin.module == norm);
        CHECK(origin.exact == (count == 2));
    }
}

TEST_CASE("find_recorded_origins: the name of a node that absorbed others is no evidence") {
    const auto doubtful = [](const message& moved) {
        const test::built_model model(
            bytes_of({node("Conv", {"x", "w"}, {"c"}), moved, node("MaxPool", {"new"}, {"p"}),
                      node("Reshape", {"p", "k"}, {"s"}), node("Gemm", {"s", "w"}, {"y"})},
                     "y"));
        const std::vector<stemma::detail::node_mark_found> marks{{1, 2}};
        const auto then = sketch();
        const auto origin = stemma::detail::find_recorded_origins(model, then, tree, marks).of[1];
        CHECK(origin.module == block);
        return origin.doubtful;
    };
    CHECK(doubtful(node("Relu", {"c"}, {"new"}, "r_nchwc")));
    CHECK_FALSE(doubtful(node("Other", {"c"}, {"new", "r"}, "")));
}

TEST_CASE("find_recorded_origins: names that runtimes derive from values lead to these") {
    const auto bytes =
        bytes_of({node("Conv", {"x", "w"}, {"reorder"}, "r_nchwc", "com.microsoft.nchwc"),
                  node("MaxPool", {"reorder"}, {"reorder_1"}, "p_nchwc", "com.microsoft.nchwc"),
                  node("ReorderOutput", {"reorder_1"}, {"p"}, "ReorderOutput_token_3",
                       "com.microsoft.nchwc"),
                  node("Reshape", {"p", "k"}, {"s"}), node("Gemm", {"s", "w"}, {"y"}, "y_12")},
                 "y");
    CHECK(modules_of(bytes) == std::vector<id>{block, pool, pool, head, fc});
    // A bare number may be part of another name.
    CHECK(modules_of(bytes_of({node("Tanh", {"x"}, {"t"}, "r_12")}, "t")) ==
          std::vector<id>{no_id});
}

TEST_CASE(
    "find_recorded_origins: what comes after a value that is left was not absorbed before it") {
    const auto bytes =
        bytes_of({node("Conv", {"x", "w"}, {"reorder"}, "c_nchwc", "com.microsoft.nchwc"),
                  node("ReorderOutput", {"reorder"}, {"c"}, "", "com.microsoft.nchwc"),
                  node("MaxPool", {"c"}, {"p"}), node("Reshape", {"p", "k"}, {"s"}),
                  node("Gemm", {"s", "w"}, {"y"})},
                 "y");
    CHECK(modules_of(bytes) == std::vector<id>{conv, conv, block, head, fc});
}

TEST_CASE("find_recorded_origins: names are kept although operators of a type were taken apart") {
    // Convolutions make what others made, of whose types no operator is left.
    const auto bytes = bytes_of({node("Conv", {"x", "w"}, {"c"}), node("Conv", {"c", "b"}, {"n"}),
                                 node("Conv", {"n", "b"}, {"r"}), node("Conv", {"r", "b"}, {"p"})},
                                "p");
    CHECK(modules_of(bytes) == std::vector<id>{conv, norm, relu, pool});
}

TEST_CASE("find_recorded_origins: a Reshape inserted for a product belongs to it") {
    const auto bytes =
        bytes_of({node("Conv", {"x", "w"}, {"c"}), node("BatchNormalization", {"c", "b"}, {"n"}),
                  node("Relu", {"n"}, {"r"}), node("MaxPool", {"r"}, {"p"}),
                  node("Reshape", {"p", "k"}, {"s"}), node("Reshape", {"s", "k"}, {"flat"}),
                  node("Gemm", {"flat", "w"}, {"y"})},
                 "y");
    CHECK(modules_of(bytes) == std::vector<id>{conv, norm, relu, pool, head, fc, fc});
}

TEST_CASE("find_recorded_origins: what was inlined for an operator belongs where its readers do") {
    const auto bytes =
        bytes_of({node("Conv", {"x", "w"}, {"c"}), node("BatchNormalization", {"c", "b"}, {"n"}),
                  node("Exp", {"n"}, {"_inlfunc_Mish_a"}),
                  node("Tanh", {"_inlfunc_Mish_a"}, {"_inlfunc_Mish_b"}),
                  node("Mul", {"n", "_inlfunc_Mish_b"}, {"r"}), node("MaxPool", {"r"}, {"p"}),
                  node("Reshape", {"p", "k"}, {"s"}), node("Gemm", {"s", "w"}, {"y"}),
                  node("Exp", {"y"}, {"_inlfunc_Mish_unread"})},
                 "y");
    CHECK(modules_of(bytes) ==
          std::vector<id>{conv, norm, relu, relu, relu, pool, head, fc, no_id});
    // Read in two modules.
    CHECK(modules_of(bytes_of({node("Conv", {"x", "w"}, {"c"}), node("Exp", {"c"}, {"_inlfunc_a"}),
                               node("BatchNormalization", {"_inlfunc_a", "b"}, {"n"}),
                               node("Relu", {"_inlfunc_a"}, {"r"})},
                              "r")) == std::vector<id>{conv, block, norm, relu});
}

TEST_CASE("find_recorded_origins: conversions of layout stand for transpositions alone") {
    // Each in its own module.
    const auto then = sketch(bytes_of({node("Relu", {"x"}, {"a"}), node("Transpose", {"a"}, {"t"}),
                                       node("Conv", {"t", "w"}, {"c"}), node("Relu", {"c"}, {"r"}),
                                       node("MaxPool", {"r"}, {"p"})},
                                      "p"),
                             {head, fc, conv, relu, pool});
    const auto now =
        bytes_of({node("Relu", {"x"}, {"a"}),
                  node("ReorderInput", {"a"}, {"reorder"}, "", "com.microsoft.nchwc"),
                  node("Conv", {"reorder", "w"}, {"reorder_1"}, "c_nchwc", "com.microsoft.nchwc"),
                  node("ReorderOutput", {"reorder_1"}, {"r"}, "", "com.microsoft.nchwc"),
                  node("MaxPool", {"r"}, {"p"})},
                 "p");
    // The transposition became part of the first conversion, the activation of the convolution.
    CHECK(modules_of(now, {}, then) == std::vector<id>{head, fc, block, block, pool});
}

TEST_CASE("find_recorded_origins: marks count if all values were renamed") {
    const auto renamed =
        bytes_of({node("Conv", {"x", "w"}, {"1"}), node("BatchNormalization", {"1", "b"}, {"2"}),
                  node("Relu", {"2"}, {"3"}), node("MaxPool", {"3"}, {"4"})},
                 "4");
    CHECK(modules_of(renamed) == std::vector<id>(4, no_id));
    CHECK(modules_of(renamed, {{0, 0}, {1, 1}, {2, 2}, {3, 3}}) ==
          std::vector<id>{conv, norm, relu, pool});
    // Renumbered, so that they have others' names.
    const auto shifted =
        bytes_of({node("Conv", {"x", "w"}, {"n"}), node("BatchNormalization", {"n", "b"}, {"r"}),
                  node("Relu", {"r"}, {"p"}), node("MaxPool", {"p"}, {"s"})},
                 "s");
    CHECK(modules_of(shifted, {{0, 0}, {1, 1}, {2, 2}, {3, 3}}) ==
          std::vector<id>{conv, norm, relu, pool});
}

TEST_CASE("find_recorded_origins: a mark copied to another node does not count") {
    // By the name of its result.
    CHECK(modules_of(original(), {{0, 0}, {6, 0}}) ==
          std::vector<id>{conv, norm, relu, pool, head, head, fc});
    // By its neighbours: a new node after the last one has the mark of the first.
    const auto longer =
        bytes_of({node("Conv", {"x", "w"}, {"c"}), node("BatchNormalization", {"c", "b"}, {"n"}),
                  node("Relu", {"n"}, {"r"}), node("MaxPool", {"r"}, {"p"}),
                  node("Reshape", {"p", "k"}, {"s"}), node("Gemm", {"s", "w"}, {"y"}),
                  node("Cast", {"y"}, {"z"})},
                 "z");
    CHECK(modules_of(longer, {{0, 0}, {6, 0}}).back() == no_id);
    CHECK(modules_of(longer, {{0, 0}, {6, 6}}).back() == fc);
    // Nor one that did not exist.
    CHECK(modules_of(longer, {{6, 1000}}).back() == no_id);
}

TEST_CASE("find_recorded_origins: marks exchanged between equal operators are doubtful") {
    std::vector<test::message> nodes;
    for (int i = 0; i < 16; ++i) {
        nodes.push_back(node("Relu", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)}));
    }
    const stemma::tree_index many(std::vector<id>(17, 0));
    std::vector<id> modules(nodes.size());
    std::iota(modules.begin(), modules.end(), id{1});
    const auto then =
        sketch(test::model(test::graph(nodes, {"v0"}, {"v16"})).bytes(), modules, many);
    std::vector<test::message> renamed;
    std::vector<stemma::detail::node_mark_found> marks;
    for (id i = 0; i < 16; ++i) {
        renamed.push_back(node("Relu", {"r" + std::to_string(i)}, {"r" + std::to_string(i + 1)}));
        marks.push_back({i, i == 2 ? 12 : i == 12 ? 2 : i});
    }
    const test::built_model now(renamed, {"r0"}, {"r16"});
    const auto origins = stemma::detail::find_recorded_origins(now, then, many, marks).of;
    for (id i = 0; i < 16; ++i) {
        CHECK((origins[i].confidence > 0.5F) == (i != 2 && i != 12));
    }
}

TEST_CASE("find_recorded_origins: several marks on a node are several origins") {
    const auto merged =
        bytes_of({node("Conv", {"x", "w"}, {"1"}), node("MaxPool", {"1"}, {"2"})}, "2");
    CHECK(modules_of(merged, {{0, 0}, {0, 2}, {1, 3}}) == std::vector<id>{block, pool});
}

} // namespace test::record_detail_recorded_origins
