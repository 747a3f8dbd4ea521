// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_MODULE_STATISTICS_HPP
#define STEMMA_RECORD_MODULE_STATISTICS_HPP

#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/weight_places.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/weight_kind.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <boost/pending/disjoint_sets.hpp>
#include <boost/property_map/vector_property_map.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Counts of nodes, parameters and operators by type for each module, own and including
/// descendants. Columns are by module.
struct module_statistics {
    /// How often an operator occurs.
    struct operator_count {
        id op = no_id; ///< number of the operator in the model
        id count = 0;  ///< how many nodes
    };

    /// The amount of weights of one kind and type.
    struct weight_count {
        weight_kind kind = weight_kind::parameter; ///< their purpose in the model
        std::int64_t data_type = 0;                ///< a number in TensorProto.DataType
        std::uint64_t elements = 0;                ///< counting each of several packed into one
        std::uint64_t bytes = 0;                   ///< of their data
    };

    std::vector<id> own_nodes;                 ///< nodes whose deepest module this is
    std::vector<id> nodes;                     ///< including those of descendants
    std::vector<std::uint64_t> own_parameters; ///< elements, shared ones counted for every owner
    std::vector<std::uint64_t> parameters;     ///< elements, shared ones once
    std::vector<std::uint64_t> trainable;      ///< of `parameters`; 0 if the tree declares none
    std::vector<std::vector<operator_count>> operators; ///< with descendants; most frequent first
    bool declared = false; ///< parameters are those declared by the tree, not those in the file
    std::vector<std::vector<weight_count>>
        weights;                       ///< in the file, with descendants; by kind, type
    std::vector<std::uint64_t> stored; ///< elements of parameters in the file, with descendants
    std::vector<std::uint64_t> bytes;  ///< of their data
};

namespace detail {

inline void add_up(const tree_index& tree, std::vector<std::uint64_t>& column) {
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        column[tree.parent(m)] += column[m];
    }
}

/// Counts what the tree declares. A parameter shared by several modules counts once, in their
/// common ancestor.
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
    if (modules.shared_parameters().empty()) {
        return;
    }
    std::vector<std::pair<id, std::size_t>> declared; // module, which of its parameters
    flat_index by_name;                               // of those, the first with each name
    const auto is = [&](id m, std::string_view name) {
        return [&, m, name](id one) {
            const auto [owner, i] = declared[one];
            return owner == m && modules.parameter(owner, i).name == name;
        };
    };
    for (id m = 0; m < modules.size(); ++m) {
        for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
            const auto name = modules.parameter(m, i).name;
            by_name.insert(hash_bytes(name, m), static_cast<id>(declared.size()), is(m, name));
            declared.emplace_back(m, i);
        }
    }
    const module_lookup<module_tree> lookup(modules);
    // Groups may overlap. Not `disjoint_sets_with_storage`: where boost/graph/graphviz.hpp precedes
    // it, its pointers do not compile.
    const boost::vector_property_map<std::size_t> rank;
    const boost::vector_property_map<std::size_t> parent;
    boost::disjoint_sets tensors(rank, parent);
    for (std::size_t i = 0; i < declared.size(); ++i) {
        tensors.make_set(i);
    }
    for (const auto& group : modules.shared_parameters()) {
        auto first = no_id;
        for (const auto& path : group) {
            const auto owner = find_module(lookup, path_around(path));
            const auto name = std::string_view(path).substr(path.rfind('.') + 1);
            const auto one = by_name.find(hash_bytes(name, owner), is(owner, name));
            first = first == no_id ? one : first;
            one == no_id ? void() : tensors.union_set(std::size_t{first}, std::size_t{one});
        }
    }
    std::vector<id> before(declared.size(), no_id); // by tensor: the module that has it, met last
    for (std::size_t i = 0; i < declared.size(); ++i) {
        const auto [owner, index] = declared[i];
        auto& last = before[tensors.find_set(i)];
        if (last != no_id) {
            const auto meet = tree.lca(last, owner);
            const auto parameter = modules.parameter(owner, index);
            result.parameters[meet] -= parameter.elements();
            result.trainable[meet] -= parameter.trainable ? parameter.elements() : 0;
        }
        last = owner;
    }
}

/// Counts the weights in the file, each with its module.
inline void count_stored(const tree_index& tree, std::span<const stored_weight> weights,
                         std::span<const id> places, module_statistics& result) {
    using weight_count = module_statistics::weight_count;
    result.weights.resize(tree.size());
    result.stored.resize(tree.size());
    result.bytes.resize(tree.size());
    const auto add = [&](id m, const weight_count& more) {
        auto& counts = result.weights[m];
        const auto key = [](const weight_count& c) { return std::pair(c.kind, c.data_type); };
        auto at = detail::range::find_if(
            counts, [&](const auto& entry) { return key(entry) >= key(more); });
        if (at == counts.end() || key(*at) != key(more)) {
            at = counts.insert(at, {more.kind, more.data_type, 0, 0});
        }
        at->elements += more.elements;
        at->bytes += more.bytes;
    };
    for (std::size_t w = 0; w < weights.size(); ++w) {
        const auto& weight = weights[w];
        add(places[w], {weight.kind, weight.data_type, weight.elements, weight.bytes});
        if (weight.kind == weight_kind::parameter) {
            result.stored[places[w]] += weight.elements;
            result.bytes[places[w]] += weight.bytes;
        }
    }
    if (!result.declared) {
        result.own_parameters = result.stored;
    }
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        for (const auto& below : result.weights[m]) {
            add(tree.parent(m), below);
        }
    }
    add_up(tree, result.stored);
    add_up(tree, result.bytes);
    if (!result.declared) {
        result.parameters = result.stored;
    }
}

