// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PARAMETER_OWNERS_HPP
#define STEMMA_EVIDENCE_DETAIL_PARAMETER_OWNERS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/evidence/detail/owner_paths.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The owning modules of each parameter of a model: none if its name leads nowhere or says nothing,
/// several if modules share it.
class parameter_owners {
public:
    parameter_owners() = default;

    /// Reserves room for so many parameters with one owner each.
    void reserve(std::size_t count) {
        owners_.reserve(count);
        first_.reserve(count + 1);
    }

    /// Adds the owners of the next parameter; call for each in turn, from parameter 0.
    /// Complexity: O(owners) amortized.
    void add(std::span<const id> owners) {
        for (auto owner : owners) {
            owners_.push_back(owner);
        }
        first_.push_back(static_cast<id>(owners_.size()));
    }

    /// Returns: the owners, as added; valid until `add`. Requires: they were added.
    [[nodiscard]] std::span<const id> of(id parameter) const noexcept {
        return {owners_.data() + first_[parameter],
                owners_.data() + first_[std::size_t{parameter} + 1]};
    }

    /// Whether any parameter has an owner.
    [[nodiscard]] bool any() const noexcept { return !owners_.empty(); }

    /// How paths in names lead to modules.
    path_mapping mapping;

private:
    std::vector<id> owners_;
    std::vector<id> first_{0}; // by parameter, plus one
};

/// Returns: what is around the owners of the parameters that an operator reads.
/// Complexity: O(owners).
template <parameter_readers Ops>
[[nodiscard]] common_module owners_read(const Ops& ops, const parameter_owners& owners,
                                        operator_t<Ops> v) {
    common_module around;
    ops.for_each_parameter(v, [&](id p) {
        for (auto owner : owners.of(p)) {
            around.add(owner);
        }
    });
    return around;
}

/// Returns: `m` or, if it is known never to have run, its nearest ancestor that did.
/// Complexity: O(depth).
template <module_view Modules>
[[nodiscard]] id nearest_called(const Modules& modules, id m) {
    if constexpr (counts_calls<Modules>) {
        while (m != 0 && modules.calls(m) == 0) {
            m = modules.index().parent(m);
        }
    }
    return m;
}

/// Returns: the parameters whose names cannot be read, each with the first operator that reads it.
/// Requires: `ops` may be read concurrently if a `thread_scope` allows it.
/// Complexity: O(bytes of names), and O(operators) if there are any.
template <parameter_readers Ops>
[[nodiscard]] std::vector<finding> find_unreadable_parameters(const Ops& ops) {
    const auto parts = thread_limit::current().parts_of_operators(num_vertices(ops.graph()));
    std::vector<std::unordered_map<id, const char*>> unreadable(parts);
    for_each_range(ops.parameter_count(), parts,
                   [&](std::size_t part, std::size_t p, std::size_t end) {
                       for (; p < end; ++p) {
                           const auto number = static_cast<id>(p);
                           detail::prefetch_name_behind(ops, number);
                           const auto name = ops.parameter_name(number);
                           if (const char* problem = find_parameter_problem(name)) {
                               unreadable[part].emplace(number, problem);
                           }
                       }
                   });
    std::unordered_map<id, const char*> open;
    for (auto& of_part : unreadable) {
        open.merge(of_part);
    }
    std::vector<finding> problems;
    for (auto [it, last] = vertices(ops.graph()); it != last && !open.empty(); ++it) {
        const auto v = static_cast<id>(index_of(ops.graph(), *it));
        ops.for_each_parameter(*it, [&](id p) {
            if (const auto entry = open.find(p); entry != open.end()) {
                problems.push_back({"parameter.unreadable", v, entry->second});
                open.erase(entry);
            }
        });
    }
    return problems;
}

/// What a module_tree knows beyond paths: declared tensors, aliases, shared parameters.
class declared_owners {
public:
    explicit declared_owners(const module_tree& modules) : modules_(&modules) {
        for (const auto& alias : modules.aliases()) {
            aliases_.emplace(alias.path, alias.module);
        }
        for (std::size_t g = 0; g < modules.shared_parameters().size(); ++g) {
            for (const auto& path : modules.shared_parameters()[g]) {
                groups_.emplace(path, g);
            }
        }
    }

    [[nodiscard]] id alias(std::string_view path) const {
        const auto entry = aliases_.empty() ? aliases_.end() : aliases_.find(std::string(path));
        return entry == aliases_.end() ? no_id : entry->second;
    }

    [[nodiscard]] bool declares(id m, std::string_view tensor) const {
        for (std::size_t i = 0; i < modules_->parameter_count(m); ++i) {
            if (modules_->parameter(m, i).name == tensor) {
                return true;
            }
        }
        for (std::size_t i = 0; i < modules_->buffer_count(m); ++i) {
            if (modules_->buffer(m, i).name == tensor) {
                return true;
            }
        }
        return false;
    }

    /// Returns: all paths of the tensor at this one, or none if it has no other.
    [[nodiscard]] std::span<const std::string> sharing(std::string_view path) const {
        const auto entry = groups_.empty() ? groups_.end() : groups_.find(std::string(path));
        return entry == groups_.end()
                   ? std::span<const std::string>{}
                   : std::span<const std::string>(modules_->shared_parameters()[entry->second]);
    }

private:
    const module_tree* modules_;
    std::unordered_map<std::string, id> aliases_;
    std::unordered_map<std::string, std::size_t> groups_;
};

