// SPDX-License-Identifier: Apache-2.0
// What does it cost to read the scopes in a million names, and to find their modules? Beside it the
// floor, which reads every byte of the names and keeps the length of the longest scope, and the
// scan of the same file.
#include "generate_model.hpp"

#include <stemma/algorithm/rebuild_tree.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/evidence/scope_table.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace {

using operators = stemma::onnx_operators<stemma::wire_model>;

std::string make_model(const benchmark::State& state) {
    stemma_bench::model_options options;
    options.nodes = static_cast<std::size_t>(state.range(0));
    return stemma_bench::generate_model(options).model;
}

void scan(benchmark::State& state) {
    const auto bytes = make_model(state);
    std::size_t nodes = 0;
    for (auto _ : state) {
        const stemma::wire_model model(bytes);
        benchmark::DoNotOptimize(nodes = model.node_count());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(nodes));
}

template <class Read>
void run(benchmark::State& state, Read read) {
    const auto bytes = make_model(state);
    const stemma::wire_model model(bytes);
    const operators ops(model);
    for (auto _ : state) {
        benchmark::DoNotOptimize(read(model, ops));
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(model.node_count()));
}

void floor_bytes(benchmark::State& state) {
    run(state, [](const stemma::wire_model& model, const operators&) {
        std::size_t longest = 0;
        for (stemma::id node = 0; node < model.node_count(); ++node) {
            std::size_t last = 0;
            const std::string_view name = model.name(node);
            for (std::size_t i = 0; i < name.size(); ++i) {
                last = name[i] == '/' ? i : last;
            }
            longest = std::max(longest, last);
        }
        return longest;
    });
}

void scopes(benchmark::State& state) {
    run(state, [](const stemma::wire_model&, const operators& ops) {
        return stemma::collect_scopes(ops).scopes.size();
    });
}

/// With the tree that they tell, and a claim for every operator.
void claims(benchmark::State& state) {
    run(state, [](const stemma::wire_model& model, const operators& ops) {
        auto rebuilt = stemma::rebuild_tree(ops);
        const auto modules = rebuilt.modules;
        stemma::evidence_context context(ops, modules);
        std::move(rebuilt).teach(context);
        const auto made = stemma::scope_names{}.prepare(context);
        std::size_t sum = 0;
        for (stemma::id node = 0; node < model.node_count(); ++node) {
            made.for_each_claim(node, [&](const stemma::claim& one) { sum += one.module; });
        }
        return sum;
    });
}

BENCHMARK(floor_bytes)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(scopes)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(claims)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(scan)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
