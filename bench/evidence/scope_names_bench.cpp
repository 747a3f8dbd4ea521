// SPDX-License-Identifier: Apache-2.0
// The cost of reading the scopes in a million names and finding their modules, compared with
// hand-written loops on plain arrays of names and types, with the floor, which reads every byte of
// the names and keeps the length of the longest scope, and with the scan of the same file.
#include "../bare_operators.hpp"
#include "../beside.hpp"
#include "../generate_model.hpp"

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;

using operators = stemma::onnx_operators<stemma::wire_model>;

std::string make_model(const benchmark::State& state) {
    stemma_bench::model_options options;
    options.nodes = static_cast<std::size_t>(state.range(0));
    return stemma_bench::generate_model(options).model;
}

void scan(benchmark::State& state) {
    const auto bytes = make_model(state);
    std::size_t nodes = 0;
    for (auto _ : state) {
        const stemma::wire_model model(bytes);
        benchmark::DoNotOptimize(nodes = model.node_count());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(nodes));
}

template <class Read>
void run(benchmark::State& state, Read read) {
    const auto bytes = make_model(state);
    const stemma::wire_model model(bytes);
    const operators ops(model);
    for (auto _ : state) {
        benchmark::DoNotOptimize(read(model, ops));
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(model.node_count()));
}

void floor_bytes(benchmark::State& state) {
    run(state, [](const stemma::wire_model& model, const operators&) {
        std::size_t longest = 0;
        for (stemma::id node = 0; node < model.node_count(); ++node) {
            std::size_t last = 0;
            const std::string_view name = model.name(node);
            for (std::size_t i = 0; i < name.size(); ++i) {
                last = name[i] == '/' ? i : last;
            }
            longest = std::max(longest, last);
        }
        return longest;
    });
}

/// A comparable table.
struct scopes_found {
    std::vector<stemma::detail::scope_table::scope> scopes;
    std::vector<id> scope_of; ///< by operator

    friend bool operator==(const scopes_found& a, const scopes_found& b) {
        return a.scope_of == b.scope_of &&
               std::equal(a.scopes.begin(), a.scopes.end(), b.scopes.begin(), b.scopes.end(),
                          [](const auto& x, const auto& y) {
                              return x.segment == y.segment && x.hash == y.hash &&
                                     x.kinds == y.kinds && x.parent == y.parent &&
                                     x.first_operator == y.first_operator &&
                                     x.operators == y.operators && x.style == y.style;
                          });
    }
};

/// Scopes in names such as `/encoder/layer.0/attention/MatMul_1` only.
class scope_reader {
public:
    explicit scope_reader(const stemma_bench::named_arrays& ops) : ops_(ops) {
        scopes_.scope_of.assign(ops.names.size(), no_id);
        scopes_.scopes.resize(stemma::detail::scope_style_count);
        for (id root = 0; root < stemma::detail::scope_style_count; ++root) {
            scopes_.scopes[root].style = static_cast<stemma::detail::scope_style>(root);
        }
    }

    [[nodiscard]] scopes_found read() && {
        std::string_view around; // the scope in the last operator's name, with its slashes
        id scope = no_id;
        for (id v = 0; v < ops_.names.size(); ++v) {
            const auto name = ops_.names[v];
            const auto type = ops_.types[v];
            if (around.empty() || !is_own(name, around, type)) {
                const auto slash = name.rfind('/');
                if (name.empty() || name.front() != '/' ||
                    !stemma::detail::is_counted(name.substr(slash + 1), type)) {
                    continue;
                }
                const auto path = name.substr(1, slash == 0 ? 0 : slash - 1);
                if (path.find("::") != path.npos || !is_plain(path)) {
                    continue;
                }
                scope = find(path);
                around = name.substr(0, slash + 1);
            }
            auto& in = scopes_.scopes[scope];
            scopes_.scope_of[v] = scope;
            in.first_operator = in.operators == 0 ? v : in.first_operator;
            ++in.operators;
            in.kinds += stemma::detail::hash_bytes(type);
        }
        return std::move(scopes_);
    }

private:
    struct level {
        std::size_t end; ///< of the segment, in the path
        id scope;
    };

