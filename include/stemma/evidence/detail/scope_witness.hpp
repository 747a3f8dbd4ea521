// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_WITNESS_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_WITNESS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/vertex_ranges.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/detail/mark_matrices.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether an operator has the name of one after it that it was joined with and that reads no
/// parameters. Complexity: O(length of the name).
template <operator_view Ops>
[[nodiscard]] bool is_named_after_reader(const Ops& ops, operator_t<Ops> v) {
    if constexpr (joined_operators<Ops> && named_operators<Ops>) {
        const std::string_view name = ops.name(v);
        return name.find("_nchwc") != name.npos && ops.is_joined(v);
    }
    return false;
}

/// Returns: by scope, what the parameters read in it, and in the scopes below it, point to.
/// Complexity: O(operators + scopes + reads).
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] std::vector<common_module> collect_witnesses(const Ops& ops, const scope_table& table,
                                                           const Modules& modules,
                                                           const parameter_owners& owners) {
    const auto count = thread_limit::current().parts_of_operators(num_vertices(ops.graph()));
    std::vector<std::vector<common_module>> parts(count);
    for_each_vertex_range(ops.graph(), count, [&](std::size_t part, auto it, auto last) {
        auto& seen = parts[part];
        seen.resize(table.scopes.size());
        for (; it != last; ++it) {
            const auto s = table.scope_of[index_of(ops.graph(), *it)];
            if (s == no_id || (!table.leftover.empty() && is_named_after_reader(ops, *it))) {
                continue;
            }
            ops.for_each_parameter(*it, [&](id p) {
                if (owners.of(p).size() == 1) {
                    seen[s].add(nearest_called(modules, owners.of(p).front()));
                }
            });
        }
    });
    auto witness = std::move(parts[0]);
    for (std::size_t part = 1; part < count; ++part) {
        for (std::size_t s = 0; s < witness.size(); ++s) {
            witness[s].add(parts[part][s]);
        }
    }
    for (auto s = static_cast<id>(table.scopes.size()); s-- > scope_style_count;) {
        const auto& deep = witness[s];
        if (deep.low != no_id) {
            witness[table.scopes[s].parent].add(deep);
        }
    }
    return witness;
}

/// Returns: by scope, whether its own operators read a weight without an owner.
/// Complexity: O(operators + parameters).
template <parameter_readers Ops>
[[nodiscard]] std::vector<bool> find_weighted(const Ops& ops, const scope_table& table,
                                              const parameter_owners& owners) {
    std::vector<bool> result(table.scopes.size());
    if constexpr (sized_parameters<Ops>) {
        std::vector<bool> nameless(ops.parameter_count());
        for (id p = 0; p < nameless.size(); ++p) {
            nameless[p] = owners.of(p).empty();
        }
        ops.keep_matrices(nameless);
        for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
            const auto s = table.scope_of[index_of(ops.graph(), *it)];
            ops.for_each_parameter(*it, [&](id p) {
                if (s != no_id && nameless[p]) {
                    result[s] = true;
                }
            });
        }
    }
    return result;
}

/// Returns: by scope, the weights that its own operators read, ascending: initializers, under
/// whichever name. Complexity: O(operators + parameters), times a logarithm.
template <parameter_readers Ops>
[[nodiscard]] std::vector<std::vector<id>> find_weights_read(const Ops& ops,
                                                             const scope_table& table) {
    std::vector<std::vector<id>> result(table.scopes.size());
    const auto marked = mark_matrices(ops);
    for (auto [it, last] = vertices(ops.graph()); it != last && !marked.empty(); ++it) {
        const auto s = table.scope_of[index_of(ops.graph(), *it)];
        ops.for_each_parameter(*it, [&](id p) {
            if (s != no_id && marked[p]) {
                result[s].push_back(origin_of(ops, p));
            }
        });
    }
    for (auto& weights : result) {
        std::sort(weights.begin(), weights.end());
    }
    return result;
}

/// Tells which scopes have operators that read a weight without an owner; found when first asked.
class weighted_scopes {
public:
    /// `find()` returns it by scope; none does if it is empty.
    explicit weighted_scopes(std::function<std::vector<bool>()> find) : find_(std::move(find)) {}

    /// Whether scope `s` does. Thread-safe.
    [[nodiscard]] bool operator()(id s) const {
        std::call_once(asked_, [&] { weighted_ = find_ ? find_() : std::vector<bool>(); });
        return s < weighted_.size() && weighted_[s];
    }

private:
    std::function<std::vector<bool>()> find_;
    mutable std::once_flag asked_;
    mutable std::vector<bool> weighted_;
};

/// Whether a module has parameters of its own, if the tree knows that.
template <module_view Modules>
[[nodiscard]] bool owns_parameters(const Modules& modules, id m) {
    if constexpr (requires { modules.parameter_count(m); }) {
        return modules.parameter_count(m) > 0;
    }
    return false;
}

/// Finds out which of `fits` a scope stands for. These print alike, and some have parameters while
/// others have none, as the adapters of a layer and their dropout: scopes that read weights stand
/// for the former, in order. `scope` is called `stem`, with or without a number; `weighted(scope)`
/// says whether it reads a weight, `calls(module)` how often a module with parameters ran.
///
/// Returns: the module; `no_id` if `scope` reads no weight, or numbers of scopes and modules do not
/// match. Complexity: O(scopes that print so).
template <class Weighted, class Calls, class Owns>
[[nodiscard]] id find_by_weights(const scope_table& table, id scope, std::string_view stem,
                                 const std::vector<id>& fits, const Weighted& weighted, Calls calls,
                                 Owns owns) {
    constexpr std::size_t most = 64;
    std::vector<id> owning; // by call
    for (auto m : fits) {
        owns(m) ? void(owning.insert(owning.end(), std::min<std::size_t>(calls(m), most), m))
                : void();
    }
    if (owning.empty() || owning.size() > most || detail::range::all_of(fits, owns) ||
        !weighted(scope)) {
        return no_id;
    }
    const auto parent = table.scopes[scope].parent;
    auto place = owning.size();
    std::size_t seen = 0;
    auto name = std::string(stem);
    auto next = table.find(parent, name);
    for (std::size_t i = 1; next != no_id && i <= 2 * most; ++i) {
        place = next == scope ? seen : place;
        seen += weighted(next) ? 1U : 0U;
        next = table.find(parent, name + "_" + std::to_string(i));
    }
    return seen == owning.size() && place < seen ? owning[place] : no_id;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_WITNESS_HPP
