// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/graph_runs.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../random_numbers.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/parallel.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace test::onnx_detail_graph_runs {

namespace {

/// Returns: the runs of a model's main graph, whatever its size; checks that they cover all of it.
std::vector<stemma::detail::graph_run> runs_of(const stemma::wire_model& model, unsigned most) {
    const stemma::thread_scope threads({most, 1});
    const auto& graph = model.containers()[0];
    auto runs = stemma::detail::guess_runs(model.bytes(), graph.begin, graph.begin + graph.size);
    REQUIRE(!runs.empty());
    CHECK(runs.size() <= most);
    auto at = graph.begin;
    for (const auto& run : runs) {
        CHECK(run.begin == at);
        CHECK(run.begin < run.end);
        at = run.end;
    }
    CHECK(at == graph.begin + graph.size);
    return runs;
}

} // namespace

// The fields of a body look like those of the enclosing graph.
TEST_CASE("guess_runs: in exported models without bodies runs begin at fields") {
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        const test::built_model model(test::read_bytes(path));
        std::set<std::uint32_t> begins;
        auto fields = model.reader({model.containers()[0].begin, model.containers()[0].size, 0});
        for (stemma::detail::wire_field field; fields.next(field);) {
            begins.insert(field.begin);
        }
        const auto runs = runs_of(model, 4);
        CHECK((model.node_count() < 100 || runs.size() == 4));
        for (const auto& run : runs) {
            CHECK((model.graph_count() > 1 || begins.count(run.begin) == 1));
        }
    }
}

TEST_CASE("guess_runs: boundaries are in structure, not in tensor data") {
    test::random_numbers random(3);
    std::vector<test::message> nodes;
    for (int i = 0; i < 2000; ++i) {
        nodes.push_back(test::node("Add", {"a" + std::to_string(i), "b"},
                                   {"a" + std::to_string(i + 1)}, "/m/Add_" + std::to_string(i)));
    }
    auto graph = test::graph(nodes);
    const auto structure = graph.bytes().size();
    graph.inner(5, test::message().text(8, "w").text(9, random.bytes(structure)));
    const auto bytes = test::model(graph).bytes();
    const auto runs = runs_of(stemma::wire_model(bytes), 4);
    REQUIRE(runs.size() == 4);
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
        CHECK(runs[i].end < structure);
        CHECK(runs[i].end - runs[i].begin > structure / 8);
    }
}

TEST_CASE("guess_runs: small graphs get no extra threads") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const auto size = static_cast<std::uint32_t>(bytes.size());
    CHECK(stemma::detail::guess_runs(bytes, 0, size).size() == 1);
    const stemma::thread_scope threads({8, bytes.size()});
    CHECK(stemma::detail::guess_runs(bytes, 0, size).size() == 1);
    const stemma::thread_scope more({8, 1});
    CHECK(stemma::detail::guess_runs(bytes, 0, 0).size() == 1);
}

} // namespace test::onnx_detail_graph_runs
