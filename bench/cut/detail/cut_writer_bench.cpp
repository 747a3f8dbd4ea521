// SPDX-License-Identifier: Apache-2.0
// The cost of cutting out all blocks of a model, and all of its modules. Floor: copying the bytes
// of the parts, operator by operator, into a string per part. Files are written to the temporary
// folder: TMPDIR=/dev/shm keeps them in memory.
#include "../../attributed_scene.hpp"

#include <stemma/core/parallel.hpp>
#include <stemma/cut/cut_planner.hpp>
#include <stemma/cut/detail/cut_writer.hpp>
#include <stemma/cut/detail/write_cuts.hpp>
#include <stemma/cut/module_boundaries.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using stemma::id;

/// A model, and the parts to cut out.
struct scene : stemma_bench::attributed_scene {
    explicit scene(const benchmark::State& state)
        : attributed_scene(static_cast<std::size_t>(state.range(0))) {
        const stemma::detail::module_members members(modules.index(), found.attributions);
        for (id m = 0; m < modules.size(); ++m) {
            const auto path = modules.path(m);
            const bool is_block = path.rfind("encoder.layer.", 0) == 0 &&
                                  path.find('.', sizeof "encoder.layer") == std::string::npos;
            if (state.range(1) != 0 ? members.count(m) > 0 : is_block) {
                parts.push_back(members.all(m));
            }
        }
    }

    std::vector<std::vector<id>> parts; // nodes
};

void count(benchmark::State& state, const scene& s) {
    std::size_t nodes = 0;
    for (const auto& part : s.parts) {
        nodes += part.size();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(nodes));
}

void floor_copy(benchmark::State& state) {
    const scene s(state);
    for (auto _ : state) {
        for (const auto& part : s.parts) {
            std::string copy;
            for (auto node : part) {
                const auto message = s.model->message(node);
                copy.append(s.bytes, message.begin, message.size);
            }
            benchmark::DoNotOptimize(copy);
        }
    }
    count(state, s);
}

void plan(benchmark::State& state) {
    const scene s(state);
    for (auto _ : state) {
        stemma::cut_planner<> planner(*s.model);
        for (const auto& part : s.parts) {
            benchmark::DoNotOptimize(planner.plan(part));
        }
    }
    count(state, s);
}

void infer_types(benchmark::State& state) {
    const scene s(state);
    for (auto _ : state) {
        stemma::value_types types(*s.model);
        stemma::detail::infer_shapes(*s.model, types);
        benchmark::DoNotOptimize(types);
    }
    count(state, s);
}

void plan_and_write(benchmark::State& state) {
    const scene s(state);
    stemma::value_types types(*s.model);
    stemma::detail::infer_shapes(*s.model, types);
    for (auto _ : state) {
        stemma::cut_planner<> planner(*s.model);
        stemma::detail::cut_writer<> writer(*s.model, planner.contents(), types, {});
        for (const auto& part : s.parts) {
            for (const auto& cut : planner.plan(part)) {
                stemma::detail::string_splice splice(s.bytes);
                writer.build(cut, "", nullptr).write(splice);
                benchmark::DoNotOptimize(splice.text);
            }
        }
    }
    count(state, s);
}

/// Cuts the parts of a scene into files of a folder.
struct all_parts {
    const scene& of;
    std::string folder;

    [[nodiscard]] stemma::detail::cut_request request(std::size_t i) const {
        return {of.parts[i], {}};
    }

    [[nodiscard]] stemma::detail::cut_target
    target(std::size_t i, std::size_t part, const std::vector<stemma::cut_plan>& plans) const {
        const bool is_cut = plans[part].refusal == stemma::cut_refusal::none;
        return is_cut ? stemma::detail::cut_target{folder + "/" + std::to_string(i) + "." +
                                                       std::to_string(part),
                                                   "",
                                                   {}}
                      : stemma::detail::cut_target{};
    }

    void save() const {}
    void done(std::size_t, std::size_t, const stemma::cut_plan&) const {}
};

void write_files(benchmark::State& state) {
    const scene s(state);
    const auto folder = std::filesystem::temp_directory_path() / "stemma_cut_bench";
    std::filesystem::create_directory(folder);
    const auto model = (folder / "model.onnx").string();
    stemma::output_file out(model);
    out.write(s.bytes);
    out.commit(false);
    const stemma::mapped_file source(model);
    stemma::value_types types(*s.model);
    stemma::detail::infer_shapes(*s.model, types);
    const stemma::thread_scope threads({static_cast<unsigned>(state.range(2))});
    for (auto _ : state) {
        stemma::cut_planner<> planner(*s.model);
        stemma::detail::cut_writer<> writer(*s.model, planner.contents(), types, {});
        const auto parts = folder / "parts";
        std::filesystem::create_directory(parts);
        all_parts job{s, parts.string()};
        stemma::detail::write_cuts(source, planner, writer, job, s.parts.size(), false);
        state.PauseTiming();
        std::filesystem::remove_all(parts);
        state.ResumeTiming();
    }
    std::filesystem::remove_all(folder);
    count(state, s);
}

void boundaries_of_all_modules(benchmark::State& state) {
    const scene s(state);
    const auto view = stemma::detail::flat_graph(*s.model);
    std::vector<id> module;
    for (const auto& attribution : s.found.attributions) {
        module.push_back(attribution.module);
    }
    const std::vector<bool> apart(module.size());
    const std::vector<id> none;
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            stemma::find_module_boundaries(view, s.modules.index(), module, apart,
                                           [&](id) -> const std::vector<id>& { return none; }));
    }
    count(state, s);
}

void sizes(benchmark::internal::Benchmark* bench) {
    bench->ArgNames({"nodes", "all"})->Unit(benchmark::kMillisecond);
    for (const int nodes : {10000, 100000, 1000000}) {
        for (const int all : {0, 1}) {
            bench->Args({nodes, all});
        }
    }
}

BENCHMARK(floor_copy)->Apply(sizes);
BENCHMARK(plan)->Apply(sizes);
BENCHMARK(infer_types)->Apply(sizes);
BENCHMARK(plan_and_write)->Apply(sizes);
BENCHMARK(boundaries_of_all_modules)->Apply(sizes);
BENCHMARK(write_files)
    ->ArgNames({"nodes", "all", "threads"})
    ->ArgsProduct({{10000, 100000, 1000000}, {0}, {1, 2, 4}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

} // namespace

BENCHMARK_MAIN();