    /// Whether the type follows `around`, and optionally a number.
    static bool is_own(std::string_view name, std::string_view around, std::string_view type) {
        return name.starts_with(around) &&
               stemma::detail::is_counted(name.substr(around.size()), type);
    }

    static bool is_plain(std::string_view path) {
        unsigned char bits = 0;
        std::size_t levels = 0;
        for (const char c : path) {
            bits = static_cast<unsigned char>(bits | static_cast<unsigned char>(c));
            levels += c == '/' ? 1U : 0U;
        }
        return bits < 0x80 && levels < 1024 && path.size() <= (1U << 18U) &&
               !path.starts_with('.') && !path.ends_with('.') && path.find("..") == path.npos &&
               path.find("/.") == path.npos && path.find("./") == path.npos;
    }

    /// Descends from where the path diverges from the last one.
    id find(std::string_view path) {
        const auto most = std::min(path.size(), last_.size());
        std::size_t shared = 0;
        while (shared < most && path[shared] == last_[shared]) {
            ++shared;
        }
        const auto ends = [&](std::string_view text) {
            return shared == text.size() || text[shared] == '/';
        };
        const bool whole = ends(path) && ends(last_);
        while (!levels_.empty() &&
               (levels_.back().end > shared || (levels_.back().end == shared && !whole))) {
            levels_.pop_back();
        }
        auto scope = levels_.empty() ? id{0} : levels_.back().scope;
        auto begin = levels_.empty() ? 0 : levels_.back().end + 1;
        while (begin < path.size()) {
            const auto end = std::min(path.find('/', begin), path.size());
            scope = child(scope, path.substr(begin, end - begin));
            levels_.push_back({end, scope});
            begin = end + 1;
        }
        last_ = path;
        return scope;
    }

    id child(id parent, std::string_view segment) {
        auto& scopes = scopes_.scopes;
        const auto hash = stemma::detail::hash_bytes(segment);
        const auto next = static_cast<id>(scopes.size());
        const auto place = index_.insert(stemma::detail::hash_mix(hash, parent), next, [&](id s) {
            return scopes[s].parent == parent && scopes[s].segment == segment;
        });
        if (place == next) {
            scopes.push_back(
                {segment, hash, 0, parent, no_id, 0, stemma::detail::scope_style::called});
        }
        return place;
    }

    const stemma_bench::named_arrays& ops_;
    scopes_found scopes_;
    stemma::detail::flat_index index_;
    std::string_view last_;
    std::vector<level> levels_;
};

void collect_scopes(benchmark::State& state) {
    const auto bytes = make_model(state);
    const stemma::wire_model model(bytes);
    const operators wire(model);
    const stemma_bench::named_arrays ops(wire);
    stemma_bench::measure_beside(
        state,
        [&] {
            auto table = stemma::detail::collect_scopes(ops);
            return scopes_found{std::move(table.scopes), std::move(table.scope_of)};
        },
        [&] { return scope_reader(ops).read(); });
}

/// For operators that read their names from a file.
void wire_scopes(benchmark::State& state) {
    run(state, [](const stemma::wire_model&, const operators& ops) {
        return stemma::detail::collect_scopes(ops).scopes.size();
    });
}

/// With the resulting tree, and a claim for every operator.
void claims(benchmark::State& state) {
    run(state, [](const stemma::wire_model& model, const operators& ops) {
        auto rebuilt = stemma::rebuild_tree(ops);
        const auto modules = rebuilt.modules;
        stemma::evidence_context context(ops, modules, std::move(rebuilt.facts));
        const auto source = stemma::scope_names{}.prepare(context);
        std::size_t sum = 0;
        for (stemma::id node = 0; node < model.node_count(); ++node) {
            source.for_each_claim(node, [&](const stemma::claim& one) { sum += one.module; });
        }
        return sum;
    });
}

BENCHMARK(floor_bytes)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(collect_scopes)->Arg(1'000)->Arg(100'000)->Arg(1'000'000)->Apply(stemma_bench::in_turns);
BENCHMARK(wire_scopes)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(claims)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(scan)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
