// SPDX-License-Identifier: Apache-2.0
// The cost of answering a query, compared with a loop hand-written for this very query, which takes
// only its patterns. Both match texts with `glob`.
#include "../attributed_scene.hpp"
#include "../bare_operators.hpp"
#include "../beside.hpp"

#include <stemma/core/glob.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/query/find_matches.hpp>
#include <stemma/query/parse_query.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using stemma::glob;
using stemma::id;
using stemma_bench::module_arrays;
using stemma_bench::named_arrays;

/// A pattern opaque to the compiler, as if read from a query.
std::string written(std::string_view text) {
    std::string pattern(text);
    benchmark::DoNotOptimize(pattern.data());
    benchmark::ClobberMemory();
    return pattern;
}

/// Operators with a domain.
struct typed_operators : named_arrays {
    using named_arrays::named_arrays;

    [[nodiscard]] std::string_view domain(id v) const { return domains[v]; }

    std::vector<std::string_view> domains; ///< by operator
};

struct asked_scene {
    explicit asked_scene(const benchmark::State& state)
        : base(static_cast<std::size_t>(state.range(0)))
        , wire(*base.model)
        , ops(wire)
        , modules(base.modules) {
        ops.domains.assign(ops.names.size(), "");
    }

    [[nodiscard]] id module(id v) const { return base.found.attributions[v].module; }

    stemma_bench::attributed_scene base;
    stemma::onnx_operators<stemma::wire_model> wire;
    typed_operators ops;
    module_arrays modules;
};

/// Also marks all descendants of marked modules.
void spread(const stemma::tree_index& tree, std::vector<std::uint8_t>& marked) {
    for (id m = 1; m < tree.size(); ++m) {
        marked[m] = static_cast<std::uint8_t>(marked[m] | marked[tree.parent(m)]);
    }
}

std::vector<std::uint8_t> inside_classes(const asked_scene& scene, std::string_view text) {
    const auto written_pattern = written(text);
    const glob pattern(written_pattern);
    const auto& modules = scene.modules;
    std::vector<std::uint8_t> inside(modules.classes.size(), 0);
    for (id m = 0; m < inside.size(); ++m) {
        inside[m] =
            pattern.matches(modules.classes[m]) || pattern.matches(modules.qualified[m]) ? 1 : 0;
    }
    spread(modules.tree, inside);
    return inside;
}

/// Requires: a pattern that matches paths with as many dots only.
std::vector<std::uint8_t> inside_paths(const asked_scene& scene, std::string_view text) {
    const auto written_pattern = written(text);
    const glob pattern(written_pattern, '.');
    const auto& tree = scene.modules.tree;
    const auto deepest = static_cast<id>(1 + std::count(text.begin(), text.end(), '.'));
    std::vector<std::uint8_t> inside(tree.size(), 0);
    std::string path;
    std::vector<std::size_t> length(tree.size(), 0);
    for (id m = 1; m < tree.size(); ++m) {
        if (tree.depth(m) <= deepest) {
            path.resize(length[tree.parent(m)]);
            path.append(path.empty() ? "" : ".").append(scene.modules.names[m]);
            length[m] = path.size();
            inside[m] = pattern.matches(path) ? 1 : 0;
        }
    }
    spread(tree, inside);
    return inside;
}

/// Whether the type matches, with or without its domain.
class type_pattern {
public:
    type_pattern(const asked_scene& scene, std::string_view pattern)
        : ops_(scene.ops), written_(written(pattern)) {}

    bool operator()(id v) {
        if (pattern_.matches(ops_.types[v])) {
            return true;
        }
        if (plain_) {
            return false;
        }
        text_.assign(ops_.domains[v].empty() ? "ai.onnx" : ops_.domains[v]);
        text_.append("::").append(ops_.types[v]);
        return pattern_.matches(text_);
    }

private:
    const typed_operators& ops_;
    std::string written_;
    glob pattern_{written_};
    bool plain_ = written_.find("::") == written_.npos;
    std::string text_;
};

template <class Fits>
std::vector<id> operators_where(const asked_scene& scene, Fits fits) {
    std::vector<id> result;
    const auto size = static_cast<id>(scene.ops.names.size());
    for (id v = 0; v < size; ++v) {
        if (fits(v)) {
            result.push_back(v);
        }
    }
    return result;
}

