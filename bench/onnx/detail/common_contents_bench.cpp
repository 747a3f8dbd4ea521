// SPDX-License-Identifier: Apache-2.0
// The cost of hashing the weights of two models as far as they may be equal, compared with the
// floor, which adds up all words, and with hashing each model by itself. Argument: MiB per model.
#include "../../../tests/wire_builder.hpp"

#include <stemma/onnx/detail/common_contents.hpp>
#include <stemma/onnx/detail/data_hashes.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t rows = 1024;
constexpr std::size_t tensor_bytes = std::size_t{1} << 22U;

std::string make_model(const benchmark::State& state, unsigned seed) {
    auto graph = test::graph();
    std::mt19937_64 random(seed);
    const auto count = (static_cast<std::size_t>(state.range(0)) << 20U) / tensor_bytes;
    for (std::size_t i = 0; i < count; ++i) {
        std::string raw(tensor_bytes, '\0');
        for (std::size_t at = 0; at < raw.size(); at += sizeof(std::uint64_t)) {
            const auto word = random();
            std::memcpy(raw.data() + at, &word, sizeof word);
        }
        graph.inner(5, test::tensor("w" + std::to_string(i), {rows, tensor_bytes / 4 / rows}, raw));
    }
    return test::model(graph).bytes();
}

std::uint64_t sum_of_words(std::string_view bytes) {
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at + sizeof sum <= bytes.size(); at += sizeof sum) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        sum += word;
    }
    return sum;
}

template <class Run>
void run(benchmark::State& state, unsigned other, Run run) {
    const auto first = make_model(state, 1);
    const auto second = make_model(state, other);
    const stemma::wire_model before(first);
    const stemma::wire_model after(second);
    for (auto _ : state) {
        run(before, after);
    }
    state.SetBytesProcessed(state.iterations() *
                            static_cast<std::int64_t>(first.size() + second.size()));
}

void floor_sum_of_words(benchmark::State& state) {
    run(state, 2, [](const auto& before, const auto& after) {
        benchmark::DoNotOptimize(sum_of_words(before.bytes()) + sum_of_words(after.bytes()));
    });
}

void hash_each(benchmark::State& state) {
    run(state, 2, [](const auto& before, const auto& after) {
        benchmark::DoNotOptimize(stemma::detail::hash_contents(before));
        benchmark::DoNotOptimize(stemma::detail::hash_contents(after));
    });
}

void hash_common(benchmark::State& state, unsigned other) {
    run(state, other, [](const auto& before, const auto& after) {
        const stemma::detail::stored_tensors old(before);
        const stemma::detail::stored_tensors now(after);
        benchmark::DoNotOptimize(stemma::detail::common_contents(old, now).of(0).data());
    });
}

void hash_common_all_changed(benchmark::State& state) {
    hash_common(state, 2);
}
void hash_common_all_equal(benchmark::State& state) {
    hash_common(state, 1);
}

} // namespace

BENCHMARK(floor_sum_of_words)->Arg(512);
BENCHMARK(hash_each)->Arg(512);
BENCHMARK(hash_common_all_changed)->Arg(512);
BENCHMARK(hash_common_all_equal)->Arg(512);

BENCHMARK_MAIN();
