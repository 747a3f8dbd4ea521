// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/align_graphs.hpp>

#include "../catch.hpp"
#include "../comparable_scene.hpp"

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/core/id.hpp>

#include <string>
#include <vector>

namespace test::align_align_graphs {

using stemma::align_graphs;
using stemma::comparable_graph;
using stemma::id;
using stemma::origin_kind;
using scene = test::comparable_scene;
using ids = std::vector<id>;

namespace {

ids origins(const stemma::graph_alignment& aligned, id op) {
    const auto all = aligned.origins(op);
    return {all.begin(), all.end()};
}

scene original() {
    scene model({"x"});
    model.add("Conv", {"x", "w1"}, "conv").add("Relu", {"conv"}, "relu");
    model.add("MatMul", {"relu", "w2"}, "product").add("Add", {"product", "w3"}, "sum");
    model.result("sum");
    return model;
}

} // namespace

TEST_CASE("align_graphs: a graph matches itself", "[align]") {
    const auto before = original();
    const auto aligned = align_graphs(before.graph, original().graph);
    for (id op = 0; op < before.graph.operator_count(); ++op) {
        CHECK(origins(aligned, op) == ids{op});
        CHECK(aligned.of(op).kind == origin_kind::kept);
        CHECK(aligned.basis(before.graph.outputs(op)[0]) ==
              stemma::graph_alignment::match_basis::computed);
    }
}

TEST_CASE("align_graphs: a fused operator stands for everything between remaining values",
          "[align]") {
    const auto before = original();
    scene after({"x"});
    after.add("com.microsoft::FusedConv", {"x", "w1"}, "relu", "fused");
    after.add("Gemm", {"relu", "w2", "w3"}, "sum").result("sum");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 0) == ids{0, 1});
    CHECK(origins(aligned, 1) == ids{2, 3});
    CHECK(aligned.of(0).kind == origin_kind::replaced);
}

TEST_CASE("align_graphs: an inserted operator belongs to its producer's or its reader's module",
          "[align]") {
    const auto before = original();
    scene after({"x"});
    after.add("Conv", {"x", "w1"}, "conv").add("Relu", {"conv"}, "relu");
    after.add("QuantizeLinear", {"relu"}, "relu_q").add("DequantizeLinear", {"relu_q"}, "relu_dq");
    after.add("DequantizeLinear", {"w2_quantized"}, "w2_dq");
    after.add("MatMul", {"relu_dq", "w2_dq"}, "product").add("Add", {"product", "w3"}, "sum");
    after.result("sum");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 2) == ids{1});
    CHECK(origins(aligned, 3) == ids{1});
    CHECK(aligned.of(3).kind == origin_kind::inserted);
    CHECK(origins(aligned, 4) == ids{2});
    CHECK(aligned.of(4).kind == origin_kind::served);
    CHECK(origins(aligned, 5) == ids{2});
    CHECK(origins(aligned, 6) == ids{3});
}

TEST_CASE("align_graphs: what a quantizer puts around a product belongs to the product",
          "[align]") {
    const auto before = original();
    scene after({"x"});
    after.add("Conv", {"x", "w1"}, "conv").add("Relu", {"conv"}, "relu");
    after.add("DynamicQuantizeLinear", {"relu"}, "a b z");
    after.add("MatMulInteger", {"a", "w2_quantized", "z"}, "c").add("Cast", {"c"}, "d");
    after.add("Mul", {"b", "w2_scale"}, "e").add("Mul", {"d", "e"}, "f");
    after.add("Add", {"f", "w3"}, "g");
    after.result("g");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 2) == ids{1});
    for (id op = 3; op < 7; ++op) {
        CAPTURE(op);
        CHECK(origins(aligned, op) == ids{2});
    }
    CHECK(origins(aligned, 7) == ids{3});
}

