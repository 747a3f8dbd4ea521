// SPDX-License-Identifier: Apache-2.0
// The cost of reading a profile of ONNX Runtime, compared with a streaming JSON parser that keeps
// nothing. Totals by module come on top; their cost depends on kernels and runs, not events.
#include <stemma/cost/profile_readers.hpp>

#include <nlohmann/json.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t nodes = 500;

/// A trace of so many kernels, as ONNX Runtime writes it: all nodes, run after run.
std::string make_trace(std::size_t events) {
    std::string text = "[\n";
    std::size_t time = 0;
    for (std::size_t i = 0; i < events; ++i) {
        const auto node = i % nodes;
        const auto duration = 5 + (i * 7919) % 90;
        text += R"({"cat" : "Node","pid" :4242,"tid" :4242,"dur" :)" + std::to_string(duration) +
                R"(,"ts" :)" + std::to_string(time) + R"(,"ph" : "X","name" :"/encoder/layer.)" +
                std::to_string(node / 40) + "/attention/self/MatMul_" + std::to_string(node) +
                R"(_kernel_time","args" : {"op_name" : "MatMul","node_index" : ")" +
                std::to_string(node) +
                R"(","provider" : "CPUExecutionProvider","thread_scheduling_stats" : "",)"
                R"("input_type_shape" : [{"float":[1,128,32]},{"float":[32,32]}],)"
                R"("output_type_shape" : [{"float":[1,128,32]}],"output_size" : "16384",)"
                R"("parameter_size" : "4096","activation_size" : "16384"}},)"
                "\n";
        time += duration + 1;
        if (node + 1 == nodes) {
            text += R"({"cat" : "Session","pid" :4242,"tid" :4242,"dur" :9,"ts" :)" +
                    std::to_string(time) +
                    R"(,"ph" : "X","name" :"model_run","args" : {}},)"
                    "\n";
        }
    }
    text += R"({"cat" : "Session","pid" :4242,"tid" :4242,"dur" :9,"ts" :0,"ph" : "X",)"
            R"("name" :"session_end","args" : {}}])";
    return text;
}

/// A parser callback that keeps nothing.
struct nothing {
    bool null() { return true; }
    bool boolean(bool) { return true; }
    bool number_integer(std::int64_t) { return true; }
    bool number_unsigned(std::uint64_t) { return true; }
    bool number_float(double, const std::string&) { return true; }
    bool string(std::string&) { return true; }
    bool binary(nlohmann::json::binary_t&) { return true; }
    bool key(std::string&) { return true; }
    bool start_object(std::size_t) { return true; }
    bool end_object() { return true; }
    bool start_array(std::size_t) { return true; }
    bool end_array() { return true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) {
        return false;
    }
};

template <class Read>
void run(benchmark::State& state, Read read) {
    const auto text = make_trace(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        read(text);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void parse_only(benchmark::State& state) {
    run(state, [](const std::string& text) {
        nothing events;
        benchmark::DoNotOptimize(nlohmann::json::sax_parse(text.begin(), text.end(), &events));
    });
}
BENCHMARK(parse_only)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void read_profile(benchmark::State& state) {
    run(state, [](const std::string& text) {
        stemma::profile measured;
        stemma::read_profile(text, "trace.json", measured);
        benchmark::DoNotOptimize(measured.total());
    });
}
BENCHMARK(read_profile)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
