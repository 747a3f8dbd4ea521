// SPDX-License-Identifier: Apache-2.0
// The cost of reading the modules of a capture and the events of a trace, compared with the floor
// (a copy of the bytes), the parser alone, and nlohmann's document.
#include "../../generate_model.hpp"

#include <stemma/capture/detail/capture_reader.hpp>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

/// The modules of a capture, with parameters.
std::string make_modules(std::size_t count) {
    std::string text = R"({"format":"fixture-modules/1","root_class":"Model","modules":[)"
                       R"({"name":"","class_name":"Model","qualified_class":"model.Model",)"
                       R"("parent":null,"calls":1,"own_parameters":[],"own_buffers":[]})";
    for (std::size_t i = 1; i < count; ++i) {
        const bool block = i % 10 == 1 || i < 10;
        const auto name =
            block ? "layer" + std::to_string(i)
                  : "layer" + std::to_string((i - 1) / 10 * 10 + 1) + ".part" + std::to_string(i);
        const auto parent = block ? std::string() : name.substr(0, name.find('.'));
        text += ",\n{\"name\":\"" + name +
                "\",\"class_name\":\"Linear\",\"qualified_class\":"
                "\"torch.nn.modules.linear.Linear\",\"parent\":\"" +
                parent +
                "\",\"aliases\":[],\"own_parameters\":[{\"name\":\"weight\",\"shape\":[768,768],"
                "\"dtype\":\"float32\",\"trainable\":true},{\"name\":\"bias\",\"shape\":[768],"
                "\"dtype\":\"float32\",\"trainable\":true}],\"own_buffers\":[],\"calls\":1}";
    }
    return text + "]}\n";
}

template <class Read>
void run(benchmark::State& state, Read read) {
    const auto text = make_modules(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        benchmark::DoNotOptimize(read(text));
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void floor_copy(benchmark::State& state) {
    run(state, [](const std::string& text) { return std::string(text); });
}

void parse_only(benchmark::State& state) {
    run(state, [](const std::string& text) { return nlohmann::json::accept(text); });
}

void capture(benchmark::State& state) {
    run(state, [](const std::string& text) {
        stemma::detail::capture_reader reader;
        reader.read(text, "modules.json");
        return reader.tree().size();
    });
}

void nlohmann_document(benchmark::State& state) {
    run(state,
        [](const std::string& text) { return nlohmann::json::parse(text).at("modules").size(); });
}

BENCHMARK(floor_copy)->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond);
BENCHMARK(parse_only)->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond);
BENCHMARK(capture)->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond);
BENCHMARK(nlohmann_document)
    ->RangeMultiplier(10)
    ->Range(1000, 100000)
    ->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
