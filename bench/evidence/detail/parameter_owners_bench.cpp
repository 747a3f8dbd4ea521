// SPDX-License-Identifier: Apache-2.0
// The cost of finding the modules that parameter names mention, and the resulting claims, compared
// with hand-written loops on plain arrays. Both split names with `owner_path`.
#include "../../attributed_scene.hpp"
#include "../../bare_operators.hpp"
#include "../../beside.hpp"

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;
using stemma_bench::module_arrays;
using stemma_bench::named_arrays;

struct owned_scene {
    explicit owned_scene(const benchmark::State& state)
        : base(static_cast<std::size_t>(state.range(0)))
        , wire(*base.model)
        , ops(wire)
        , modules(base.modules) {}

    stemma_bench::attributed_scene base;
    stemma::onnx_operators<stemma::wire_model> wire;
    named_arrays ops;
    module_arrays modules;
};

/// The owner of each parameter, and how paths map to the tree.
struct owners_found {
    std::vector<id> owner; ///< by parameter; `no_id` for none
    std::size_t paths = 0;
    std::size_t matched = 0;

    friend bool operator==(const owners_found&, const owners_found&) = default;
};

/// Comparable owners.
struct owners_kept {
    stemma::detail::parameter_owners made;
    std::size_t count = 0;

    friend bool operator==(const owners_kept& a, const owners_found& b) {
        bool equal = a.count == b.owner.size() && a.made.mapping.is_identity() &&
                     a.made.mapping.paths == b.paths && a.made.mapping.matched == b.matched;
        for (id p = 0; equal && p < a.count; ++p) {
            const auto owners = a.made.of(p);
            equal = b.owner[p] == no_id ? owners.empty()
                                        : owners.size() == 1 && owners.front() == b.owner[p];
        }
        return equal;
    }
};

/// Finds the modules of a sequence of dotted paths.
class path_finder {
public:
    explicit path_finder(const module_arrays& modules)
        : modules_(modules), children_(modules.names.size()) {
        for (id m = 1; m < modules.names.size(); ++m) {
            children_.insert(hash(modules.tree.parent(m), modules.names[m]), m,
                             [](id) { return false; });
        }
    }

    /// Descends from where the path diverges from the last one. Returns: `no_id` if there is none.
    id find(std::string_view path) {
        const auto most = std::min(path.size(), last_.size());
        std::size_t shared = 0;
        while (shared < most && path[shared] == last_[shared]) {
            ++shared;
        }
        const auto ends = [&](std::string_view text) {
            return shared == text.size() || text[shared] == '.';
        };
        const bool whole = ends(path) && ends(last_);
        while (!levels_.empty() &&
               (levels_.back().first > shared || (levels_.back().first == shared && !whole))) {
            levels_.pop_back();
        }
        auto module = levels_.empty() ? id{0} : levels_.back().second;
        auto begin = levels_.empty() ? 0 : levels_.back().first + 1;
        while (begin < path.size()) {
            const auto end = std::min(path.find('.', begin), path.size());
            module = module == no_id ? no_id : child(module, path.substr(begin, end - begin));
            levels_.emplace_back(end, module);
            begin = end + 1;
        }
        last_ = path;
        return module;
    }

private:
    static std::uint64_t hash(id parent, std::string_view name) {
        return stemma::detail::hash_bytes(name, parent);
    }

    [[nodiscard]] id child(id parent, std::string_view name) const {
        return children_.find(hash(parent, name), [&](id m) {
            return modules_.tree.parent(m) == parent && modules_.names[m] == name;
        });
    }

    const module_arrays& modules_;
    stemma::detail::flat_index children_;
    std::string_view last_;
    std::vector<std::pair<std::size_t, id>> levels_; // the end of each segment, and its module
};

