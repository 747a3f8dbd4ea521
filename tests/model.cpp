// SPDX-License-Identifier: Apache-2.0
#include <stemma/model.hpp>

#include "boost_algorithms.hpp"
#include "catch.hpp"
#include "model_files.hpp"
#include "scratch_folder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/error.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/strip_model.hpp>
#include <stemma/stemma.hpp>

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/range/primitives.hpp>

#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace test::the_model {

namespace {

template <class Model>
concept gives_handles = requires(Model&& model) {
    static_cast<Model&&>(model).find_node("");
};
template <class Model>
concept gives_parts = requires(Model&& model) {
    static_cast<Model&&>(model).cut("");
    static_cast<Model&&>(model).cut(stemma::module_ref());
};

} // namespace

TEST_CASE("model: a temporary gives nothing that refers to it") {
    STATIC_REQUIRE(gives_handles<stemma::model&>);
    STATIC_REQUIRE(gives_parts<const stemma::model&>);
    STATIC_REQUIRE(!gives_handles<stemma::model>);
    STATIC_REQUIRE(!gives_parts<stemma::model>);
}

TEST_CASE("model: handles stay valid when it is moved") {
    auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const auto node = *model.nodes().begin();
    const std::string tag = node.tag();
    const auto moved = std::move(model);
    CHECK(node.tag() == tag);
    CHECK(node == moved.node(stemma::node_id{0}));
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<stemma::model>);
    STATIC_REQUIRE(!std::is_copy_constructible_v<stemma::model>);
}

TEST_CASE("model: finds nodes, values and modules by name, if there is one") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const auto node = model.find_node("/pooler/dense/Gemm");
    REQUIRE(node.has_value());
    CHECK(node->module().path() == "pooler.dense");
    CHECK(model.find_value((*node->outputs().begin()).name())->producer() == node);
    CHECK(!model.find_node("/pooler/dense/Gem"));
    CHECK(!model.find_value("nothing"));
    CHECK(model.find_module("") == model.root());
    CHECK(!model.find_module("pooler.nothing"));
    const auto shared =
        stemma::open(test::fixture("shared_twice/model.onnx"),
                     {.captures = stemma::captures({test::fixture("shared_twice/modules.json")})});
    CHECK(shared.find_module("block_alias") == shared.find_module("block"));
}

TEST_CASE(
    "model: a query about modules finds modules and their nodes, one about nodes only these") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const auto layers = model.query("encoder.layer.*");
    CHECK(ranges::distance(layers.modules) == 2);
    CHECK(ranges::distance(layers.nodes) > 100);
    const auto softmax = model.query("op:Softmax");
    CHECK(ranges::distance(softmax.modules) == 0);
    CHECK(ranges::distance(softmax.nodes) == 2);
    CHECK(ranges::all_of(softmax.nodes, stemma::op_is("Softmax")));
    CHECK(ranges::distance(model.query("type:int64 and rank:1").nodes) > 0);
    CHECK(ranges::distance(model.query("leaf and parameters>1k").modules) > 0);
    CHECK_THROWS_AS(model.query("(op:Softmax"), stemma::error);
}

TEST_CASE("model: initializers are values stored in the file, parameters are weights") {
    const auto model = stemma::open(fixture("unet_tiny/model.onnx"));
    CHECK(ranges::all_of(model.initializers(), [](const auto& v) { return v.is_initializer(); }));
    CHECK(ranges::distance(model.parameters()) > 0);
    CHECK(ranges::distance(model.parameters()) <= ranges::distance(model.values()));
}

TEST_CASE("model: its tree and graph work with Boost.Graph's algorithms") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    CHECK(num_vertices(model.tree()) == static_cast<unsigned>(ranges::distance(model.modules())));
    CHECK(num_vertices(model.graph()) == static_cast<unsigned>(ranges::distance(model.nodes())));
}

TEST_CASE("model: supports concurrent queries") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    std::vector<std::size_t> sums(4, 0);
    std::vector<std::thread> threads;
    for (auto& sum : sums) {
        threads.emplace_back([&model, &sum] {
            for (const auto value : model.values()) {
                sum += static_cast<std::size_t>(ranges::distance(value.tags()));
                sum += static_cast<std::size_t>(ranges::distance(value.readers()));
            }
            for (const auto node : model.nodes()) {
                sum += static_cast<std::size_t>(ranges::distance(node.tags()));
                sum += node.claims().size();
            }
            sum += model.tagged().size() + model.notes().size();
            sum += model.cut("encoder.layer.0").bytes().size();
            sum += static_cast<std::size_t>(ranges::distance(model.parameters()));
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(sums == std::vector<std::size_t>(4, sums.front()));
}

TEST_CASE("open_bytes: agrees with open on the same file") {
    const auto path = fixture("control_flow/model.onnx");
    const auto in_file = stemma::open(path);
    const auto in_memory = stemma::open_bytes(read_bytes(path), "memory");
    REQUIRE(ranges::distance(in_file.nodes()) == ranges::distance(in_memory.nodes()));
    for (const auto node : in_file.nodes()) {
        REQUIRE(in_memory.node(node.id()).tag() == node.tag());
        REQUIRE(in_memory.node(node.id()).provenance() == node.provenance());
    }
    CHECK(in_file.tagged() == in_memory.tagged());
    CHECK_THROWS_WITH(stemma::open_bytes("no model", "memory"),
                      Catch::Matchers::StartsWith("memory: "));
}

TEST_CASE("model: tags round-trip, and stripping restores the model") {
    for (const auto& path : model_files()) {
        CAPTURE(path);
        const auto model = stemma::open(path);
        const auto tagged = stemma::open_bytes(model.tagged());
        for (const auto node : model.nodes()) {
            REQUIRE(tagged.node(node.id()).tag() == node.tag());
        }
        REQUIRE(stemma::strip_model(tagged.parts().model()) == read_bytes(path));
    }
}

TEST_CASE("model: writes the same to a file as to memory") {
    const scratch_folder folder;
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    model.write(folder.file("tagged.onnx"));
    CHECK(read_bytes(folder.file("tagged.onnx")) == model.tagged());
}

TEST_CASE("open: a missing or invalid file is an error") {
    CHECK_THROWS_AS(stemma::open(fixture("nothing.onnx")), stemma::error);
    CHECK_THROWS_AS(stemma::open(fixture("README.md")), stemma::error);
}

} // namespace test::the_model