TEST_CASE("align_graphs: an operator ends where its result is passed on to one that goes on",
          "[align]") {
    scene before({"x"});
    before.add("Conv", {"x", "w1"}, "a").add("Relu", {"a"}, "b");
    before.add("Conv", {"b", "w2"}, "c").add("Relu", {"c"}, "d").result("d");
    scene after({"x"});
    after.add("com.microsoft.nchwc::Conv", {"x", "w1_blocked"}, "t1", "b_nchwc");
    after.add("com.microsoft.nchwc::ReorderOutput", {"t1"}, "b", "reorder");
    after.add("com.microsoft.nchwc::Conv", {"b", "w2_blocked"}, "t2", "d_nchwc");
    after.add("com.microsoft.nchwc::ReorderOutput", {"t2"}, "d", "reorder_1").result("d");
    const auto aligned = align_graphs(before.graph, after.graph);
    for (id op = 0; op < 4; ++op) {
        CAPTURE(op);
        CHECK(origins(aligned, op) == (op < 2 ? ids{0, 1} : ids{2, 3}));
        CHECK(aligned.of(op).kind == (op % 2 == 0 ? origin_kind::replaced : origin_kind::inserted));
    }
}

TEST_CASE("align_graphs: what is reshaped for a matrix product belongs to the product", "[align]") {
    const auto before = original();
    for (const bool named : {true, false}) {
        scene after({"x"});
        after.add("Conv", {"x", "w1"}, "conv").add("Relu", {"conv"}, named ? "relu" : "a");
        after.add("Reshape", {named ? "relu" : "a", "s1"}, "flat");
        after.add("Gemm", {"flat", "w2", "w3"}, "rows");
        after.add("Reshape", {"rows", "s2"}, named ? "sum" : "b").result(named ? "sum" : "b");
        const auto aligned = align_graphs(before.graph, after.graph);
        CHECK(origins(aligned, 2) == origins(aligned, 3));
        CHECK(aligned.of(2).kind == origin_kind::served);
        CHECK(origins(aligned, 3).front() == 2);
        CHECK(origins(aligned, 4).back() == 3);
    }
}

TEST_CASE("align_graphs: the reader of a folded constant stands for what computed that, too",
          "[align]") {
    scene shapes({"x"});
    shapes.add("Shape", {"x"}, "s").add("Shape", {"s"}, "t").add("ConstantOfShape", {"t"}, "c");
    shapes.add("Equal", {"s", "c"}, "y").result("y");
    scene data({"x"});
    data.add("Exp", {"x"}, "s").add("Neg", {"w1"}, "c").add("Mul", {"s", "c"}, "y").result("y");
    for (const auto* name : {"c", "w2"}) { // whether it kept its name
        scene after({"x"});
        after.add("Shape", {"x"}, "s").add("Equal", {"s", name}, "y").result("y");
        CHECK(origins(align_graphs(shapes.graph, after.graph), 1) == ids{1, 2, 3});
        // If some compute with data, only those count.
        scene other({"x"});
        other.add("Exp", {"x"}, "s").add("Mul", {"s", name}, "y").result("y");
        CHECK(origins(align_graphs(data.graph, other.graph), 1) == ids{2});
    }
}

TEST_CASE("align_graphs: names reused for other values are ignored", "[align]") {
    scene before({"x"});
    scene after({"x"});
    after.add("Identity", {"x"}, "v0");
    std::string last = "x";
    std::string now = "v0";
    for (int i = 0; i < 8; ++i) {
        const auto weight = "w" + std::to_string(i);
        const auto name = "v" + std::to_string(i);
        before.add("MatMul", {last, weight}, name);
        last = name;
        const auto next = "v" + std::to_string(i + 1);
        after.add("MatMul", {now, weight}, next);
        now = next;
    }
    const auto aligned = align_graphs(before.graph, after.graph);
    for (id op = 1; op <= 8; ++op) {
        CHECK(origins(aligned, op) == ids{op - 1});
    }
}