/// Requires: paths in names are paths in the tree; a sample is checked.
owners_found find_by_hand(const owned_scene& scene) {
    const auto& names = scene.ops.parameter_names;
    std::vector<std::string_view> paths;
    std::vector<id> parameter; // parallel to it
    paths.reserve(names.size());
    parameter.reserve(names.size());
    for (id p = 0; p < names.size(); ++p) {
        if (const auto path = stemma::detail::owner_path(names[p]); !path.empty()) {
            paths.push_back(path);
            parameter.push_back(p);
        }
    }
    owners_found result;
    path_finder finder(scene.modules);
    const auto step = std::max<std::size_t>(1, paths.size() / 256);
    for (std::size_t i = 0; i < paths.size() && result.paths < 256; i += step) {
        ++result.paths;
        result.matched += finder.find(paths[i]) != no_id ? 1U : 0U;
    }
    result.owner.assign(names.size(), no_id);
    for (std::size_t i = 0; i < paths.size(); ++i) {
        result.owner[parameter[i]] = finder.find(paths[i]);
    }
    return result;
}

void find_parameter_owners(benchmark::State& state) {
    const owned_scene scene(state);
    stemma_bench::measure_beside(
        state,
        [&] {
            return owners_kept{stemma::detail::find_parameter_owners(scene.ops, scene.modules),
                               scene.ops.parameter_count()};
        },
        [&] { return find_by_hand(scene); });
}

/// The claims about an operator.
struct claimed {
    id module = no_id; ///< the last one
    id times = 0;

    void add(id m) {
        module = m;
        ++times;
    }

    friend bool operator==(const claimed&, const claimed&) = default;
};

/// For an operator that reads several parameters: the owner they share, otherwise their common
/// ancestor.
void add_shared(const owned_scene& scene, const stemma::detail::parameter_owners& owners, id v,
                claimed& claims) {
    const auto& ops = scene.ops;
    std::vector<id> common;
    id above = no_id;
    for (auto at = ops.first_parameter[v]; at < ops.first_parameter[v + 1]; ++at) {
        const auto own = owners.of(ops.parameters[at]);
        if (own.empty()) {
            continue;
        }
        if (above == no_id) {
            common.assign(own.begin(), own.end());
        } else {
            std::erase_if(common,
                          [&](id m) { return std::find(own.begin(), own.end(), m) == own.end(); });
        }
        for (auto m : own) {
            above = above == no_id ? m : scene.modules.tree.lca(above, m);
        }
    }
    if (common.empty()) {
        common.push_back(above);
    }
    for (auto m : common) {
        claims.add(m);
    }
}

void parameter_names(benchmark::State& state) {
    const owned_scene scene(state);
    const auto owners = stemma::detail::find_parameter_owners(scene.ops, scene.modules);
    const std::vector<id> bypassed; // no module is, and none is joined
    const std::unordered_map<id, id> joined;
    const stemma::parameter_names::claims source(scene.ops, scene.modules, owners, bypassed, {},
                                                 joined);
    const auto& ops = scene.ops;
    const auto size = static_cast<id>(ops.names.size());
    stemma_bench::measure_beside(
        state,
        [&] {
            std::vector<claimed> claims(size);
            for (id v = 0; v < size; ++v) {
                source.for_each_claim(v,
                                      [&](const stemma::claim& one) { claims[v].add(one.module); });
            }
            return claims;
        },
        [&] {
            std::vector<claimed> claims(size);
            for (id v = 0; v < size; ++v) {
                id first = no_id;
                bool several = false;
                const auto begin = ops.first_parameter[v];
                const auto end = ops.first_parameter[v + 1];
                for (auto at = begin; at < end; ++at) {
                    const auto p = ops.parameters[at];
                    if (p != first && !owners.of(p).empty()) {
                        several = first != no_id;
                        first = several ? first : p;
                    }
                }
                if (several) {
                    add_shared(scene, owners, v, claims[v]);
                } else if (first != no_id) {
                    for (auto module : owners.of(first)) {
                        claims[v].add(module);
                    }
                }
            }
            return claims;
        });
}

void sizes(benchmark::internal::Benchmark* bench) {
    bench->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
    stemma_bench::in_turns(bench);
}

BENCHMARK(find_parameter_owners)->Apply(sizes);
BENCHMARK(parameter_names)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
