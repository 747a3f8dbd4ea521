// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/module_statistics.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/model/module_tree_builder.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace test::record_module_statistics {

namespace {

using stemma::id;

void check_sums(const test::tagged_model& tagged, const stemma::module_statistics& counts) {
    const auto& tree = tagged.modules.index();
    std::uint64_t own = 0;
    for (id m = 0; m < tagged.modules.size(); ++m) {
        own += counts.own_nodes[m];
        id below = 0;
        for (auto inner = m; inner < tree.end(m); ++inner) {
            below += counts.own_nodes[inner];
        }
        CHECK(counts.nodes[m] == below);
        CHECK(counts.trainable[m] <= counts.parameters[m]);
        id by_operator = 0;
        for (std::size_t i = 0; i < counts.operators[m].size(); ++i) {
            by_operator += counts.operators[m][i].count;
            CHECK((i == 0 || counts.operators[m][i - 1].count >= counts.operators[m][i].count));
        }
        CHECK(by_operator == counts.nodes[m]);
    }
    CHECK(own == tagged.model.node_count());
    CHECK(counts.nodes[0] == tagged.model.node_count());
}

} // namespace

TEST_CASE("collect_statistics: descendants add up") {
    for (const auto& path : test::files_called("model.onnx", ".onnx")) {
        CAPTURE(path);
        const auto bytes = test::read_bytes(path);
        const test::tagged_model alone(bytes);
        check_sums(alone, stemma::collect_statistics(alone.model, alone.modules, alone.found));
        if (const auto capture = test::capture_beside(path)) {
            const test::tagged_model with(bytes, &*capture);
            check_sums(with, stemma::collect_statistics(with.model, with.modules, with.found));
        }
    }
}

TEST_CASE("collect_statistics: operators of one type in several domains count apart") {
    const auto node = [](const char* type, const char* name, const char* domain = "") {
        return test::node(type, {"x"}, {name}, name, domain);
    };
    const auto bytes =
        test::model(test::graph({node("Relu", "/a/b/1"), node("Gelu", "/a/b/2"),
                                 node("Relu", "/a/3"), node("Gelu", "/a/c/4", "own"),
                                 node("Tanh", "/5"), node("Gelu", "/d/6"), node("Relu", "/d/7")},
                                {"x"}, {"/a/b/1"}))
            .bytes();
    const test::tagged_model tagged(bytes);
    const auto counts = stemma::collect_statistics(tagged.model, tagged.modules, tagged.found);
    check_sums(tagged, counts);
    std::string text;
    for (const auto& [op, count] : counts.operators[0]) {
        text.append(tagged.model.operator_type(op)).append(std::to_string(count)).append(" ");
    }
    CHECK(text == "Relu3 Gelu2 Gelu1 Tanh1 ");
}

TEST_CASE("collect_statistics: many types of operators take little time") {
    std::vector<test::message> nodes;
    for (int i = 0; i < 20000; ++i) {
        const auto number = std::to_string(i);
        nodes.push_back(test::node("T" + number, {"x"}, {"y" + number}, "/a/b/" + number, "own"));
    }
    const auto bytes = test::model(test::graph(nodes, {"x"}, {"y0"})).bytes();
    const test::tagged_model tagged(bytes);
    const auto counts = stemma::collect_statistics(tagged.model, tagged.modules, tagged.found);
    CHECK(counts.operators[0].size() == nodes.size());
}

TEST_CASE("collect_statistics: weights count where their names say, shared ones once") {
    auto graph = test::graph({test::node("MatMul", {"x", "a.weight"}, {"h"}, "/a/MatMul"),
                              test::node("MatMul", {"h", "anonymous"}, {"y"}, "/b/MatMul")},
                             {"x"}, {"y"});
    graph.inner(5, test::tensor("a.weight", {2, 3})).inner(5, test::tensor("anonymous", {5}));
    graph.inner(5, test::message().number(1, 100).number(2, 7).text(8, "b.indices"));
    const auto bytes = test::model(graph).bytes();
    const test::tagged_model tagged(bytes);
    const auto counts = stemma::collect_statistics(tagged.model, tagged.modules, tagged.found);
    CHECK_FALSE(counts.declared);
    for (id m = 0; m < tagged.modules.size(); ++m) {
        const auto path = tagged.modules.path(m);
        CAPTURE(path);
        CHECK(counts.parameters[m] == (path.empty()  ? 11U
                                       : path == "a" ? 6U
                                       : path == "b" ? 5U
                                                     : 0U));
    }
}

