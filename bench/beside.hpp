// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_BENCH_BESIDE_HPP
#define STEMMA_BENCH_BESIDE_HPP

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace stemma_bench {

/// Measures an algorithm of the library against a hand-written loop for the same task, alternating
/// the two so that both meet the same load.
///
/// The benchmark's time is that of the algorithm. Counters: `by_hand_ms`, and `ratio`, the
/// algorithm's time over it; all are medians. Both return their results, which are compared first:
/// if they differ, the benchmark fails. Requires: `in_turns`.
template <class Algorithm, class ByHand>
void measure_beside(benchmark::State& state, Algorithm algorithm, ByHand by_hand) {
    using clock = std::chrono::steady_clock;
    using milliseconds = std::chrono::duration<double, std::milli>;
    // Freed memory stays in the process from the start (glibc): otherwise whichever of the two
    // happens to be at the top of the heap returns its memory to the kernel in every run.
    std::vector<char> buffer(std::size_t{30} << 20U);
    benchmark::DoNotOptimize(buffer.data());
    std::vector<char>().swap(buffer);
    if (!(algorithm() == by_hand())) {
        state.SkipWithError("the algorithm and the hand-written loop differ");
        return;
    }
    // Short work is repeated to exceed the resolution of the clock.
    const auto take = [](auto& work, std::size_t rounds) {
        const auto begin = clock::now();
        for (std::size_t i = 0; i < rounds; ++i) {
            benchmark::DoNotOptimize(work());
        }
        return milliseconds(clock::now() - begin).count() / static_cast<double>(rounds);
    };
    const auto rounds = static_cast<std::size_t>(std::max(1.0, 0.5 / take(by_hand, 1)));
    std::vector<double> own;
    std::vector<double> other;
    for (auto _ : state) {
        const bool own_first = own.size() % 2 == 0;
        const auto first = own_first ? take(algorithm, rounds) : take(by_hand, rounds);
        const auto second = own_first ? take(by_hand, rounds) : take(algorithm, rounds);
        own.push_back(own_first ? first : second);
        other.push_back(own_first ? second : first);
        state.SetIterationTime(own.back() / 1000);
    }
    const auto median = [](std::vector<double>& times) {
        const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        return *middle;
    };
    state.counters["by_hand_ms"] = median(other);
    state.counters["ratio"] = median(own) / median(other);
}

/// Settings for a benchmark that uses `measure_beside`.
inline void in_turns(benchmark::internal::Benchmark* bench) {
    bench->Iterations(21)->UseManualTime()->Unit(benchmark::kMillisecond);
}

} // namespace stemma_bench

#endif // STEMMA_BENCH_BESIDE_HPP
