// SPDX-License-Identifier: Apache-2.0
// The cost of folding all modules into functions, and of unfolding them. Floor: a hash of every
// operator's bytes, because finding equal bodies requires reading them, and a copy.
#include "../../attributed_scene.hpp"

#include <stemma/core/detail/hash.hpp>
#include <stemma/fold/detail/fold_opener.hpp>
#include <stemma/fold/detail/fold_writer.hpp>
#include <stemma/fold/fold.hpp>
#include <stemma/fold/node_shapes.hpp>
#include <stemma/fold/plan_fold.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/tagging/name_modules.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace {

/// A model, and its folded form.
struct scene : stemma_bench::attributed_scene {
    using attributed_scene::attributed_scene;

    [[nodiscard]] std::string fold() const {
        const stemma::graph_contents contents(*model);
        stemma::node_shapes shapes(*model, contents);
        const auto plan =
            stemma::plan_fold(*model, contents, modules, found.attributions, shapes,
                              stemma::fold_options<>{.selection = stemma::all_modules{}});
        stemma::detail::fold_writer writer(*model, contents, modules, found.tags,
                                           found.attributions, plan);
        stemma::detail::string_splice splice(bytes);
        writer.build().write(splice);
        return std::move(splice.text);
    }
};

void floor_hash_and_copy(benchmark::State& state) {
    const scene s(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        std::uint64_t hash = 0;
        for (stemma::id node = 0; node < s.model->node_count(); ++node) {
            const auto message = s.model->message(node);
            hash = stemma::detail::hash_bytes(
                std::string_view(s.bytes).substr(message.begin, message.size), hash);
        }
        benchmark::DoNotOptimize(hash);
        benchmark::DoNotOptimize(std::string(s.bytes));
    }
    state.SetItemsProcessed(state.iterations() * s.model->node_count());
}

void fold(benchmark::State& state) {
    const scene s(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        benchmark::DoNotOptimize(s.fold());
    }
    state.SetItemsProcessed(state.iterations() * s.model->node_count());
}

void unfold(benchmark::State& state) {
    const scene s(static_cast<std::size_t>(state.range(0)));
    const auto folded = s.fold();
    for (auto _ : state) {
        const stemma::wire_model model(folded);
        const stemma::graph_contents contents(model);
        stemma::detail::fold_opener opener(model, contents,
                                           stemma::detail::find_fold_record(model).value());
        stemma::detail::string_splice splice(folded);
        opener.build().write(splice);
        benchmark::DoNotOptimize(splice.text);
    }
    state.SetItemsProcessed(state.iterations() * s.model->node_count());
}

} // namespace

BENCHMARK(floor_hash_and_copy)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(fold)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(unfold)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
