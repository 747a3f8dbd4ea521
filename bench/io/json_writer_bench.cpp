// SPDX-License-Identifier: Apache-2.0
// Bytes of JSON written per second, for objects like a sidecar's, one per operator. Compared with
// copying the same bytes object by object, and with building and printing nlohmann's document.
#include <stemma/io/json_writer.hpp>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct counting_sink {
    std::size_t bytes = 0;

    void write(std::string_view text) {
        bytes += text.size();
        benchmark::DoNotOptimize(text.data());
    }
};

std::vector<std::string> make_names(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back("/encoder/layer." + std::to_string(i / 100) +
                        "/attention/self/query/MatMul_" + std::to_string(i));
    }
    return names;
}

template <class Sink>
void write_objects(Sink& sink, const std::vector<std::string>& names) {
    stemma::json_writer writer(sink);
    writer.begin_array();
    for (std::size_t i = 0; i < names.size(); ++i) {
        writer.begin_object(true);
        writer.member("index", i);
        writer.member("name", names[i]);
        writer.member("op_type", "MatMul");
        writer.member("graph", "");
        writer.member("scope_module", "encoder.layer.7.attention.self.query");
        writer.member("tag", "/BertModel/BertEncoder/BertLayer.7/BertAttention/BertSelfAttention");
        writer.member("provenance", "scope");
        writer.member("confidence", 0.95F);
        writer.key("call");
        writer.null();
        writer.end_object();
    }
    writer.end_array();
    writer.finish();
}

void floor_copy(benchmark::State& state) {
    const auto names = make_names(static_cast<std::size_t>(state.range(0)));
    stemma::string_sink whole;
    write_objects(whole, names);
    const auto part = whole.text.size() / names.size();
    std::string buffer;
    buffer.reserve(1U << 16U);
    counting_sink sink;
    for (auto _ : state) {
        for (std::size_t at = 0; at < whole.text.size(); at += part) {
            if (buffer.size() + part > 1U << 16U) {
                sink.write(buffer);
                buffer.clear();
            }
            buffer.append(whole.text, at, part);
        }
        sink.write(buffer);
        buffer.clear();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(sink.bytes));
}

void writer(benchmark::State& state) {
    const auto names = make_names(static_cast<std::size_t>(state.range(0)));
    counting_sink sink;
    for (auto _ : state) {
        write_objects(sink, names);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(sink.bytes));
}

void nlohmann_document(benchmark::State& state) {
    const auto names = make_names(static_cast<std::size_t>(state.range(0)));
    counting_sink sink;
    for (auto _ : state) {
        auto all = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < names.size(); ++i) {
            all.push_back(
                {{"index", i},
                 {"name", names[i]},
                 {"op_type", "MatMul"},
                 {"graph", ""},
                 {"scope_module", "encoder.layer.7.attention.self.query"},
                 {"tag", "/BertModel/BertEncoder/BertLayer.7/BertAttention/BertSelfAttention"},
                 {"provenance", "scope"},
                 {"confidence", 0.95F},
                 {"call", nullptr}});
        }
        sink.write(all.dump());
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(sink.bytes));
}

BENCHMARK(floor_copy)->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK(writer)->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK(nlohmann_document)->Arg(100000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
