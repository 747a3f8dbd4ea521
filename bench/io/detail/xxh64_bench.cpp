// SPDX-License-Identifier: Apache-2.0
// Bytes hashed per second, compared with copying them, which bounds what a library could gain.
#include <stemma/io/detail/xxh64.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

std::string some_bytes(const benchmark::State& state) {
    std::string bytes(static_cast<std::size_t>(state.range(0)), '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<char>(i * 31 >> 3U);
    }
    return bytes;
}

void floor_copy(benchmark::State& state) {
    const auto bytes = some_bytes(state);
    std::string copy(bytes.size(), '\0');
    for (auto _ : state) {
        bytes.copy(copy.data(), bytes.size());
        benchmark::DoNotOptimize(copy.data());
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * state.range(0));
}

void hash(benchmark::State& state) {
    const auto bytes = some_bytes(state);
    for (auto _ : state) {
        benchmark::DoNotOptimize(stemma::detail::xxh64(bytes));
    }
    state.SetBytesProcessed(state.iterations() * state.range(0));
}

BENCHMARK(floor_copy)->Arg(1 << 26)->Unit(benchmark::kMillisecond);
BENCHMARK(hash)->Arg(1 << 26)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
