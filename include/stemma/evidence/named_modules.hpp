// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_NAMED_MODULES_HPP
#define STEMMA_EVIDENCE_NAMED_MODULES_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/evidence/detail/function_names.hpp>
#include <stemma/evidence/detail/grow_class_tags.hpp>
#include <stemma/evidence/detail/hierarchy_modules.hpp>
#include <stemma/evidence/detail/hierarchy_table.hpp>
#include <stemma/evidence/detail/owner_paths.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/detail/printed_paths.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Adds the modules that functions are named after, as far as a parameter's path confirms that they
/// are; most have parameters, and are known. Complexity: that of `printed_paths::resolve`.
template <named_operators Ops>
void grow_called(const Ops& ops, module_tree_builder& builder) {
    if constexpr (calling_operators<Ops>) {
        std::vector<std::string> calls;
        for (id f = 0; f < ops.function_count(); ++f) {
            if (std::string_view(ops.function_domain(f)).starts_with("pkg.") &&
                ops.function_domain(f) != subgraph_domain) {
                calls.push_back(std::string(ops.function_name(f)) + "_x"); // a name in its body
            }
        }
        if (calls.empty()) {
            return;
        }
        printed_paths paths;
        for (id p = 0; p < ops.parameter_count(); ++p) {
            paths.add_parameter(ops.parameter_name(p));
        }
        for (const auto& name : calls) {
            paths.add(name);
        }
        paths.resolve();
        for (const auto& name : calls) {
            if (const auto* path = paths.find(name); path != nullptr && paths.any_known()) {
                builder.at_path(*path);
            }
        }
    }
}

} // namespace detail

/// What names and metadata alone reveal about modules, before looking at the wiring of operators.
struct named_modules {
    module_tree_builder builder; ///< of the modules in metadata and in names of parameters
    module_tree modules;         ///< what it built
    std::vector<id> owner;       ///< by parameter: a module of the builder, or `no_id`
    std::vector<std::pair<id, id>> folded; ///< a parameter, and an owner of what it was folded from
    id size = 0;                           ///< number of modules before those of `folded`
    detail::scope_table scopes;            ///< of the operators' names
    detail::hierarchy_table hierarchies;   ///< of the operators' metadata
};

namespace detail {

/// Collects the modules in the metadata of operators and in the names of parameters, and the scopes
/// in the names of operators; without any, the classes in tags.
/// Requires: `ops` may be read concurrently if a `thread_scope` allows it.
/// Complexity: O(bytes of names and metadata) expected.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] named_modules collect_named_modules(const Ops& ops, std::string_view root_name = "") {
    named_modules result;
    result.builder.set_root_name(root_name);
    const auto grow_owners = [&] {
        result.hierarchies = collect_hierarchies(ops);
        grow_hierarchies(result.hierarchies, result.builder);
        for (const auto path : owner_paths(ops)) {
            result.owner.push_back(path.empty() ? no_id : result.builder.at_path(path));
        }
        grow_called(ops, result.builder);
        result.size = static_cast<id>(result.builder.size());
        if constexpr (requires { ops.for_each_folded_parameter(take_folded{}); }) {
            ops.for_each_folded_parameter([&](id p, std::string_view origin) {
                if (const auto path = owner_path(origin);
                    !path.empty() && result.owner[p] == no_id) {
                    result.folded.emplace_back(p, result.builder.at_path(path));
                }
            });
        }
        result.modules = result.builder.build();
    };
    const auto size = static_cast<std::size_t>(num_vertices(ops.graph()));
    task_beside owners(size, grow_owners);
    result.scopes = collect_scopes(ops);
    owners.wait();
    if (result.builder.size() == 1 && result.scopes.scopes.size() == scope_style_count) {
        grow_class_tags(result.hierarchies, result.builder);
        result.size = static_cast<id>(result.builder.size());
        result.modules = result.builder.build();
    }
    return result;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_NAMED_MODULES_HPP
