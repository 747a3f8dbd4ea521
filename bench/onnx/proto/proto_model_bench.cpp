// SPDX-License-Identifier: Apache-2.0
// How much does it cost to know a file's structure: by the scan, which leaves the bytes where they
// are, and by protobuf, which copies them into objects, on an arena and without one?
#include "generate_model.hpp"

#include <stemma/onnx/wire/wire_model.hpp>

#include <onnx/onnx_pb.h>

#include <benchmark/benchmark.h>
#include <google/protobuf/arena.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

template <class Read>
void run(benchmark::State& state, Read read) {
    stemma_bench::model_options options;
    options.nodes = static_cast<std::size_t>(state.range(0));
    const auto model = stemma_bench::generate_model(options).model;
    for (auto _ : state) {
        benchmark::DoNotOptimize(read(model));
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(model.size()));
}

void scan(benchmark::State& state) {
    run(state, [](const std::string& model) { return stemma::wire_model(model).node_count(); });
}

void protobuf_arena(benchmark::State& state) {
    run(state, [](const std::string& bytes) {
        google::protobuf::Arena arena;
        auto* model = google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
        static_cast<void>(model->ParseFromString(bytes));
        return model->graph().node_size();
    });
}

void protobuf_heap(benchmark::State& state) {
    run(state, [](const std::string& bytes) {
        onnx::ModelProto model;
        static_cast<void>(model.ParseFromString(bytes));
        return model.graph().node_size();
    });
}

BENCHMARK(scan)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(protobuf_arena)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(protobuf_heap)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