/// Counts operators by type in and below each module.
inline void count_operators(const wire_model& model, const tree_index& tree, const tagging& tagged,
                            module_statistics& result) {
    const auto operators = model.operator_count();
    std::vector<id> rank(operators); // by type, equal ones by number
    {
        std::vector<id> order(operators);
        std::iota(order.begin(), order.end(), id{0});
        range::stable_sort_by(order, [&](id op) { return model.operator_type(op); });
        for (id place = 0; place < operators; ++place) {
            rank[order[place]] = place;
        }
    }
    const grouped_ids nodes(tree.size(), [&](auto take) {
        for (id node = 0; node < model.node_count(); ++node) {
            take(tagged.attributions[node].module, node);
        }
    });
    std::vector<id> count(operators, 0); // in and below one module
    std::vector<id> present;             // those that occur there
    const auto add = [&](id op, id more) {
        if (count[op] == 0) {
            present.push_back(op);
        }
        count[op] += more;
    };
    for (auto m = static_cast<id>(tree.size()); m-- > 0;) {
        for (const auto node : nodes[m]) {
            add(model.operator_id(node), 1);
        }
        for (const auto child : tree.children(m)) {
            for (const auto& more : result.operators[child]) {
                add(more.op, more.count);
            }
        }
        detail::range::sort(present, [&](id a, id b) {
            return count[a] != count[b] ? count[a] > count[b] : rank[a] < rank[b];
        });
        result.operators[m].reserve(present.size());
        for (const auto op : present) {
            result.operators[m].push_back({op, std::exchange(count[op], 0)});
        }
        present.clear();
    }
}

} // namespace detail

/// `weights` are those of the model, and `places` their modules.
/// Complexity: O(nodes + weights), and modules times types of operators and of weights.
[[nodiscard]] inline module_statistics
collect_statistics(const wire_model& model, const module_tree& modules, const tagging& tagged,
                   std::span<const detail::stored_weight> weights, std::span<const id> places) {
    const auto& tree = modules.index();
    module_statistics result;
    result.own_nodes.resize(modules.size());
    result.own_parameters.resize(modules.size());
    result.trainable.resize(modules.size());
    result.operators.resize(modules.size());
    for (const auto& entry : tagged.attributions) {
        ++result.own_nodes[entry.module];
    }
    for (id m = 0; m < modules.size() && !result.declared; ++m) {
        result.declared = modules.parameter_count(m) > 0;
    }
    if (result.declared) {
        detail::count_declared(modules, result);
        detail::add_up(tree, result.parameters);
        detail::add_up(tree, result.trainable);
    }
    detail::count_stored(tree, weights, places, result);
    result.nodes = result.own_nodes;
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        result.nodes[tree.parent(m)] += result.nodes[m];
    }
    detail::count_operators(model, tree, tagged, result);
    return result;
}

/// The same, finding the weights. Complexity: plus that of `find_weights` and `place_weights`.
[[nodiscard]] inline module_statistics
collect_statistics(const wire_model& model, const module_tree& modules, const tagging& tagged) {
    const auto weights = detail::find_weights(model);
    return collect_statistics(model, modules, tagged, weights,
                              detail::place_weights(model, modules, tagged, weights).module);
}

/// Returns: a number of bytes, with at most one digit after the point: `16.0 kB`. Complexity: O(1).
[[nodiscard]] inline std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array<const char*, 7> units{" B", " kB", " MB", " GB", " TB", " PB", " EB"};
    std::size_t unit = 0;
    std::uint64_t tenths = 0; // of the unit
    for (std::uint64_t size = bytes; size >= 1000 && unit + 1 < units.size(); size /= 1000) {
        tenths = (size + 50) / 100;
        ++unit;
    }
    return unit == 0
               ? std::to_string(bytes) + units[0]
               : std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + units[unit];
}

/// Returns: the size of parameters by type, `int8 16.0 kB, int32 768 B`; "" if the file stores
/// none. Complexity: O(counts).
[[nodiscard]] inline std::string
weights_text(std::span<const module_statistics::weight_count> weights) {
    std::string text;
    for (const auto& count : weights) {
        if (count.kind == weight_kind::parameter) {
            text.append(text.empty() ? "" : ", ").append(data_type_name(count.data_type));
            text.append(" ").append(bytes_text(count.bytes));
        }
    }
    return text;
}

namespace detail {

/// Writes a member `weights`: their amount of each kind and type.
/// Complexity: O(length).
template <text_sink Sink>
void write_weights(json_writer<Sink>& json,
                   std::span<const module_statistics::weight_count> weights) {
    json.flat_list("weights", weights, [&](const auto& count) {
        json.object([&] {
            json.member("kind", to_string(count.kind));
            json.member("type", data_type_name(count.data_type));
            json.member("elements", count.elements);
            json.member("bytes", count.bytes);
        });
    });
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_RECORD_MODULE_STATISTICS_HPP