TEST_CASE("align_graphs: constants computed in advance may equal others without a doubt of names",
          "[align]") {
    scene before({"x"});
    before.add("Reshape", {"x", "w"}, "r0").add("Neg", {"r0"}, "v0");
    scene after({"x"});
    after.add("Fused", {"x"}, "v0");
    for (int i = 1; i < 5; ++i) {
        const auto number = std::to_string(i);
        const auto last = "v" + std::to_string(i - 1);
        const auto shape = "w'" + number; // with the contents of `w`, once stored
        before.add("Shape", {last}, shape).add("Reshape", {last, shape}, "r" + number);
        before.add("Neg", {"r" + number}, "v" + number);
        after.add("Reshape", {last, shape}, "r" + number).add("Neg", {"r" + number}, "v" + number);
    }
    const auto aligned = align_graphs(before.result("v4").graph, after.result("v4").graph);
    for (id i = 1; i < 5; ++i) {
        CHECK(origins(aligned, 2 * i - 1) == ids{3 * i});
        CHECK(origins(aligned, 2 * i) == ids{3 * i + 1});
        CHECK(aligned.basis(after.value("r" + std::to_string(i))) ==
              stemma::graph_alignment::match_basis::named);
    }
}

TEST_CASE("align_graphs: a renamed input is not matched with those that kept their names",
          "[align]") {
    scene before({"a", "b"});
    before.add("Sigmoid", {"a"}, "l").add("Sigmoid", {"b"}, "r").result("l").result("r");
    scene after({"b", "x"});
    after.add("Sigmoid", {"b"}, "1").add("Sigmoid", {"x"}, "2").result("2").result("1");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 0) == ids{1});
    CHECK(origins(aligned, 1) == ids{0});
}

TEST_CASE("align_graphs: without names, matches by contents and neighbours", "[align]") {
    scene before({"x"});
    before.add("MatMul", {"x", "w1"}, "a").add("Softmax", {"a"}, "b");
    before.add("MatMul", {"b", "w2"}, "c").result("c");
    scene after({"in"});
    after.add("Mul", {"in", "w9"}, "p").add("MatMul", {"p", "w1'"}, "q");
    after.add("Softmax", {"q"}, "r").add("MatMul", {"r", "w2'"}, "s").result("s");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 1) == ids{0});
    CHECK(origins(aligned, 2) == ids{1});
    CHECK(origins(aligned, 3) == ids{2});
}

TEST_CASE("align_graphs: without names, a fused operator stands for its main operator and those it "
          "absorbed",
          "[align]") {
    scene before({"x"});
    before.add("MatMul", {"x", "w1"}, "a").add("Add", {"a", "w2"}, "b").add("Relu", {"b"}, "c");
    before.add("MatMul", {"c", "w3"}, "d").add("Add", {"d", "w4"}, "e").add("Add", {"e", "c"}, "f");
    before.result("f");
    scene after({"1"});
    after.add("Gemm", {"1", "w1", "w2"}, "2").add("Relu", {"2"}, "3");
    after.add("Gemm", {"3", "w3", "w4"}, "4").add("Add", {"4", "3"}, "5").result("5");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 0) == ids{0, 1});
    CHECK(origins(aligned, 1) == ids{2});
    CHECK(origins(aligned, 2) == ids{3, 4});
    CHECK(origins(aligned, 3) == ids{5});
}

TEST_CASE("align_graphs: calls that share a parameter are told apart by their order", "[align]") {
    scene before({"x"});
    before.add("MatMul", {"x", "w1"}, "a").add("Add", {"a", "w2"}, "b").add("Erf", {"b"}, "c");
    before.add("MatMul", {"c", "w1"}, "d").add("Add", {"d", "w2"}, "e").result("e");
    scene after({"x"});
    after.add("Gemm", {"x", "w1", "w2"}, "1").add("Erf", {"1"}, "2");
    after.add("Gemm", {"2", "w1", "w2"}, "3").result("3");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 0) == ids{0, 1});
    CHECK(origins(aligned, 1) == ids{2});
    CHECK(origins(aligned, 2) == ids{3, 4});
}

