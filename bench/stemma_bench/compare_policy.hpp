// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_BENCH_STEMMA_BENCH_COMPARE_POLICY_HPP
#define STEMMA_BENCH_STEMMA_BENCH_COMPARE_POLICY_HPP

#include <stemma_bench/many_operators.hpp>

#include <stemma/core/category.hpp>
#include <stemma/core/policies.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/name_sources.hpp>
#include <stemma/tagging/name_modules.hpp>
#include <stemma/tagging/naming.hpp>
#include <stemma/tagging/propagate.hpp>
#include <stemma/tagging/propagation.hpp>
#include <stemma/tagging/resolution.hpp>
#include <stemma/tagging/resolve_evidence.hpp>
#include <stemma/tagging/selection.hpp>
#include <stemma/tagging/tagger.hpp>

#include <benchmark/benchmark.h>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace stemma_bench {

namespace detail {

/// Measures `work`, in items per second.
template <class Work>
void add_benchmark(const std::string& name, std::size_t items, Work work) {
    benchmark::RegisterBenchmark(name.c_str(), [items, work](benchmark::State& state) {
        for (auto _ : state) {
            auto result = work();
            benchmark::DoNotOptimize(result);
            benchmark::ClobberMemory();
        }
        state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items));
    })->Unit(benchmark::kMillisecond);
}

// The algorithm of each role alone.

template <class Policy, class Ops, class Modules>
    requires stemma::detail::policy_for<Policy, stemma::selection_category>
void add_role(const std::string& which, const Ops&, const Modules& modules, const Policy& chosen) {
    add_benchmark("selection/" + which, modules.index().size(),
                  [&modules, chosen] { return stemma::detail::select_modules(modules, chosen); });
}

template <class Policy, class Ops, class Modules>
    requires stemma::detail::policy_for<Policy, stemma::naming_category>
void add_role(const std::string& which, const Ops&, const Modules& modules, const Policy& chosen) {
    const stemma::not_infrastructure selected;
    add_benchmark("naming/" + which, modules.index().size(), [&modules, selected, chosen] {
        return stemma::name_modules(modules, selected, chosen);
    });
}

template <class Ops, class Modules, class Evidence, class Resolution>
void add_attribution(const std::string& name, const Ops& ops, const Modules& modules,
                     const Evidence& evidence, const Resolution& resolution) {
    add_benchmark(name, static_cast<std::size_t>(num_vertices(ops.graph())),
                  [&ops, &modules, evidence, resolution] {
                      stemma::evidence_context<Ops, Modules> context(ops, modules);
                      return stemma::resolve_evidence(context, evidence, resolution);
                  });
}

template <class Policy, class Ops, class Modules>
    requires stemma::detail::policy_for<Policy, stemma::evidence_category>
void add_role(const std::string& which, const Ops& ops, const Modules& modules,
              const Policy& chosen) {
    add_attribution("evidence/" + which, ops, modules, chosen, stemma::by_weight{});
}

template <class Policy, class Ops, class Modules>
    requires stemma::detail::policy_for<Policy, stemma::resolution_category>
void add_role(const std::string& which, const Ops& ops, const Modules& modules,
              const Policy& chosen) {
    add_attribution("resolution/" + which, ops, modules, stemma::name_sources{}, chosen);
}

template <class Policy, class Ops, class Modules>
    requires stemma::detail::policy_for<Policy, stemma::propagation_category>
void add_role(const std::string& which, const Ops& ops, const Modules& modules,
              const Policy& chosen) {
    stemma::evidence_context<Ops, Modules> context(ops, modules);
    const auto start = stemma::resolve_evidence(context, stemma::name_sources{}).of;
    add_benchmark("propagation/" + which, start.size(), [&ops, &modules, chosen, start] {
        auto result = start;
        stemma::propagate(ops, modules.index(), result, chosen);
        return result;
    });
}

/// The default policy of a role.
template <class Category>
struct default_of {
    static_assert(!std::same_as<Category, Category>,
                  "compare_policy: the policy must be one of selection, naming, evidence, "
                  "resolution or propagation");
};
template <>
struct default_of<stemma::selection_category> : std::type_identity<stemma::not_infrastructure> {};
template <>
struct default_of<stemma::naming_category> : std::type_identity<stemma::class_paths> {};
template <>
struct default_of<stemma::evidence_category> : std::type_identity<stemma::name_sources> {};
template <>
struct default_of<stemma::resolution_category> : std::type_identity<stemma::by_weight> {};
template <>
struct default_of<stemma::propagation_category> : std::type_identity<stemma::both_sides> {};

template <class Ops, class Modules, class Policy>
void add_tagging(const std::string& which, const Ops& ops, const Modules& modules,
                 const Policy& chosen) {
    const stemma::policies<Policy> one(chosen);
    add_benchmark("tag_operators/" + which, static_cast<std::size_t>(num_vertices(ops.graph())),
                  [&ops, &modules, one] { return stemma::tag_operators(ops, modules, one); });
}

} // namespace detail

/// Benchmarks a tagging policy against the default of its role, on the caller's operators and
/// modules: first the algorithm of that role alone, then all of `tag_operators`.
///
/// The arguments are those of Google Benchmark. Returns: the exit status of `main`.
template <stemma::operator_view Ops, stemma::module_view Modules, stemma::policy Policy>
int compare_policy(int argc, char** argv, const Policy& mine, const Ops& ops,
                   const Modules& modules) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    using default_policy = typename detail::default_of<typename Policy::policy_category>::type;
    const auto beside = default_policy();
    detail::add_role("default", ops, modules, beside);
    detail::add_role("mine", ops, modules, mine);
    detail::add_tagging("default", ops, modules, beside);
    detail::add_tagging("mine", ops, modules, mine);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

/// The same on a million operators, or as many as the first argument says if it is a number.
template <stemma::policy Policy>
int compare_policy(int argc, char** argv, const Policy& mine) {
    std::size_t count = 1'000'000;
    if (argc > 1) {
        const std::string_view text(argv[1]);
        std::size_t given = 0;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), given);
        if (fault == std::errc() && end == text.data() + text.size()) {
            count = given;
            argv[1] = argv[0];
            --argc;
            ++argv;
        }
    }
    const many_operators ops(count);
    return compare_policy(argc, argv, mine, ops, ops.modules());
}

} // namespace stemma_bench

#endif // STEMMA_BENCH_STEMMA_BENCH_COMPARE_POLICY_HPP