template <class ByHand>
void ask(benchmark::State& state, std::string_view text, ByHand by_hand) {
    const asked_scene scene(state);
    const auto asked = stemma::parse_query(text);
    stemma_bench::measure_beside(
        state,
        [&] {
            return stemma::find_matching_operators(asked, scene.modules, scene.base.found.tags,
                                                   scene.ops, scene.base.found.attributions);
        },
        [&] { return by_hand(scene); });
}

void find_matches_types(benchmark::State& state) {
    ask(state, "op:MatMul", [](const asked_scene& scene) {
        type_pattern fits(scene, "MatMul");
        return operators_where(scene, [&](id v) { return fits(v); });
    });
}

void find_matches_qualified_types(benchmark::State& state) {
    ask(state, "op:*::MatMul", [](const asked_scene& scene) {
        type_pattern fits(scene, "*::MatMul");
        return operators_where(scene, [&](id v) { return fits(v); });
    });
}

void find_matches_types_in_classes(benchmark::State& state) {
    ask(state, "class:Linear and not op:Constant", [](const asked_scene& scene) {
        const auto inside = inside_classes(scene, "Linear");
        type_pattern fits(scene, "Constant");
        return operators_where(scene,
                               [&](id v) { return inside[scene.module(v)] != 0 && !fits(v); });
    });
}

void find_matches_paths(benchmark::State& state) {
    ask(state, "encoder.layer.*.attention or *.*.*7.output", [](const asked_scene& scene) {
        const auto first = inside_paths(scene, "encoder.layer.*.attention");
        const auto second = inside_paths(scene, "*.*.*7.output");
        return operators_where(scene, [&](id v) {
            return first[scene.module(v)] != 0 || second[scene.module(v)] != 0;
        });
    });
}

void find_matches_names(benchmark::State& state) {
    ask(state, "name:/encoder/*/Softmax*", [](const asked_scene& scene) {
        const auto written_pattern = written("/encoder/*/Softmax*");
        const glob pattern(written_pattern);
        return operators_where(scene, [&](id v) { return pattern.matches(scene.ops.names[v]); });
    });
}

void find_matches_parameters(benchmark::State& state) {
    ask(state, "reads:**.weight and confidence>=0.5", [](const asked_scene& scene) {
        const auto& ops = scene.ops;
        const auto written_pattern = written("**.weight");
        const glob pattern(written_pattern, '.');
        std::vector<std::uint8_t> fits(ops.parameter_names.size(), 0);
        for (id p = 0; p < fits.size(); ++p) {
            fits[p] = pattern.matches(ops.parameter_names[p]) ? 1 : 0;
        }
        return operators_where(scene, [&](id v) {
            bool reads = false;
            for (auto at = ops.first_parameter[v]; at < ops.first_parameter[v + 1]; ++at) {
                reads = reads || fits[ops.parameters[at]] != 0;
            }
            return reads && scene.base.found.attributions[v].confidence >= 0.5F;
        });
    });
}

/// The topmost modules that match as a whole.
void find_matches_whole_modules(benchmark::State& state) {
    const asked_scene scene(state);
    const auto asked = stemma::parse_query("class:Linear and not encoder.layer.*7");
    stemma_bench::measure_beside(
        state,
        [&] { return stemma::find_matching_modules(asked, scene.modules, scene.base.found.tags); },
        [&] {
            const auto& tree = scene.modules.tree;
            const auto classes = inside_classes(scene, "Linear");
            const auto layers = inside_paths(scene, "encoder.layer.*7");
            std::vector<id> misses(tree.size() + 1, 0);
            for (id m = 0; m < tree.size(); ++m) {
                misses[m + 1] = misses[m] + (classes[m] != 0 && layers[m] == 0 ? 0U : 1U);
            }
            std::vector<id> result;
            for (id m = 0; m < tree.size();) {
                const bool whole = misses[tree.end(m)] == misses[m];
                if (whole) {
                    result.push_back(m);
                }
                m = whole ? tree.end(m) : m + 1;
            }
            return result;
        });
}

void sizes(benchmark::internal::Benchmark* bench) {
    bench->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
    stemma_bench::in_turns(bench);
}

BENCHMARK(find_matches_types)->Apply(sizes);
BENCHMARK(find_matches_qualified_types)->Apply(sizes);
BENCHMARK(find_matches_types_in_classes)->Apply(sizes);
BENCHMARK(find_matches_paths)->Apply(sizes);
BENCHMARK(find_matches_names)->Apply(sizes);
BENCHMARK(find_matches_parameters)->Apply(sizes);
BENCHMARK(find_matches_whole_modules)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
