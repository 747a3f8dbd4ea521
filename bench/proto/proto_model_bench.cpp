// SPDX-License-Identifier: Apache-2.0
// The cost of reading a file's structure: with `wire_model`, which also binds every name to its
// value; with its reader alone, which records where names are, as much as protobuf does; and with
// protobuf, which copies them into objects, with and without an arena.
#include "../generate_model.hpp"

#include <stemma/core/parallel.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <onnx/onnx_pb.h>

#include <benchmark/benchmark.h>
#include <google/protobuf/arena.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

void scan_and_bind(benchmark::State& state) {
    run(state, [](const std::string& model) { return stemma::wire_model(model).node_count(); });
}

/// With one thread per processor, like the program.
void scan_and_bind_in_threads(benchmark::State& state) {
    const stemma::thread_scope threads(stemma::thread_limit::of_machine());
    run(state, [](const std::string& model) { return stemma::wire_model(model).node_count(); });
}

/// What protobuf stores for the operators of the main graph, as positions in the bytes.
struct unbound_graph {
    std::vector<stemma::onnx_model::text_ref> names;
    std::vector<stemma::onnx_model::text_ref> types;
    std::vector<stemma::onnx_model::text_ref> inputs;
    std::vector<stemma::onnx_model::text_ref> outputs;
    std::vector<stemma::onnx_model::text_ref> attributes;
    std::vector<std::uint32_t> first_inputs;
    std::vector<std::uint32_t> first_outputs;

    /// Reserves room for `part` times as much as there is, like `wire_model`.
    void expect(std::size_t part) {
        const auto make_room = [&](auto& table) { table.reserve(table.size() * part); };
        make_room(names);
        make_room(types);
        make_room(inputs);
        make_room(outputs);
        make_room(attributes);
        make_room(first_inputs);
        make_room(first_outputs);
    }
};

void read_node(stemma::detail::wire_reader fields, unbound_graph& graph) {
    using at = stemma::detail::onnx_fields::node;
    graph.first_inputs.push_back(static_cast<std::uint32_t>(graph.inputs.size()));
    graph.first_outputs.push_back(static_cast<std::uint32_t>(graph.outputs.size()));
    graph.names.emplace_back();
    graph.types.emplace_back();
    for (stemma::detail::wire_field field; fields.next(field);) {
        const stemma::onnx_model::text_ref text{field.content, field.size()};
        if (field.is_bytes(at::input)) {
            graph.inputs.push_back(text);
        } else if (field.is_bytes(at::output)) {
            graph.outputs.push_back(text);
        } else if (field.is_bytes(at::name)) {
            graph.names.back() = text;
        } else if (field.is_bytes(at::op_type)) {
            graph.types.back() = text;
        } else if (field.is_bytes(at::attribute)) {
            auto parts = fields.inner(field);
            for (stemma::detail::wire_field part; parts.next(part);) {
                graph.attributes.push_back({part.content, part.size()});
            }
        }
    }
}

void scan_alone(benchmark::State& state) {
    run(state, [](const std::string& model) {
        unbound_graph graph;
        stemma::detail::wire_reader fields(model.data(), 0,
                                           static_cast<std::uint32_t>(model.size()), "");
        for (stemma::detail::wire_field field; fields.next(field);) {
            auto parts = fields.inner(field);
            for (stemma::detail::wire_field part;
                 field.is_bytes(stemma::detail::onnx_fields::model::graph) && parts.next(part);) {
                if (part.is_bytes(stemma::detail::onnx_fields::graph::node)) {
                    read_node(parts.inner(part), graph);
                    if (graph.names.size() == 256) {
                        const auto part_of_all =
                            (field.end - field.content) / (part.end - field.content);
                        graph.expect(1 + part_of_all + part_of_all / 16);
                    }
                }
            }
        }
        return graph.names.size();
    });
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

BENCHMARK(scan_alone)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(scan_and_bind)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(scan_and_bind_in_threads)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(protobuf_arena)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(protobuf_heap)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