/// Returns: for parameters folded from others, the common ancestor of the owners of those.
template <parameter_readers Ops, class OwnerOf>
[[nodiscard]] std::unordered_map<id, id> find_folded_owners(const Ops& ops, const tree_index& tree,
                                                            OwnerOf owner_of) {
    std::unordered_map<id, id> folded;
    if constexpr (requires { ops.for_each_folded_parameter(take_folded{}); }) {
        ops.for_each_folded_parameter([&](id p, std::string_view origin) {
            if (const auto owner = owner_of(origin); owner != no_id) {
                const auto [entry, added] = folded.emplace(p, owner);
                entry->second = added ? owner : tree.lca(entry->second, owner);
            }
        });
    }
    return folded;
}

/// Finds the modules that parameter names denote; none for those in `merged`, which is by parameter
/// or empty. Complexity: that of `owner_paths`.
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] parameter_owners find_parameter_owners(const Ops& ops, const Modules& modules,
                                                     const std::vector<bool>& merged = {}) {
    const auto count = static_cast<id>(ops.parameter_count());
    const auto path_of = owner_paths(ops);
    std::vector<std::string_view> paths;
    paths.reserve(count);
    std::copy_if(path_of.begin(), path_of.end(), std::back_inserter(paths),
                 [](std::string_view path) { return !path.empty(); });
    const module_lookup<Modules> lookup(modules);
    parameter_owners result;
    result.reserve(count);
    result.mapping = find_path_mapping(modules, lookup, paths);
    module_trail trail(lookup);
    const auto module_at = [&](std::string_view path) {
        return path.empty() ? no_id : trail.find(result.mapping.apply(path), result.mapping.base);
    };
    const auto owner_of = [&](std::string_view name) { return module_at(owner_path(name)); };
    const auto folded = detail::find_folded_owners(ops, modules.index(), owner_of);
    const auto is_merged = [&](id p) { return p < merged.size() && merged[p]; };
    std::vector<id> owners;
    if constexpr (std::same_as<Modules, module_tree>) {
        const detail::declared_owners declared(modules);
        for (id p = 0; p < count; ++p) {
            if (is_merged(p)) {
                result.add({});
                continue;
            }
            const std::string_view name = ops.parameter_name(p);
            owners.clear();
            auto owner = module_at(path_of[p]);
            if (owner == no_id) {
                owner = declared.alias(path_of[p]);
            }
            if (owner == no_id && declared.declares(0, name)) {
                owner = 0;
            }
            if (const auto origin = folded.find(p); owner == no_id && origin != folded.end()) {
                owner = origin->second;
            }
            if (owner != no_id) {
                owners.push_back(owner);
            }
            for (const auto& path : declared.sharing(result.mapping.apply(name))) {
                auto other = owner_of(path);
                other = other == no_id ? declared.alias(owner_path(path)) : other;
                if (other != no_id &&
                    std::find(owners.begin(), owners.end(), other) == owners.end()) {
                    owners.push_back(other);
                }
            }
            result.add(owners);
        }
    } else {
        for (id p = 0; p < count; ++p) {
            if (is_merged(p)) {
                result.add({});
                continue;
            }
            auto owner = module_at(path_of[p]);
            if (const auto origin = folded.find(p); owner == no_id && origin != folded.end()) {
                owner = origin->second;
            }
            result.add({&owner, owner == no_id ? 0U : 1U});
        }
    }
    return result;
}

/// For a parameter shared by several modules, which owner a reader speaks for.
///
/// A file names such a parameter after the module whose operator reads it first, as an embedding
/// before the output layer. Operators of the same type as the first reader speak for the owner in
/// the name, others for the other owners.
template <parameter_readers Ops>
class tied_parameters {
public:
    /// Requires: both outlive it.
    /// Complexity: O(parameters), and O(operators) if any is shared.
    tied_parameters(const Ops& ops, const parameter_owners& owners) : ops_(&ops), owners_(&owners) {
        if constexpr (named_operators<Ops>) {
            bool any = false;
            for (id p = 0; p < ops.parameter_count() && !any; ++p) {
                any = owners.of(p).size() > 1;
            }
            if (!any) {
                return;
            }
            for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
                const auto v = *it;
                ops.for_each_parameter(v, [&](id p) {
                    if (owners.of(p).size() > 1) {
                        first_type_.emplace(p, std::string(ops.op_type(v)));
                    }
                });
            }
        }
    }

    /// Returns: whether an operator that reads parameter `p` speaks for the owner at `place` among
    /// its owners. Complexity: O(1) expected.
    [[nodiscard]] bool favours(operator_t<Ops> v, id p, std::size_t place) const {
        if constexpr (named_operators<Ops>) {
            const auto first = first_type_.find(p);
            if (owners_->of(p).size() > 1 && first != first_type_.end()) {
                return (first->second == std::string_view(ops_->op_type(v))) == (place == 0);
            }
        }
        return true;
    }

private:
    const Ops* ops_;
    const parameter_owners* owners_;
    std::unordered_map<id, std::string> first_type_; // by parameter with several owners
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PARAMETER_OWNERS_HPP
