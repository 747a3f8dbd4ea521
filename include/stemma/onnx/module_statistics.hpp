// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_MODULE_STATISTICS_HPP
#define STEMMA_ONNX_MODULE_STATISTICS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/parameter_owners.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/wire/tensor_header.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/tagger.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// How many nodes, parameters and operators of which type a module has, itself and with all below.
/// Columns are by module.
struct module_statistics {
    /// How often an operator occurs.
    struct operator_count {
        id op = no_id; ///< number of the operator in the model
        id count = 0;  ///< how many nodes
    };

    std::vector<id> own_nodes;                 ///< nodes whose deepest module it is
    std::vector<id> nodes;                     ///< of it and of all below
    std::vector<std::uint64_t> own_parameters; ///< elements, shared ones with every owner
    std::vector<std::uint64_t> parameters;     ///< elements, shared ones once
    std::vector<std::uint64_t> trainable;      ///< of `parameters`; 0 where the tree declares none
    std::vector<std::vector<operator_count>> operators; ///< with all below; the most frequent first
    bool declared = false; ///< parameters are those the tree declares, not the model's initializers
};

namespace detail {

inline void add_up(const tree_index& tree, std::vector<std::uint64_t>& column) {
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        column[tree.parent(m)] += column[m];
    }
}

/// Counts what the tree declares. What several modules share counts once where they meet.
inline void count_declared(const module_tree& modules, module_statistics& result) {
    const auto& tree = modules.index();
    for (id m = 0; m < modules.size(); ++m) {
        for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
            const auto parameter = modules.parameter(m, i);
            result.own_parameters[m] += parameter.elements();
            result.trainable[m] += parameter.trainable ? parameter.elements() : 0;
        }
    }
    result.parameters = result.own_parameters;
    const module_lookup<module_tree> lookup(modules);
    for (const auto& group : modules.shared_parameters()) {
        std::vector<std::pair<id, std::size_t>> owners; // module, which of its parameters
        for (const auto& path : group) {
            const auto dot = path.rfind('.');
            const auto owner =
                find_module(lookup, dot == path.npos ? "" : std::string_view(path).substr(0, dot));
            const auto name = std::string_view(path).substr(dot == path.npos ? 0 : dot + 1);
            for (std::size_t i = 0; owner != no_id && i < modules.parameter_count(owner); ++i) {
                if (modules.parameter(owner, i).name == name) {
                    owners.emplace_back(owner, i);
                }
            }
        }
        std::sort(owners.begin(), owners.end());
        for (std::size_t i = 1; i < owners.size(); ++i) {
            const auto meet = tree.lca(owners[i - 1].first, owners[i].first);
            const auto parameter = modules.parameter(owners[i].first, owners[i].second);
            result.parameters[meet] -= parameter.elements();
            result.trainable[meet] -= parameter.trainable ? parameter.elements() : 0;
        }
    }
}

/// Counts the weights of the model: each with the module its name speaks of, else where its readers
/// meet.
inline void count_initializers(const wire_model& model, const module_tree& modules,
                               const tagging& found, module_statistics& result) {
    const module_lookup<module_tree> lookup(modules);
    std::vector<id> meets(model.value_count(), no_id);
    for (id node = 0; node < model.node_count(); ++node) {
        for (auto value : model.inputs(node)) {
            if (value != no_id && model.is_initializer(value)) {
                const auto module = found.attributions[node].module;
                meets[value] =
                    meets[value] == no_id ? module : modules.index().lca(meets[value], module);
            }
        }
    }
    for (const auto& tensor : model.tensors()) {
        const auto header = read_tensor_header(model, tensor);
        if (!is_floating_type(header.data_type)) {
            continue;
        }
        const auto path = owner_path(model.text(tensor.name));
        const auto owner = path.empty() ? no_id : find_module(lookup, path);
        const auto module = owner != no_id ? owner : meets[tensor.value];
        result.own_parameters[module == no_id ? 0 : module] += header.elements();
    }
    result.parameters = result.own_parameters;
}

} // namespace detail

/// Complexity: O(nodes + values + modules), and modules times operator types for the operators.
[[nodiscard]] inline module_statistics
collect_statistics(const wire_model& model, const module_tree& modules, const tagging& found) {
    const auto& tree = modules.index();
    module_statistics result;
    result.own_nodes.resize(modules.size());
    result.own_parameters.resize(modules.size());
    result.trainable.resize(modules.size());
    result.operators.resize(modules.size());
    for (const auto& made : found.attributions) {
        ++result.own_nodes[made.module];
    }
    for (id m = 0; m < modules.size() && !result.declared; ++m) {
        result.declared = modules.parameter_count(m) > 0;
    }
    result.declared ? detail::count_declared(modules, result)
                    : detail::count_initializers(model, modules, found, result);
    detail::add_up(tree, result.parameters);
    detail::add_up(tree, result.trainable);
    result.nodes = result.own_nodes;
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        result.nodes[tree.parent(m)] += result.nodes[m];
    }
    std::vector<std::pair<id, id>> pairs; // module, operator
    for (id node = 0; node < model.node_count(); ++node) {
        pairs.emplace_back(found.attributions[node].module, model.operator_id(node));
    }
    std::sort(pairs.begin(), pairs.end());
    for (std::size_t i = 0, end = 0; i < pairs.size(); i = end) {
        while (end < pairs.size() && pairs[end] == pairs[i]) {
            ++end;
        }
        result.operators[pairs[i].first].push_back({pairs[i].second, static_cast<id>(end - i)});
    }
    const auto merge_into = [](auto& above, const auto& below) {
        for (const auto& more : below) {
            const auto same = std::find_if(above.begin(), above.end(),
                                           [&](const auto& known) { return known.op == more.op; });
            same == above.end() ? above.push_back(more)
                                : static_cast<void>(same->count += more.count);
        }
    };
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        merge_into(result.operators[tree.parent(m)], result.operators[m]);
    }
    for (auto& operators : result.operators) {
        std::sort(operators.begin(), operators.end(), [&](const auto& a, const auto& b) {
            return a.count != b.count ? a.count > b.count
                                      : model.operator_type(a.op) < model.operator_type(b.op);
        });
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_ONNX_MODULE_STATISTICS_HPP
