// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_NODE_BODIES_HPP
#define STEMMA_FOLD_DETAIL_NODE_BODIES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/byte_rope.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>

namespace stemma {

/// Returns: the message of a node with other bodies: `body(g, fields)` makes the content of every
/// part of body `g`, of which `fields` reads what it is. Of all else, `keeps(fields, field)` says
/// what stays. Complexity: O(fields), and what `body` takes.
template <class Function, class Predicate>
[[nodiscard]] byte_rope with_bodies(const wire_model& model, const graph_contents& contents,
                                    id node, Function body, Predicate keeps) {
    using at = detail::onnx_fields::attribute;
    byte_rope out;
    const auto bodies = contents.bodies_of(node); // in the order of the attributes
    std::size_t next = 0;
    auto fields = model.reader(model.message(node));
    for (wire_field field; fields.next(field);) {
        byte_rope attribute;
        id alone = no_id; // graphs in several parts are merged, those of a list are not
        bool holds = false;
        if (field.is_bytes(detail::onnx_fields::node::attribute)) {
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at::g) || part.is_bytes(at::graphs)) {
                    const bool is_new = part.is_bytes(at::graphs) || alone == no_id;
                    const auto g = is_new ? bodies[next++] : alone;
                    alone = part.is_bytes(at::g) ? g : alone;
                    attribute.add_field(part.number, body(g, parts.inner(part)));
                    holds = true;
                } else {
                    attribute.add_range(part.begin, part.end - part.begin);
                }
            }
        }
        if (holds) {
            out.add_field(field.number, attribute);
        } else if (keeps(fields, field)) {
            out.add_range(field.begin, field.end - field.begin);
        }
    }
    return out;
}

/// Returns: a part of graph `g`, which `fields` reads, with some other nodes: where
/// `changes(node)`, `make(node)` is the content of the message. Complexity: O(fields log nodes).
template <class Predicate, class Function>
[[nodiscard]] byte_rope with_nodes(const wire_model& model, const graph_contents& contents, id g,
                                   wire_reader fields, Predicate changes, Function make) {
    byte_rope out;
    const auto nodes = contents.own_nodes(g);
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(detail::onnx_fields::graph::node)) {
            const auto node = *std::partition_point(nodes.begin(), nodes.end(), [&](id other) {
                return model.message(other).begin < field.content;
            });
            if (changes(node)) {
                out.add_field(field.number, make(node));
                continue;
            }
        }
        out.add_range(field.begin, field.end - field.begin);
    }
    return out;
}

} // namespace stemma

#endif // STEMMA_FOLD_DETAIL_NODE_BODIES_HPP
