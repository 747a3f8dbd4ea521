// SPDX-License-Identifier: Apache-2.0
// The cost of numbering a million names, each seen twice, compared with the floor, which only reads
// every byte of the names, and with the standard library's table.
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using stemma::id;

std::vector<std::string> make_names(std::size_t count) {
    std::vector<std::string> names;
    names.reserve(count * 2);
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back("/encoder/layer." + std::to_string(i / 100) + "/attention/self/query/Add_" +
                        std::to_string(i) + "_output_0");
        names.push_back(names.size() < 40 ? names.front() : names[names.size() - 39]);
    }
    return names;
}

template <class Number>
void run(benchmark::State& state, Number number) {
    const auto names = make_names(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        benchmark::DoNotOptimize(number(names));
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(names.size()));
}

void pool(benchmark::State& state) {
    run(state, [](const std::vector<std::string>& names) {
        stemma::detail::string_pool texts;
        id sum = 0;
        for (const auto& name : names) {
            sum += texts.intern(name);
        }
        return sum;
    });
}

void floor_hashes(benchmark::State& state) {
    run(state, [](const std::vector<std::string>& names) {
        std::uint64_t sum = 0;
        for (const auto& name : names) {
            sum ^= stemma::detail::hash_bytes(name);
        }
        return sum;
    });
}

void standard_map(benchmark::State& state) {
    run(state, [](const std::vector<std::string>& names) {
        std::unordered_map<std::string_view, id> texts;
        id sum = 0;
        for (const auto& name : names) {
            sum += texts.emplace(name, static_cast<id>(texts.size())).first->second;
        }
        return sum;
    });
}

BENCHMARK(floor_hashes)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(pool)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(standard_map)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
