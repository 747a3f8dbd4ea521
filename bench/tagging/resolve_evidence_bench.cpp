// SPDX-License-Identifier: Apache-2.0
// The cost of resolving claims, compared with a hand-written loop.
#include "../beside.hpp"
#include "../propagation_scene.hpp"

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/tagging/resolution.hpp>
#include <stemma/tagging/resolve_evidence.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using stemma::claim;
using stemma::id;
using stemma::no_id;
using stemma::provenance;

/// Claims, grouped by operator.
struct claim_table {
    std::vector<id> first{0};
    std::vector<claim> all;

    [[nodiscard]] std::span<const claim> of(id v) const {
        return std::span(all).subspan(first[v], first[v + 1] - first[v]);
    }
};

/// A source that replays a table of claims.
struct tabled {
    using policy_category = stemma::evidence_category;

    struct claims {
        const claim_table* table;

        template <class Function>
        void for_each_claim(id v, Function f) const {
            for (const auto& one : table->of(v)) {
                f(one);
            }
        }
    };

    template <class Context>
    [[nodiscard]] claims prepare(Context&) const {
        return {table};
    }

    const claim_table* table;
};

struct bare_modules {
    stemma::tree_index tree;

    [[nodiscard]] const stemma::tree_index& index() const noexcept { return tree; }
    [[nodiscard]] static std::string_view name(id) noexcept { return ""; }
    [[nodiscard]] static std::string_view class_name(id) noexcept { return ""; }
    [[nodiscard]] static std::string_view qualified_class(id) noexcept { return ""; }
};

/// Of every ten operators, two have no claims, and four have those of one source. Each operator
/// has its own module, or five consecutive ones share one and mostly their claims.
struct claimed_scene {
    claimed_scene(id count, bool in_rows) {
        stemma_bench::random_numbers random;
        auto base = stemma_bench::make_scene(count, 0, false, 2);
        ops.edges = std::move(base.ops.edges);
        modules.tree = std::move(base.tree);
        const auto last = static_cast<id>(modules.tree.size());
        id kind = 0;
        for (id v = 0; v < count; ++v) {
            const auto module = in_rows ? v / 80 * 16 + 1 + v % 80 / 5 : random.below(last);
            kind = in_rows && v % 5 != 0 ? kind : random.below(10);
            if (kind >= 2) {
                table.all.push_back({module, 0, 0.95F, provenance::scope});
            }
            if (kind >= 6) {
                const bool disagrees = random.below(20) == 0;
                const auto other = disagrees ? (module + 17) % last : module;
                table.all.push_back(
                    {other, no_id, 0.8F, provenance::parameter, false, kind == 6 ? id{0} : no_id});
            }
            if (kind == 9) {
                table.all.push_back({module, no_id, 0.6F, provenance::parameter, false});
            }
            table.first.push_back(static_cast<id>(table.all.size()));
        }
    }

    stemma_bench::bare_operators ops;
    bare_modules modules;
    claim_table table;
};

/// A comparable result.
struct found_modules {
    stemma::evidence_result result;

    friend bool operator==(const found_modules& a, const found_modules& b) {
        const auto& x = a.result;
        const auto& y = b.result;
        return std::equal(x.of.begin(), x.of.end(), y.of.begin(), y.of.end(), are_equal) &&
               x.dropped == y.dropped && are_alike(x.conflicts, y.conflicts) &&
               are_alike(x.alternatives, y.alternatives) && are_alike(x.callers, y.callers);
    }

private:
    static bool are_equal(const stemma::attribution& a, const stemma::attribution& b) {
        return a.module == b.module && a.call == b.call && a.confidence == b.confidence &&
               a.source == b.source && a.conflict == b.conflict;
    }

    template <class List>
    static bool are_alike(const List& a, const List& b) {
        bool all = a.size() == b.size();
        a.for_each([&](id v, auto items) {
            const auto others = b.of(v);
            all = all && std::equal(items.begin(), items.end(), others.begin(), others.end());
        });
        return all;
    }
};

found_modules by_hand(const claimed_scene& scene) {
    found_modules answer;
    auto& result = answer.result;
    const stemma::by_trust resolution;
    const auto count = static_cast<id>(scene.table.first.size() - 1);
    result.of.resize(count);
    std::span<const claim> before;
    std::vector<id> modules;
    stemma::attribution resolved;
    for (id v = 0; v < count; ++v) {
        const auto claims = scene.table.of(v);
        if (claims.empty()) {
            continue;
        }
        if (!std::equal(claims.begin(), claims.end(), before.begin(), before.end())) {
            resolved = resolution.resolve(scene.modules.tree, claims);
            before = claims;
        }
        result.of[v] = resolved;
        if (resolved.module == no_id) {
            ++result.dropped;
        }
        if (resolved.conflict) {
            result.conflicts.add(v, claims);
        }
        if (claims.size() > 1 && claims.front().source == claims.back().source) {
            modules.clear();
            for (const auto& one : claims) {
                modules.push_back(one.module);
            }
            result.alternatives.add(v, modules);
        }
        for (const auto& one : claims) {
            if (one.caller != no_id && one.module == resolved.module &&
                one.source == resolved.source) {
                result.callers.add(v, {&one.caller, 1});
            }
        }
    }
    return answer;
}

void resolve_evidence(benchmark::State& state) {
    const claimed_scene scene(static_cast<id>(state.range(1)), state.range(0) != 0);
    stemma_bench::measure_beside(
        state,
        [&] {
            stemma::evidence_context context(scene.ops, scene.modules);
            return found_modules{stemma::resolve_evidence(context, tabled{&scene.table})};
        },
        [&] { return by_hand(scene); });
}

void sizes(benchmark::internal::Benchmark* bench) {
    for (const int in_rows : {0, 1}) {
        for (const int size : {1'000, 100'000, 1'000'000}) {
            bench->Args({in_rows, size});
        }
    }
    stemma_bench::in_turns(bench);
}

BENCHMARK(resolve_evidence)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
