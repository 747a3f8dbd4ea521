// SPDX-License-Identifier: Apache-2.0
// The cost of reading the structure of a file, compared with the floor, which steps over the fields
// of every operator and keeps nothing, and with a copy of the bytes.
#include "../generate_model.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

std::string make_model(const benchmark::State& state) {
    stemma_bench::model_options options;
    options.nodes = static_cast<std::size_t>(state.range(0));
    return stemma_bench::generate_model(options).model;
}

std::uint64_t read_varint(const char*& at) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(*at++);
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
}

/// Returns: the number of fields of the model, the graph and its operators.
/// Requires: well formed, varint and length-delimited fields only.
std::size_t count_fields(const char* at, const char* last, unsigned inner, unsigned depth) {
    std::size_t count = 0;
    while (at < last) {
        const auto key = read_varint(at);
        const auto value = read_varint(at);
        ++count;
        if ((key & 7U) == 2) {
            if (depth > 0 && key >> 3U == inner) {
                count += count_fields(at, at + value, 1, depth - 1);
            }
            at += value;
        }
    }
    return count;
}

template <class Read>
void run(benchmark::State& state, Read read) {
    const auto model = make_model(state);
    for (auto _ : state) {
        benchmark::DoNotOptimize(read(model));
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(model.size()));
}

void floor_steps(benchmark::State& state) {
    run(state, [](const std::string& model) {
        return count_fields(model.data(), model.data() + model.size(), 7, 2);
    });
}

void floor_copy(benchmark::State& state) {
    run(state, [](const std::string& model) { return std::string(model); });
}

void scan(benchmark::State& state) {
    run(state, [](const std::string& model) { return stemma::wire_model(model).tensors().size(); });
}

BENCHMARK(floor_copy)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(floor_steps)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(scan)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
