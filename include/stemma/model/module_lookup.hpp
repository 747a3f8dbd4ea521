// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_MODULE_LOOKUP_HPP
#define STEMMA_MODEL_MODULE_LOOKUP_HPP

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/path_trail.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_view.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// Finds modules of any view by their names in their parents.
template <module_view Modules>
class module_lookup {
public:
    /// Requires: `modules` outlives the look-up.
    /// Complexity: O(modules).
    explicit module_lookup(const Modules& modules) : modules_(&modules) {
        const tree_index& tree = modules.index();
        children_.reserve(tree.size());
        for (id m = 1; m < tree.size(); ++m) {
            children_.insert(hash_of(tree.parent(m), modules.name(m)), m, [](id) { return false; });
        }
    }

    /// Returns: the child of `parent` with that name, or `no_id`.
    [[nodiscard]] id child(id parent, std::string_view name) const {
        return children_.find(hash_of(parent, name), [&](id m) {
            return modules_->index().parent(m) == parent && modules_->name(m) == name;
        });
    }

private:
    [[nodiscard]] static std::uint64_t hash_of(id parent, std::string_view name) noexcept {
        return detail::hash_bytes(name, parent);
    }

    const Modules* modules_;
    detail::flat_index children_;
};

/// A module_tree can find its children itself.
template <>
class module_lookup<module_tree> {
public:
    /// Requires: `modules` outlives the look-up.
    explicit module_lookup(const module_tree& modules) : modules_(&modules) {}

    /// Returns: the child of `parent` with that name, or `no_id`.
    [[nodiscard]] id child(id parent, std::string_view name) const {
        return modules_->child(parent, name);
    }

private:
    const module_tree* modules_;
};

namespace detail {

/// Returns: the deepest module on a dotted path below `from`, and the rest of the path. The last
/// name may contain dots.
/// Complexity: O(length) expected.
template <class Lookup>
[[nodiscard]] std::pair<id, std::string_view> find_longest(const Lookup& lookup,
                                                           std::string_view path, id from = 0) {
    while (!path.empty()) {
        const auto dot = path.find('.');
        auto next = lookup.child(from, path.substr(0, dot));
        if (next == no_id) {
            next = dot == path.npos ? no_id : lookup.child(from, path);
            return next == no_id ? std::pair(from, path) : std::pair(next, std::string_view());
        }
        from = next;
        path.remove_prefix(dot == path.npos ? path.size() : dot + 1);
    }
    return {from, path};
}

} // namespace detail

/// Returns: the module at a dotted path below `from`, or `no_id`.
template <class Lookup>
[[nodiscard]] id find_module(const Lookup& lookup, std::string_view path, id from = 0) {
    const auto [module, rest] = detail::find_longest(lookup, path, from);
    return rest.empty() && !path.ends_with('.') ? module : no_id;
}

namespace detail {

/// Finds modules at one dotted path after another, resuming where each diverges from the previous
/// one. No name contains a dot.
template <class Lookup>
class module_trail {
public:
    /// Requires: the look-up outlives the trail.
    explicit module_trail(const Lookup& lookup) : lookup_(&lookup) {}

    /// Returns: the module at a dotted path below `from`, or `no_id`.
    /// Complexity: O(length); one look-up per segment not shared with the previous path.
    [[nodiscard]] id find(std::string_view path, id from = 0) {
        const auto match = trail_.follow(from, path, [&](id parent, std::string_view name) {
            return parent == nowhere ? nowhere : std::min(lookup_->child(parent, name), nowhere);
        });
        return match == nowhere ? no_id : match;
    }

private:
    static constexpr id nowhere = no_id - 1; // a trail needs a position even for a miss

    const Lookup* lookup_;
    path_trail trail_{'.'};
};

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_MODULE_LOOKUP_HPP
