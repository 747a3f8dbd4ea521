// SPDX-License-Identifier: Apache-2.0
// What does it cost to name modules? Beside it the floor, which spells the class of every module
// behind the tag of the one above and tells none apart, and a copy of what that writes.
#include <stemma/algorithm/name_modules.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/policy/naming.hpp>
#include <stemma/policy/selection.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using stemma::id;

/// A stack of blocks, of a dozen modules each, as in a transformer.
stemma::module_tree make_tree(std::size_t modules) {
    stemma::module_tree_builder builder("net");
    builder.set_class(0, "Net", "app.Net");
    const auto add = [&](id parent, std::string_view name, std::string_view type) {
        const auto m = builder.child(parent, name);
        builder.set_class(m, type, "app." + std::string(type));
        return m;
    };
    const auto layers = add(add(0, "encoder", "Encoder"), "layer", "Stack");
    for (std::size_t i = 0; builder.size() < modules; ++i) {
        const auto block = add(layers, std::to_string(i), "Block");
        const auto attention = add(block, "attention", "Attention");
        for (const auto* name : {"query", "key", "value", "out"}) {
            add(attention, name, "Projection");
        }
        const auto dense = add(block, "dense", "Dense");
        for (const auto* name : {"up", "act", "down", "norm", "drop"}) {
            add(dense, name, name[0] == 'a' ? "Activation" : "Projection");
        }
    }
    return builder.build();
}

template <class Work>
void run(benchmark::State& state, Work work) {
    const auto tree = make_tree(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        benchmark::DoNotOptimize(work(tree));
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(tree.size()));
}

void names(benchmark::State& state) {
    run(state, [](const stemma::module_tree& tree) {
        return stemma::name_modules(tree, stemma::all_modules{}, stemma::class_paths{});
    });
}

void names_by_attribute(benchmark::State& state) {
    run(state, [](const stemma::module_tree& tree) {
        return stemma::name_modules(tree, stemma::all_modules{}, stemma::attribute_paths{});
    });
}

struct written_segments {
    std::string text;
    std::vector<std::uint32_t> ends;
    std::vector<std::uint32_t> lengths;
};

written_segments write_classes(const stemma::module_tree& tree) {
    written_segments made;
    made.text.reserve(tree.size() * 8);
    for (id m = 0; m < tree.size(); ++m) {
        const auto segment = tree.class_name(m);
        made.text.append(segment);
        made.ends.push_back(static_cast<std::uint32_t>(made.text.size()));
        made.lengths.push_back(static_cast<std::uint32_t>(segment.size()) + 1 +
                               (m == 0 ? 0 : made.lengths[tree.index().parent(m)]));
    }
    return made;
}

void floor_classes(benchmark::State& state) {
    run(state, write_classes);
}

void floor_copy(benchmark::State& state) {
    const auto tree = make_tree(static_cast<std::size_t>(state.range(0)));
    const auto made = write_classes(tree);
    for (auto _ : state) {
        auto copy = made;
        benchmark::DoNotOptimize(copy.text.data());
        benchmark::DoNotOptimize(copy.lengths.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(tree.size()));
}

BENCHMARK(names)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(names_by_attribute)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(floor_classes)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(floor_copy)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