TEST_CASE("collect_statistics: a capture's shared parameters count once, in the owners' common "
          "ancestor") {
    const auto bytes = test::model(test::graph()).bytes();
    const std::string_view group = R"(["in.weight","out.weight"])";
    for (const auto& groups : {std::string(group), std::string(group) + "," + std::string(group),
                               std::string(group) + R"(,["out.weight","in.weight","in.weight"])"}) {
        stemma::detail::capture_reader reader;
        reader.read(R"({"modules":[{"name":""},
        {"name":"in","own_parameters":[{"name":"weight","shape":[4,2],"trainable":true}]},
        {"name":"out","own_parameters":[{"name":"weight","shape":[4,2],"trainable":true},
                                        {"name":"bias","shape":[3],"trainable":false}]}],
        "shared_parameters":[)" +
                        groups + "]}",
                    "capture.json");
        const auto tree = reader.tree();
        const test::tagged_model tagged(bytes, &tree);
        const auto counts = stemma::collect_statistics(tagged.model, tagged.modules, tagged.found);
        CHECK(counts.declared);
        CHECK(counts.parameters == std::vector<std::uint64_t>{11, 8, 11});
        CHECK(counts.own_parameters == std::vector<std::uint64_t>{0, 8, 11});
        CHECK(counts.trainable == std::vector<std::uint64_t>{8, 8, 8});
    }
}

TEST_CASE(
    "collect_statistics: of a module's parameters with one name, the first is the shared one") {
    stemma::module_tree_builder builder;
    for (const auto m : {builder.child(0, "a"), builder.child(0, "b")}) {
        for (const std::int64_t size : {8, 2}) {
            builder.add_parameter(m, {"weight", "", std::span(&size, 1), true});
        }
    }
    builder.add_shared_parameters({"a.weight", "b.weight", "b.unknown", "c.weight"});
    const auto tree = builder.build();
    const auto bytes = test::model(test::graph()).bytes();
    const test::tagged_model tagged(bytes, &tree);
    const auto counts = stemma::collect_statistics(tagged.model, tagged.modules, tagged.found);
    CHECK(counts.parameters == std::vector<std::uint64_t>{12, 10, 10});
}

TEST_CASE("collect_statistics: lists what the file stores along with what is declared, by type") {
    stemma::detail::capture_reader reader;
    reader.read(R"({"modules":[{"name":""},{"name":"in","own_parameters":
        [{"name":"weight","shape":[4,2],"trainable":true}]}]})",
                "capture.json");
    const auto tree = reader.tree();
    auto graph = test::graph({test::node("DequantizeLinear", {"in.weight", "s"}, {"d"}, "/in/D"),
                              test::node("Gemm", {"x", "d", "in.bias"}, {"y"}, "/in/Gemm")},
                             {"x"}, {"y"});
    graph.inner(5, test::message().packed(1, {4, 2}).number(2, 3).text(8, "in.weight"))
        .inner(5, test::tensor("s", {4}))
        .inner(5, test::tensor("in.bias", {2}));
    const auto bytes = test::model(graph).bytes();
    const test::tagged_model tagged(bytes, &tree);
    const auto counts = stemma::collect_statistics(tagged.model, tagged.modules, tagged.found);
    CHECK(counts.declared);
    CHECK(counts.parameters == std::vector<std::uint64_t>{8, 8});
    CHECK(counts.stored == std::vector<std::uint64_t>{10, 10});
    CHECK(counts.bytes == std::vector<std::uint64_t>{16, 16});
    CHECK(stemma::weights_text(counts.weights[1]) == "float32 8 B, int8 8 B");
    REQUIRE(counts.weights[0].size() == 3);
    CHECK(counts.weights[0][2].kind == stemma::weight_kind::scale);
    CHECK(counts.weights[0][2].elements == 4);
}

TEST_CASE("bytes_text: one digit after the point, from a thousand bytes") {
    CHECK(stemma::bytes_text(0) == "0 B");
    CHECK(stemma::bytes_text(999) == "999 B");
    CHECK(stemma::bytes_text(1000) == "1.0 kB");
    CHECK(stemma::bytes_text(93568) == "93.6 kB");
    CHECK(stemma::bytes_text(31885472) == "31.9 MB");
}

} // namespace test::record_module_statistics
