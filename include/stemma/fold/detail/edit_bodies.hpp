// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_EDIT_BODIES_HPP
#define STEMMA_FOLD_DETAIL_EDIT_BODIES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>

namespace stemma::inline STEMMA_ABI::detail {

/// Appends the fields of a node with edited bodies: `body(g, fields)` appends every chunk of body
/// `g`, read by `fields`. Everything else stays, unless `change(field)` changes it.
/// Complexity: O(fields), and what the two take.
template <class Body, class Change>
void edit_bodies(message_tree& out, const wire_model& model, const graph_contents& contents,
                 id node, Body body, Change change) {
    using at = onnx_fields::attribute;
    const auto bodies = contents.bodies_of(node); // in attribute order
    std::size_t next = 0;
    out.edit(model.reader(model.message(node)), [&](edited_field& field) {
        if (!field.is_bytes(onnx_fields::node::attribute)) {
            change(field);
            return;
        }
        id alone = no_id; // chunks of a graph are merged, graphs of a list are not
        field.edit([&](edited_field& part) {
            if (part.is_bytes(at::g) || part.is_bytes(at::graphs)) {
                const bool is_new = part.is_bytes(at::graphs) || alone == no_id;
                const auto g = is_new ? bodies[next++] : alone;
                alone = part.is_bytes(at::g) ? g : alone;
                part.replace([&] { body(g, part.inner()); });
            }
        });
    });
}

/// Appends a chunk of graph `g`, read by `fields`, with edited nodes: if `changes(node)`,
/// `make(node)` appends its fields. Complexity: O(fields log nodes).
template <class Predicate, class Function>
void edit_nodes(message_tree& out, const wire_model& model, const graph_contents& contents, id g,
                wire_reader fields, Predicate changes, Function make) {
    const auto nodes = contents.own_nodes(g);
    out.edit(fields, [&](edited_field& field) {
        if (!field.is_bytes(onnx_fields::graph::node)) {
            return;
        }
        const auto node = *std::partition_point(nodes.begin(), nodes.end(), [&](id other) {
            return model.message(other).begin < field.content;
        });
        if (changes(node)) {
            field.replace([&] { make(node); });
        }
    });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_EDIT_BODIES_HPP
