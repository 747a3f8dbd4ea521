// SPDX-License-Identifier: Apache-2.0
// Bytes encoded and decoded per second, compared with Boost's iterators, which neither pad nor
// validate.
#include <stemma/io/detail/base64.hpp>

#include <benchmark/benchmark.h>
#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/binary_from_base64.hpp>
#include <boost/archive/iterators/transform_width.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

namespace iterators = boost::archive::iterators;
using to_text = iterators::base64_from_binary<iterators::transform_width<const char*, 6, 8>>;
using from_text = iterators::transform_width<iterators::binary_from_base64<const char*>, 8, 6>;

template <class Convert>
void run(benchmark::State& state, const std::string& bytes, Convert convert) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(convert(bytes));
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

std::string some_bytes(const benchmark::State& state) {
    std::string bytes;
    while (bytes.size() < static_cast<std::size_t>(state.range(0))) {
        bytes.push_back(static_cast<char>(bytes.size() * 31 >> 3U));
    }
    return bytes;
}

void encode(benchmark::State& state) {
    run(state, some_bytes(state),
        [](std::string_view bytes) { return stemma::detail::to_base64(bytes); });
}

void encode_with_boost(benchmark::State& state) {
    run(state, some_bytes(state), [](std::string_view bytes) {
        return std::string(to_text(bytes.data()), to_text(bytes.data() + bytes.size()));
    });
}

void decode(benchmark::State& state) {
    run(state, stemma::detail::to_base64(some_bytes(state)),
        [](std::string_view text) { return stemma::detail::from_base64(text); });
}

void decode_with_boost(benchmark::State& state) {
    run(state, stemma::detail::to_base64(some_bytes(state)), [](std::string_view text) {
        return std::string(from_text(text.data()), from_text(text.data() + text.size()));
    });
}

// Divisible by three: otherwise Boost's iterators read past the end.
BENCHMARK(encode)->Arg(3 << 20)->Unit(benchmark::kMillisecond);
BENCHMARK(encode_with_boost)->Arg(3 << 20)->Unit(benchmark::kMillisecond);
BENCHMARK(decode)->Arg(3 << 20)->Unit(benchmark::kMillisecond);
BENCHMARK(decode_with_boost)->Arg(3 << 20)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
