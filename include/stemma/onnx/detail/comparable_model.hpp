// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_COMPARABLE_MODEL_HPP
#define STEMMA_ONNX_DETAIL_COMPARABLE_MODEL_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/attribute_hasher.hpp>
#include <stemma/onnx/detail/body_place.hpp>
#include <stemma/onnx/detail/common_contents.hpp>
#include <stemma/onnx/detail/data_hashes.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the graphs of a model, each before its bodies; those of a node by attribute, as tools
/// write them in any order. Complexity: O(graphs log graphs).
[[nodiscard]] inline std::vector<id> graphs_by_attribute(const wire_model& model) {
    const auto around = [&](id g) { return model.graph_of(model.graph(g).owner); };
    const auto key = [&](id g) { return std::pair(around(g), place_of_body(model, g)); };
    std::vector<id> bodies;
    std::vector<id> open;
    for (auto g = model.graph_count(); g-- > 0;) {
        (model.graph(g).owner == no_id ? open : bodies).push_back(g);
    }
    std::sort(bodies.begin(), bodies.end(), [&](id g, id h) { return key(h) < key(g); });
    std::vector<id> result;
    while (!open.empty()) {
        const auto g = open.back();
        open.pop_back();
        result.push_back(g);
        const auto first = std::partition_point(bodies.begin(), bodies.end(),
                                                [&](id body) { return around(body) > g; });
        const auto last =
            std::partition_point(first, bodies.end(), [&](id body) { return around(body) == g; });
        open.insert(open.end(), first, last); // the first one last
    }
    return result;
}

/// Returns: see the public `comparable_model`; contents of tensors numbered as in `stored`, where
/// there are any.
[[nodiscard]] inline comparable_graph comparable_model(const stored_tensors& stored,
                                                       std::span<const content_hash> contents) {
    const auto& model = stored.model();
    comparable_graph result;
    result.reserve(model.node_count(), model.value_count());
    for (id value = 0; value < model.value_count(); ++value) {
        const auto kind = model.kind(value);
        result.add_value(model.is_initializer(value)  ? comparable_graph::value_role::stored
                         : kind == value_kind::result ? comparable_graph::value_role::made
                                                      : comparable_graph::value_role::given,
                         model.value_name(value));
    }
    const auto tensors = model.tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (const auto value = tensors[i].value;
            value != no_id && model.is_initializer(value) && contents[i].exact != 0) {
            result.set_content(value, contents[i]);
        }
    }
    attribute_hasher attributes(model);
    const auto random = find_random_operators(model);
    std::vector<id> outputs;
    std::string type;
    for (id node = 0; node < model.node_count(); ++node) {
        const auto plain = model.op_type(node);
        const auto domain = model.domain(node);
        type.assign(domain).append(domain.empty() ? "" : "::").append(plain);
        const bool constant = stored.is_constant(node);
        const auto said = attributes.read(node, constant);
        outputs.clear();
        for (id i = 0; i < model.output_count(node); ++i) {
            const auto value = model.first_output(node) + i;
            outputs.push_back(model.value_name(value).empty() ? no_id : value);
        }
        result.add_operator({.type = type,
                             .name = model.name(node),
                             .attributes = said.hash,
                             .opaque = said.has_graphs || random[node],
                             .hides_data = domain.empty() && (plain == "Shape" || plain == "Size"),
                             .constant = constant},
                            model.inputs(node), outputs);
    }
    for (std::size_t i = 0; i < stored.constants().size(); ++i) {
        const auto node = stored.constants()[i];
        const auto& content = contents[tensors.size() + i];
        if (content.exact != 0 && model.output_count(node) == 1 &&
            !model.value_name(model.first_output(node)).empty()) {
            result.set_content(model.first_output(node), content);
        }
    }
    for (const auto g : graphs_by_attribute(model)) {
        for (const auto value : model.graph(g).outputs) {
            result.add_result(value);
        }
    }
    return result;
}

/// Returns: a model as `align_graphs` compares it. Operators and values have the numbers of nodes
/// and values; bodies and functions are included. With `contents`, the contents of initializers are
/// hashed, which reads all of them once; those of Constants always are. Requires: `model` outlives
/// the result. Complexity: O(bytes); without `contents`, of everything except tensor data.
[[nodiscard]] inline comparable_graph comparable_model(const wire_model& model,
                                                       bool contents = true) {
    const stored_tensors stored(model);
    auto hashes =
        contents ? hash_contents(model) : std::vector<content_hash>(model.tensors().size());
    content_hasher hasher(model);
    for (auto i = hashes.size(); i < stored.size(); ++i) {
        hashes.push_back(hasher.hash(stored[i]));
    }
    return comparable_model(stored, hashes);
}

/// Returns: two models as `comparable_model` returns each. They are compared only with each other,
/// so most contents that only one of them has get an arbitrary, distinct hash, and are read without
/// being hashed. Complexity: O(bytes), and O(n log n) in tensors.
[[nodiscard]] inline std::array<comparable_graph, 2> comparable_models(const wire_model& before,
                                                                       const wire_model& after) {
    const stored_tensors first(before);
    const stored_tensors second(after);
    const common_contents contents(first, second);
    return {comparable_model(first, contents.of(0)), comparable_model(second, contents.of(1))};
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_COMPARABLE_MODEL_HPP
