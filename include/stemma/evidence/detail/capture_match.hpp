// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_CAPTURE_MATCH_HPP
#define STEMMA_EVIDENCE_DETAIL_CAPTURE_MATCH_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/owner_paths.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether a path leads to a module below the root, as it is or after an optimizer's prefix, as in
/// `Fused_W_layer.0.conv`.
template <class Lookup>
[[nodiscard]] bool ends_in_module(const Lookup& lookup, std::string_view path) {
    for (std::size_t steps = 0; steps < 8; ++steps) {
        if (!path.empty() && find_module(lookup, path) != no_id) {
            return true;
        }
        const auto bar = path.find('_');
        if (bar == path.npos) {
            return false;
        }
        path.remove_prefix(bar + 1);
    }
    return false;
}

/// Whether some scope in an operator's name is one of the given names, ignoring numeric suffixes:
/// `layer` or `fc` in `/layer.0/fc/Add`.
[[nodiscard]] inline bool has_scope_among(std::string_view name,
                                          const std::unordered_set<std::string>& names) {
    for (auto slash = name.find('/', 1); slash != name.npos; slash = name.find('/', 1)) {
        const auto scope = name.substr(1, slash - 1);
        if (names.contains(std::string(scope.substr(0, scope.find('.'))))) {
            return true;
        }
        name.remove_prefix(slash);
    }
    return false;
}

/// How much of what a model says about modules matches those of a capture.
struct capture_match {
    std::size_t paths = 0;        ///< distinct ones, of parameters
    std::size_t known_paths = 0;  ///< those that lead to a module
    std::size_t scopes = 0;       ///< operators with a scope
    std::size_t known_scopes = 0; ///< those with a scope named like a module

    /// Whether the capture clearly belongs to another model: hardly anything matches. False for a
    /// model with few paths and few scopes, unless there are some of both and none matches.
    [[nodiscard]] bool is_foreign() const noexcept {
        constexpr std::size_t share = 10;
        const auto hardly = [](std::size_t count, std::size_t all) {
            return count == 0 || count * share < all;
        };
        const bool has_enough = paths >= 4 || scopes >= 8;
        const bool has_some = paths >= 2 && scopes >= 2 && known_paths + known_scopes == 0;
        return hardly(known_paths, paths) && hardly(known_scopes, scopes) &&
               (has_enough || has_some);
    }

    /// Returns: the message for a foreign capture.
    [[nodiscard]] std::string note() const {
        const auto of = [](std::size_t count, std::size_t all) {
            return std::to_string(count) + " of " + std::to_string(all);
        };
        return "modules: it has " + of(known_scopes, scopes) + " scopes and " +
               of(known_paths, paths) +
               " parameter paths of the file; it seems to belong to another model and is ignored";
    }
};

/// Counts what a model and the modules of a capture have in common.
/// Complexity: that of `owner_paths`, and O(operators + bytes of names + modules).
template <parameter_readers Ops, module_view Modules>
    requires named_operators<Ops>
[[nodiscard]] capture_match match_capture(const Ops& ops, const Modules& modules) {
    capture_match result;
    std::unordered_set<std::string_view> seen;
    std::vector<std::string_view> paths;
    for (const auto path : owner_paths(ops)) {
        if (!path.empty() && seen.insert(path).second) {
            paths.push_back(path);
        }
    }
    const module_lookup<Modules> lookup(modules);
    const auto mapping = find_path_mapping(modules, lookup, paths);
    result.paths = paths.size();
    for (auto path : paths) {
        const auto rest = mapping.apply(path);
        result.known_paths += (!rest.empty() && find_module(lookup, rest, mapping.base) != no_id) ||
                                      detail::ends_in_module(lookup, path)
                                  ? 1U
                                  : 0U;
    }
    std::unordered_set<std::string> names;
    for (id m = 1; m < modules.index().size(); ++m) {
        names.emplace(modules.name(m));
    }
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const std::string_view name = ops.name(*it);
        const bool has_scope = name.starts_with('/') && name.find('/', 1) != name.npos;
        result.scopes += has_scope ? 1U : 0U;
        result.known_scopes += has_scope && detail::has_scope_among(name, names) ? 1U : 0U;
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_CAPTURE_MATCH_HPP
