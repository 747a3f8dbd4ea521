// SPDX-License-Identifier: Apache-2.0
// The cost of a custom policy: a stateless selection in `select_modules`, and the same chosen at
// run time, each compared with a hand-written loop.
#include "../beside.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/tagging/any_policy.hpp>
#include <stemma/tagging/name_modules.hpp>
#include <stemma/tagging/selection.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using stemma::id;

/// Modules, each with a number that decides whether it is selected.
struct many_modules {
    stemma::tree_index tree;
    std::vector<std::uint32_t> marks;

    explicit many_modules(id count) : tree(parents(count)), marks(count) {
        std::uint32_t state = 1;
        for (auto& mark : marks) {
            state = state * 1664525 + 1013904223;
            mark = state >> 8U;
        }
    }

    [[nodiscard]] const stemma::tree_index& index() const noexcept { return tree; }
    [[nodiscard]] static std::string_view name(id) noexcept { return ""; }
    [[nodiscard]] static std::string_view class_name(id) noexcept { return ""; }
    [[nodiscard]] static std::string_view qualified_class(id) noexcept { return ""; }

private:
    /// Chains of ten below the root.
    static std::vector<id> parents(id count) {
        std::vector<id> all(count, stemma::no_id);
        for (id m = 1; m < count; ++m) {
            all[m] = m % 10 == 1 ? 0 : m - 1;
        }
        return all;
    }
};

struct marked {
    using policy_category = stemma::selection_category;

    [[nodiscard]] bool selects(const many_modules& modules, id m) const {
        return modules.marks[m] % 3 == 0;
    }
};

static_assert(std::is_empty_v<marked>);

template <class Selection>
void select_beside(benchmark::State& state, const Selection& selection) {
    const many_modules modules(static_cast<id>(state.range(0)));
    const auto parents = modules.tree.parents();
    const auto& marks = modules.marks;
    stemma_bench::measure_beside(
        state, [&] { return stemma::detail::select_modules(modules, selection); },
        [&] {
            std::vector<id> selected(parents.size());
            for (id m = 1; m < parents.size(); ++m) {
                selected[m] = marks[m] % 3 == 0 ? m : selected[parents[m]];
            }
            return selected;
        });
}

void select_modules(benchmark::State& state) {
    select_beside(state, marked{});
}

void select_modules_by_name(benchmark::State& state) {
    select_beside(state, stemma::any_policy<stemma::selection_category, many_modules>(marked{}));
}

void sizes(benchmark::internal::Benchmark* bench) {
    bench->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
    stemma_bench::in_turns(bench);
}

BENCHMARK(select_modules)->Apply(sizes);
BENCHMARK(select_modules_by_name)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
