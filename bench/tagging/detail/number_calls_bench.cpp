// SPDX-License-Identifier: Apache-2.0
// The cost of numbering the calls of modules, compared with hand-written code on plain arrays of
// operators in exporter order.
#include "../../bare_graph.hpp"
#include "../../beside.hpp"
#include "../../propagation_scene.hpp"

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/tagging/detail/number_calls.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using stemma::attribution;
using stemma::id;
using stemma::no_id;

/// Operators that read parameters.
struct reading_operators {
    using graph_type = stemma::operator_graph;

    [[nodiscard]] const graph_type& graph() const { return edges; }
    [[nodiscard]] std::size_t parameter_count() const { return count; }
    [[nodiscard]] static std::string_view parameter_name(id) { return ""; }

    template <class Function>
    void for_each_parameter(id v, Function f) const {
        for (auto at = first[v]; at < first[v + 1]; ++at) {
            f(parameter[at]);
        }
    }

    graph_type edges;
    std::size_t count = 0;
    std::vector<id> first{0};
    std::vector<id> parameter; ///< grouped by operator
};

/// A model that runs twice, with metadata that mostly name the module but not the call. Of every
/// five consecutive operators, which share a module, the second and fourth read its parameters, if
/// any.
struct called_scene {
    explicit called_scene(id count) {
        stemma_bench::random_numbers random;
        auto base = stemma_bench::make_scene(count, 0, false, 2);
        ops.edges = std::move(base.ops.edges);
        tree = std::move(base.tree);
        ops.count = 2 * tree.size();
        for (id v = 0; v < count; ++v) {
            const auto at = v % std::max<id>(count / 2, 1);
            const auto module = at / 80 * 16 + 1 + at % 80 / 5;
            const auto kind = random.below(10);
            attribution stated;
            if (kind < 8) {
                stated = {module, no_id, 0.95F, stemma::provenance::metadata, false};
            } else if (kind < 9) {
                stated = {module, 0, 0.9F, stemma::provenance::scope, false};
            }
            evidence.push_back(stated);
            if (module % 3 != 0 && at % 5 % 2 == 1) {
                ops.parameter.push_back(2 * module);
                ops.parameter.push_back(2 * module + 1);
            }
            ops.first.push_back(static_cast<id>(ops.parameter.size()));
        }
    }

    reading_operators ops;
    stemma::tree_index tree;
    std::vector<attribution> evidence;
};

/// Comparable attributions.
struct numbered {
    std::vector<attribution> of;

    friend bool operator==(const numbered& a, const numbered& b) {
        return std::equal(a.of.begin(), a.of.end(), b.of.begin(), b.of.end(),
                          [](const attribution& x, const attribution& y) {
                              return x.module == y.module && x.call == y.call &&
                                     x.confidence == y.confidence && x.source == y.source &&
                                     x.conflict == y.conflict;
                          });
    }
};

class numbering_by_hand {
public:
    numbering_by_hand(const stemma_bench::bare_graph& graph, const called_scene& scene,
                      std::vector<attribution>& result)
        : graph_(graph), ops_(scene.ops), tree_(scene.tree), result_(result) {}

    void run() {
        const stemma::detail::grouped_ids open(tree_.size(), [&](auto take) {
            for (id v = 0; v < graph_.count; ++v) {
                const auto& one = result_[v];
                if (one.source == stemma::provenance::metadata && one.call == no_id &&
                    one.module != no_id) {
                    take(one.module, v);
                }
            }
        });
        readings_.resize(ops_.count);
        joined_.assign(graph_.count, no_id);
        for (id module = 0; module < tree_.size(); ++module) {
            const auto own = open[module];
            if (own.empty()) {
                continue;
            }
            const auto most = most_read(module, own);
            if (most != no_id) {
                number_by_parameter(module, own, most);
            } else if (tree_.end(module) == module + 1) {
                number_components(module, own);
            }
        }
    }

private:
    struct reading {
        id module = no_id;
        id last = no_id;
        id count = 0;
    };

    id most_read(id module, std::span<const id> own) {
        id most = no_id;
        id count = 0;
        for (auto v : own) {
            for (auto at = ops_.first[v]; at < ops_.first[v + 1]; ++at) {
                auto& latest = readings_[ops_.parameter[at]];
                if (latest.module != module) {
                    latest = {module, no_id, 0};
                }
                latest.count += latest.last == v ? 0 : 1;
                latest.last = v;
                if (latest.count > count) {
                    count = latest.count;
                    most = ops_.parameter[at];
                }
            }
        }
        return most;
    }

    void number_by_parameter(id module, std::span<const id> own, id parameter) {
        anchors_.clear();
        for (auto v : own) {
            const auto* first = ops_.parameter.data() + ops_.first[v];
            const auto* last = ops_.parameter.data() + ops_.first[v + 1];
            if (std::find(first, last, parameter) != last) {
                result_[v].call = static_cast<id>(anchors_.size());
                anchors_.push_back(v);
            }
        }
        const auto call_of = [&](id v) {
            return result_[v].module == module ? result_[v].call : no_id;
        };
        auto anchor = anchors_.begin();
        for (auto v : own) {
            if (anchor != anchors_.end() && *anchor == v) {
                ++anchor;
                continue;
            }
            for (auto at = graph_.in[v]; at < graph_.in[v + 1]; ++at) {
                const auto behind = call_of(graph_.producer[at]);
                auto& call = result_[v].call;
                call = behind == no_id ? call : call == no_id ? behind : std::max(call, behind);
            }
        }
        for (auto v = own.rbegin(); v != own.rend(); ++v) {
            if (result_[*v].call == no_id) {
                id before = anchors_.size() == 1 ? 0 : no_id;
                for (auto at = graph_.out[*v]; at < graph_.out[*v + 1]; ++at) {
                    before = std::min(before, call_of(graph_.reader[at]));
                }
                result_[*v].call = before;
            }
        }
    }

    void number_components(id module, std::span<const id> own) {
        for (auto v : own) {
            joined_[v] = v;
        }
        for (auto v : own) {
            for (auto at = graph_.in[v]; at < graph_.in[v + 1]; ++at) {
                const auto u = graph_.producer[at];
                if (result_[u].module == module && joined_[u] != no_id) {
                    const auto a = first_of(u);
                    const auto b = first_of(v);
                    joined_[std::max(a, b)] = std::min(a, b);
                }
            }
        }
        id calls = 0;
        for (auto v : own) {
            auto& call = result_[first_of(v)].call;
            call = call == no_id ? calls++ : call;
            result_[v].call = call;
        }
    }

    id first_of(id v) {
        while (joined_[v] != v) {
            joined_[v] = joined_[joined_[v]];
            v = joined_[v];
        }
        return v;
    }

    const stemma_bench::bare_graph& graph_;
    const reading_operators& ops_;
    const stemma::tree_index& tree_;
    std::vector<attribution>& result_;
    std::vector<reading> readings_; // by parameter
    std::vector<id> anchors_;
    std::vector<id> joined_;
};

void number_calls(benchmark::State& state) {
    const called_scene scene(static_cast<id>(state.range(0)));
    const stemma_bench::bare_graph bare(scene.ops.edges);
    stemma_bench::measure_beside(
        state,
        [&] {
            numbered result{scene.evidence};
            stemma::detail::number_calls(scene.ops, scene.tree, result.of);
            return result;
        },
        [&] {
            numbered result{scene.evidence};
            numbering_by_hand(bare, scene, result.of).run();
            return result;
        });
}

void sizes(benchmark::internal::Benchmark* bench) {
    bench->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
    stemma_bench::in_turns(bench);
}

BENCHMARK(number_calls)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