TEST_CASE("align_graphs: calls that share a copied parameter are told apart by their inputs",
          "[align]") {
    scene before({"x", "y"});
    before.add("Identity", {"w1"}, "copy").add("Neg", {"x"}, "a").add("MatMul", {"a", "w1"}, "b");
    before.add("Neg", {"y"}, "c").add("MatMul", {"c", "copy"}, "d").add("Sub", {"b", "d"}, "e");
    before.result("e");
    scene after({"1", "2"});
    after.add("Own", {"2"}, "3").add("Gemm", {"3", "w1"}, "4").add("Own", {"1"}, "5");
    after.add("Gemm", {"5", "w1"}, "6").add("Own", {"6", "4"}, "7").result("7");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 1) == ids{4});
    CHECK(origins(aligned, 3) == ids{2});
}

TEST_CASE("align_graphs: what is reshaped for a known product was made by what made its input",
          "[align]") {
    scene before({"x"});
    before.add("Erf", {"x"}, "a").add("Mul", {"a", "x"}, "b").add("MatMul", {"b", "w1"}, "c");
    before.add("Add", {"c", "w2"}, "d").result("d");
    scene after({"1"});
    after.add("Gelu", {"1"}, "2").add("Reshape", {"2", "s1"}, "3");
    after.add("Gemm", {"3", "w1", "w2"}, "4").add("Reshape", {"4", "s2"}, "5").result("5");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 0) == ids{0, 1});
    CHECK(origins(aligned, 1) == ids{2, 3});
    CHECK(origins(aligned, 2) == ids{2, 3});
}

TEST_CASE("align_graphs: empty graphs", "[align]") {
    CHECK(align_graphs(comparable_graph{}, comparable_graph{}).size() == 0);
    const auto aligned = align_graphs(comparable_graph{}, original().graph);
    CHECK(aligned.size() == 4);
    for (stemma::id op = 0; op < 4; ++op) {
        CHECK(aligned.of(op).kind == origin_kind::unknown);
    }
}

TEST_CASE("align_graphs: an operator found by its name may omit its first output", "[align]") {
    scene before({"x"});
    before.add("LSTM", {"x", "w1"}, "states", "lstm").add("Relu", {"states"}, "relu", "relu");
    const ids outputs{stemma::no_id, before.value("relu")};
    before.graph.add_operator({.type = "LSTM", .name = "last"}, ids{before.value("states")},
                              outputs);
    before.result("relu");
    scene after({"x"});
    after.add("LSTM", {"x", "w2"}, "states", "lstm").add("Gelu", {"states"}, "gelu", "gelu");
    after.add("LSTM", {"gelu"}, "all", "last").result("all");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 2) == ids{2});
}

TEST_CASE("align_graphs: a cycle of operators ends", "[align]") {
    scene before({"x"});
    before.add("Conv", {"x", "w1"}, "conv");
    before.graph.add_operator({.type = "Relu"}, ids{before.value("conv")},
                              ids{before.value("conv")});
    scene after({"x"});
    after.add("com.microsoft::FusedConv", {"x", "w1"}, "relu").result("relu");
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 0) == ids{1});
}

TEST_CASE("align_graphs: of equal constants, each is the one that its reader's counterpart reads",
          "[align]") {
    const auto scaled = [](const std::string& first, const std::string& second, bool in_order,
                           const std::vector<std::string>& names) {
        scene model({"x"});
        model.constant(in_order ? first : second).constant(in_order ? second : first);
        model.add("MatMul", {"x", "w1"}, names[0]).add("Mul", {names[0], first}, names[1]);
        model.add("MatMul", {names[1], "w2"}, names[2]).add("Mul", {names[2], second}, names[3]);
        model.result(names[3]);
        return model;
    };
    const auto before = scaled("c'1", "c'2", true, {"a", "b", "d", "e"});
    const auto after = scaled("c'3", "c'4", false, {"1", "2", "3", "4"});
    const auto aligned = align_graphs(before.graph, after.graph);
    CHECK(origins(aligned, 0) == ids{1});
    CHECK(origins(aligned, 1) == ids{0});
    CHECK(origins(aligned, 3) == ids{3});
}

} // namespace test::align_align_graphs
