// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_STRUCTURE_DIGEST_HPP
#define STEMMA_ONNX_STRUCTURE_DIGEST_HPP

#include <stemma/core/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

namespace stemma {

/// Returns: a number that changes with the operators of some nodes or their wiring, not with names,
/// weights, attributes or metadata. The same everywhere, so it may be stored.
///
/// Values and graphs are numbered as they first appear, so a part that was cut out has the digest
/// that its nodes have in the whole. Complexity: O(nodes + inputs) expected.
[[nodiscard]] inline std::uint64_t structure_digest(const onnx_model& model,
                                                    std::span<const id> nodes) {
    // FNV-1a, because hash_bytes depends on the order of bytes in a word.
    const auto hash_text = [](std::string_view text, std::uint64_t hash) {
        for (char c : text) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3U;
        }
        return (hash ^ 0xffU) * 0x100'0000'01b3U;
    };
    std::vector<std::uint64_t> operators;
    for (id op = 0; op < model.operator_count(); ++op) {
        operators.push_back(hash_text(
            model.operator_type(op), hash_text(model.operator_domain(op), 0xcbf2'9ce4'8422'2325U)));
    }
    std::vector<id> value_number(model.value_count(), no_id);
    std::vector<id> graph_number(model.graph_count(), no_id);
    id values = 0;
    id graphs = 0;
    const auto number = [](id& known, id& next) { return known == no_id ? known = next++ : known; };
    std::uint64_t digest = nodes.size();
    std::vector<bool> counts(model.node_count());
    for (auto node : nodes) {
        counts[node] = true;
        digest = hash_mix(digest ^ operators[model.operator_id(node)],
                          number(graph_number[model.graph_of(node)], graphs));
        for (auto value : model.inputs(node)) {
            digest = hash_mix(digest, value == no_id ? no_id : number(value_number[value], values));
        }
        for (id i = 0; i < model.output_count(node); ++i) {
            digest = hash_mix(digest, number(value_number[model.first_output(node) + i], values));
        }
    }
    // What a body gives its owner is wiring, too.
    for (id g = 1; g < model.graph_count(); ++g) {
        if (model.graph(g).kind == graph_kind::body && counts[model.graph(g).owner]) {
            for (auto value : model.graph(g).outputs) {
                digest = hash_mix(digest,
                                  value == no_id ? no_id : number(value_number[value], values));
            }
        }
    }
    return digest;
}

/// Returns: the same for all nodes of a model.
[[nodiscard]] inline std::uint64_t structure_digest(const onnx_model& model) {
    std::vector<id> nodes(model.node_count());
    std::iota(nodes.begin(), nodes.end(), id{0});
    return structure_digest(model, nodes);
}

} // namespace stemma

#endif // STEMMA_ONNX_STRUCTURE_DIGEST_HPP
