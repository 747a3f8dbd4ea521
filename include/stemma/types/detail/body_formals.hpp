// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_BODY_FORMALS_HPP
#define STEMMA_TYPES_DETAIL_BODY_FORMALS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the number of results of a Loop or Scan that are final states; the others are stacked.
[[nodiscard]] inline std::size_t states_of(const wire_model& model, id node, id body) {
    if (model.op_type(node) == "Loop") {
        return model.inputs(node).size() < 2 ? 0 : model.inputs(node).size() - 2;
    }
    const auto scanned = node_attributes(model, node).whole("num_scan_inputs").value_or(0);
    const auto formals = model.graph(body).inputs.size();
    return formals - std::min(formals, static_cast<std::size_t>(scanned));
}

/// Whether attributes taken from the enclosing function affect no extent.
[[nodiscard]] inline bool keeps_extents(const node_attributes& attributes) {
    bool keeps = true;
    attributes.for_each([&](std::string_view name, wire_reader attribute) {
        for (wire_field part; attribute.next(part);) {
            const bool refers =
                part.is_bytes(onnx_fields::attribute::ref_attr_name) && part.size() > 0;
            keeps = keeps && (!refers || is_one_of(name, " alpha beta epsilon gamma lambd bias "
                                                         "momentum approximate ratio seed "));
        }
    });
    return keeps;
}

/// Formal inputs of bodies, in the first iteration: a Loop passes its initial states, a Scan also
/// slices of its inputs. In opset 8, inputs of a Scan are batches, and nothing is known.
class body_formals {
public:
    /// Requires: `model` outlives this.
    explicit body_formals(const wire_model& model) : model_(model) {}

    /// Notes the formal inputs of a graph if it is a body, once. Complexity: O(formals).
    void settle(id g, fact_table& table) {
        const auto owner = model_.graph(g).owner;
        if (owner == no_id || !settled_.insert(g).second) {
            return;
        }
        const auto& formals = model_.graph(g).inputs;
        const bool loop = model_.op_type(owner) == "Loop";
        if (!loop && table.opset_of(owner) < 9) {
            return;
        }
        const auto states = loop ? formals.size() : states_of(model_, owner, g);
        const bool plain = loop || !node_attributes(model_, owner).wholes("scan_input_axes");
        for (std::size_t i = 0; i < formals.size(); ++i) {
            if (formals[i] == no_id) {
                continue;
            }
            const auto& given = table.input(owner, i);
            if (loop && i < 2) {
                table.add(formals[i], made(i == 0 ? int64_type : bool_type, extents{}));
            } else if (i < states) {
                table.add(formals[i], made(given.data_type, given.dims));
            } else if (plain && given.ranked() && given.rank() > 0) {
                table.add(formals[i], made(given.data_type,
                                           extents(given.dims->begin() + 1, given.dims->end())));
            }
        }
    }

    /// Notes final states of a Loop or Scan that no iteration changes. Complexity: O(states).
    void keep_states(id node, std::span<const id> bodies, fact_table& table) const {
        const auto op = model_.op_type(node);
        const bool loop = op == "Loop";
        if (!model_.domain(node).empty() || (!loop && (op != "Scan" || table.opset_of(node) < 9))) {
            return;
        }
        const auto& results = model_.graph(bodies.front()).outputs;
        const auto states = states_of(model_, node, bodies.front());
        for (std::size_t i = 0; i < states && i < model_.output_count(node); ++i) {
            const auto slot = i + (loop ? 1 : 0);
            const auto& first = table.input(node, i + (loop ? 2 : 0));
            if (slot < results.size() && results[slot] != no_id && first.ranked() &&
                table[results[slot]].dims == first.dims) {
                table.set(node, i, made(first.data_type, first.dims));
            }
        }
    }

    /// A body is about to be inferred again.
    void forget(id g) { settled_.erase(g); }

private:
    const wire_model& model_;
    std::set<id> settled_; // bodies
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_BODY_FORMALS_HPP
