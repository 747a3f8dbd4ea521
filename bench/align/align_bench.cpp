// SPDX-License-Identifier: Apache-2.0
// Is aligning a capture with a model linear in both? Identical residual blocks without names: only
// order, shapes and data flow distinguish them. Floor: one pass over both sides that only counts
// possible matches.
#include <stemma/align/align.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/detail/parameter_shapes.hpp>
#include <stemma/model/operator_graph.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;

class nameless_graph {
public:
    using graph_type = stemma::operator_graph;

    id add(std::string_view type, std::initializer_list<id> producers, id parameter = no_id) {
        const auto v = static_cast<id>(types_.size());
        types_.push_back(type);
        reads_.push_back(parameter);
        id slot = 0;
        for (auto u : producers) {
            if (u != no_id) {
                edges_.push_back({u, v, u, slot, 0});
            }
            ++slot;
        }
        return v;
    }

    id parameter(std::initializer_list<std::int64_t> shape) {
        const std::vector<std::int64_t> extents(shape);
        shapes.add(extents);
        return parameters_++;
    }

    void finish() { graph_ = stemma::operator_graph(types_.size(), edges_); }

    [[nodiscard]] const graph_type& graph() const { return graph_; }
    [[nodiscard]] std::string_view name(id) const { return {}; }
    [[nodiscard]] std::string_view op_type(id v) const { return types_[v]; }
    [[nodiscard]] std::size_t size() const { return types_.size(); }
    [[nodiscard]] std::size_t parameter_count() const { return parameters_; }
    [[nodiscard]] std::string_view parameter_name(id) const { return {}; }
    template <class Function>
    void for_each_parameter(id v, Function f) const {
        if (reads_[v] != no_id) {
            f(reads_[v]);
        }
    }

    stemma::detail::parameter_shapes shapes;

private:
    graph_type graph_;
    std::vector<stemma::operator_edge> edges_;
    std::vector<std::string_view> types_;
    std::vector<id> reads_;
    id parameters_ = 0;
};

struct scene {
    nameless_graph graph;
    stemma::captured_operations captured;
    stemma::tree_index tree;
};

/// So many blocks of six operators and five operations.
scene blocks(std::size_t count) {
    scene result;
    auto& graph = result.graph;
    auto& captured = result.captured;
    std::vector<id> parents{no_id};
    id node = no_id;
    id operation = no_id;
    for (std::size_t i = 0; i < count; ++i) {
        const auto module = static_cast<id>(parents.size());
        parents.push_back(0);
        const auto run = [&](std::string_view name, id first, id second = no_id) {
            const auto number = captured.add({module, 0, true, true}, name);
            for (auto source : {first, second}) {
                if (source != no_id) {
                    captured.add_source(source);
                }
            }
            return number;
        };
        const auto linear = [&](id& at, id& from) {
            at = graph.add("MatMul", {at}, graph.parameter({8, 8}));
            at = graph.add("Add", {at}, graph.parameter({8}));
            from = run("torch.nn.functional.linear", from);
            captured.add_parameter("w" + std::to_string(from), std::vector<std::int64_t>{8, 8});
            captured.add_parameter("b" + std::to_string(from), std::vector<std::int64_t>{8});
        };
        auto inner = node;
        auto from = operation;
        linear(inner, from);
        inner = graph.add("Relu", {inner});
        from = run("torch.nn.functional.relu", from);
        linear(inner, from);
        from = run("torch.nn.functional.dropout", from);
        node = graph.add("Add", {inner, node});
        operation = run("torch.Tensor.add", from, operation);
    }
    graph.finish();
    result.tree = stemma::tree_index(parents);
    return result;
}

void align_blocks(benchmark::State& state) {
    const auto given = blocks(static_cast<std::size_t>(state.range(0)) / 5);
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            stemma::align(given.graph, given.tree, given.captured, {}, given.graph.shapes));
    }
    state.SetComplexityN(state.range(0));
    state.counters["operations"] = static_cast<double>(given.captured.size());
    state.counters["operators"] = static_cast<double>(given.graph.size());
}
BENCHMARK(align_blocks)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

void look_up_all(benchmark::State& state) {
    const auto given = blocks(static_cast<std::size_t>(state.range(0)) / 5);
    const stemma::torch_lexicon lexicon;
    for (auto _ : state) {
        std::size_t heads = 0;
        for (id i = 0; i < given.captured.size(); ++i) {
            const auto name = given.captured.names()[given.captured.names_of(i).front()];
            heads +=
                lexicon.correspond(name, given.graph.op_type(i % 6)) == stemma::correspondence::head
                    ? 1U
                    : 0U;
        }
        benchmark::DoNotOptimize(heads);
    }
    state.SetComplexityN(state.range(0));
}
BENCHMARK(look_up_all)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

} // namespace

BENCHMARK_MAIN();
