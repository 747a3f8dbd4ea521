// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_COMPARE_STRUCTURE_HPP
#define STEMMA_COMPARE_DETAIL_COMPARE_STRUCTURE_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/attribute_values.hpp>
#include <stemma/onnx/detail/body_place.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tag_attribute.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The nodes and graphs of a model in an order that does not depend on that of attributes and
/// functions in the file: the main graph, then functions by name. Bodies come before their owner,
/// by attribute; nodes of one graph keep their order.
struct canonical_order {
    std::vector<id> nodes;
    std::vector<id> graphs;

    /// Complexity: O(nodes + graphs * log graphs + length of names).
    explicit canonical_order(const onnx_model& model) {
        const grouped_ids members(model.graph_count(), [&](auto take) {
            for (id node = 0; node < model.node_count(); ++node) {
                take(model.graph_of(node), node);
            }
        });
        std::vector<id> bodies;
        std::vector<std::pair<std::string, id>> functions;
        for (id g = 0; g < model.graph_count(); ++g) {
            if (model.graph(g).kind == graph_kind::body) {
                bodies.push_back(g);
            } else if (model.graph(g).kind == graph_kind::function) {
                functions.emplace_back(model.graph_path(g), g);
            }
        }
        std::sort(functions.begin(), functions.end());
        std::sort(bodies.begin(), bodies.end(), [&](id x, id y) {
            return std::pair(place_of_body(model, x), x) < std::pair(place_of_body(model, y), y);
        });
        const grouped_ids owned(model.node_count(), [&](auto take) {
            for (auto g : bodies) {
                take(model.graph(g).owner, g);
            }
        });
        // From the end; what is on top of the stack comes next.
        std::vector<std::pair<bool, id>> stack{{true, 0}}; // whether it is a graph
        for (const auto& function : functions) {
            stack.emplace_back(true, function.second);
        }
        while (!stack.empty()) {
            const auto [is_graph, number] = stack.back();
            stack.pop_back();
            (is_graph ? graphs : nodes).push_back(number);
            for (auto inner : is_graph ? members[number] : owned[number]) {
                stack.emplace_back(!is_graph, inner);
            }
        }
        std::reverse(nodes.begin(), nodes.end());
        std::reverse(graphs.begin(), graphs.end());
    }
};

/// The first difference between the graphs of two models.
struct structure_difference {
    std::string text;  ///< a sentence about the first model
    id first = no_id;  ///< the node of the first model, or `no_id`
    id second = no_id; ///< the node of the second model, or `no_id`
};

/// What comparing the graphs of two models gives.
struct structure_comparison {
    std::optional<structure_difference> difference; ///< none if they are equal
    std::vector<id> partners; ///< if equal, by node of the first model: that of the second
};

/// Walks two models in lockstep, binding corresponding values.
class structure_comparer {
public:
    structure_comparer(const wire_model& a, const wire_model& b)
        : a_(a)
        , b_(b)
        , partner_(a.value_count(), no_id)
        , back_(b.value_count(), no_id)
        , graphs_(a.graph_count(), no_id)
        , order_a_(a)
        , order_b_(b)
        , tensors_a_(a)
        , tensors_b_(b) {}

    [[nodiscard]] structure_comparison compare() {
        structure_comparison result;
        result.difference = find_difference();
        if (!result.difference) {
            result.partners.resize(a_.node_count());
            for (id i = 0; i < a_.node_count(); ++i) {
                result.partners[order_a_.nodes[i]] = order_b_.nodes[i];
            }
        }
        return result;
    }

private:
    [[nodiscard]] static std::optional<structure_difference> differ(std::string text) {
        return structure_difference{std::move(text), no_id, no_id};
    }

    [[nodiscard]] std::optional<structure_difference> find_difference() {
        if (a_.graph(0).inputs.size() != b_.graph(0).inputs.size()) {
            return differ("has " + std::to_string(a_.graph(0).inputs.size()) +
                          " inputs, the other one " + std::to_string(b_.graph(0).inputs.size()));
        }
        bind_graphs(0, 0);
        const auto& first = order_a_.nodes;
        const auto& second = order_b_.nodes;
        const auto shared = std::min(first.size(), second.size());
        for (std::size_t i = 0; i < shared; ++i) {
            if (auto text = compare_nodes(first[i], second[i]); !text.empty()) {
                return structure_difference{std::move(text), first[i], second[i]};
            }
        }
        if (first.size() != second.size()) {
            const bool more = first.size() > shared;
            structure_difference difference;
            difference.text = std::string(more ? "goes on" : "ends") + " where the other one " +
                              (more ? "ends" : "goes on");
            (more ? difference.first : difference.second) = (more ? first : second)[shared];
            return difference;
        }
        return compare_outputs();
    }

    /// Initializers correspond by name, if both models have the name.
    void bind_initializers(id a, id b) {
        std::unordered_map<std::string_view, id> by_name;
        for (auto value : b_.graph(b).initializers) {
            by_name.emplace(b_.value_name(value), value);
        }
        for (auto value : a_.graph(a).initializers) {
            if (const auto entry = by_name.find(a_.value_name(value)); entry != by_name.end()) {
                static_cast<void>(binds(value, entry->second));
            }
        }
    }

    /// Also those around them, whose values bodies may be the first to read.
    void bind_graphs(id a, id b) {
        if (graphs_[a] != no_id) {
            return;
        }
        graphs_[a] = b;
        if (a_.graph(a).owner != no_id && b_.graph(b).owner != no_id) {
            bind_graphs(a_.graph_of(a_.graph(a).owner), b_.graph_of(b_.graph(b).owner));
        }
        bind_initializers(a, b);
        const auto& from = a_.graph(a).inputs;
        const auto& to = b_.graph(b).inputs;
        for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
            static_cast<void>(binds(from[i], to[i]));
        }
    }

    /// Returns: whether two values correspond; binds them if new.
    [[nodiscard]] bool binds(id a, id b) {
        if (a == no_id || b == no_id) {
            return a == b;
        }
        if (partner_[a] == no_id && back_[b] == no_id && same_kind(a, b)) {
            partner_[a] = b;
            back_[b] = a;
        }
        return partner_[a] == b;
    }

    [[nodiscard]] bool same_kind(id a, id b) const {
        return a_.kind(a) == b_.kind(b) || (a_.is_initializer(a) && b_.is_initializer(b));
    }

    [[nodiscard]] std::string compare_nodes(id first, id second) {
        if (a_.op_type(first) != b_.op_type(second) || a_.domain(first) != b_.domain(second) ||
            a_.overload(first) != b_.overload(second)) {
            return "is " + operator_text(a_, first) + ", the other one " +
                   operator_text(b_, second);
        }
        if (auto text = compare_places(first, second); !text.empty()) {
            return text;
        }
        const auto from = a_.inputs(first);
        const auto to = b_.inputs(second);
        for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
            const auto x = i < from.size() ? from[i] : no_id;
            const auto y = i < to.size() ? to[i] : no_id;
            if (!binds(x, y)) {
                return "reads " + value_text(a_, x) + " at input " + std::to_string(i) +
                       ", the other one " + value_text(b_, y);
            }
        }
        if (a_.output_count(first) != b_.output_count(second)) {
            return "makes " + std::to_string(a_.output_count(first)) + " values, the other one " +
                   std::to_string(b_.output_count(second));
        }
        for (id i = 0; i < a_.output_count(first); ++i) {
            const auto x = a_.first_output(first) + i;
            const auto y = b_.first_output(second) + i;
            if (a_.value_name(x).empty() != b_.value_name(y).empty() || !binds(x, y)) {
                return "makes a different value at output " + std::to_string(i);
            }
        }
        return compare_attributes(first, second);
    }

    /// Nodes of bodies come before their owner, so owners are compared afterwards.
    [[nodiscard]] std::string compare_places(id first, id second) {
        const auto a = a_.graph_of(first);
        const auto b = b_.graph_of(second);
        if (graphs_[a] == no_id) {
            if (a_.graph_path(a) != b_.graph_path(b)) {
                return "is in a different graph";
            }
            bind_graphs(a, b);
        }
        const bool same = graphs_[a] == b &&
                          a_.graph(a).inputs.size() == b_.graph(b).inputs.size() &&
                          a_.position(first) == b_.position(second);
        return same ? "" : "is in a different graph";
    }

    [[nodiscard]] static std::string operator_text(const wire_model& model, id node) {
        return model.domain(node).empty()
                   ? std::string(model.op_type(node))
                   : std::string(model.domain(node)) + "::" + std::string(model.op_type(node));
    }

    [[nodiscard]] static std::string value_text(const wire_model& model, id value) {
        if (value == no_id) {
            return "nothing";
        }
        return (model.is_initializer(value)              ? "initializer '"
                : model.kind(value) == value_kind::input ? "input '"
                                                         : "value '") +
               std::string(model.value_name(value)) + "'";
    }

    struct attribute {
        std::string_view name;
        std::string_view content; // "" for graphs, which are compared node by node
        wire_reader fields;
        bool has_tensor = false;
    };

    /// Returns: the attributes of a node by name, without stemma's own.
    [[nodiscard]] static std::vector<attribute> attributes_of(const wire_model& model, id node) {
        using at = onnx_fields::attribute;
        std::vector<attribute> result;
        auto fields = model.reader(model.message(node));
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(onnx_fields::node::attribute) ||
                is_tag_attribute(fields.inner(field))) {
                continue;
            }
            attribute one{{}, fields.text(field), fields.inner(field)};
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at::name)) {
                    one.name = fields.text(part);
                } else if (part.is_bytes(at::g) || part.is_bytes(at::graphs)) {
                    one.content = {};
                }
                one.has_tensor = one.has_tensor || part.is_bytes(at::t);
            }
            result.push_back(one);
        }
        std::stable_sort(result.begin(), result.end(),
                         [](const auto& x, const auto& y) { return x.name < y.name; });
        return result;
    }

    [[nodiscard]] bool have_same_value(const attribute& x, const attribute& y) {
        if (x.content.empty() || y.content.empty() || (x.content == y.content && !x.has_tensor)) {
            return x.content == y.content;
        }
        const auto a = read_attribute_value(x.fields, tensors_a_);
        const auto b = read_attribute_value(y.fields, tensors_b_);
        return a.text == b.text && std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(),
                                              b.tensors.end(), are_equal);
    }

    /// Data that cannot be read are told apart by their place.
    [[nodiscard]] static bool are_equal(const tensor_content& a, const tensor_content& b) {
        return a.readable && b.readable
                   ? have_same_content(a, b)
                   : a.header.data_type == b.header.data_type && a.header.dims == b.header.dims &&
                         a.bytes_or_place() == b.bytes_or_place();
    }

    [[nodiscard]] std::string compare_attributes(id first, id second) {
        const auto from = attributes_of(a_, first);
        const auto to = attributes_of(b_, second);
        for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
            if (i == to.size() || (i < from.size() && from[i].name < to[i].name)) {
                return "has attribute '" + std::string(from[i].name) +
                       "', which the other one lacks";
            }
            if (i == from.size() || to[i].name < from[i].name) {
                return "lacks attribute '" + std::string(to[i].name) + "' of the other one";
            }
            if (!have_same_value(from[i], to[i])) {
                return "differs in attribute '" + std::string(to[i].name) + "'";
            }
        }
        return {};
    }

    [[nodiscard]] std::optional<structure_difference> compare_outputs() {
        if (a_.graph_count() != b_.graph_count()) {
            return differ("has " + std::to_string(a_.graph_count()) +
                          " graphs and functions, the other one " +
                          std::to_string(b_.graph_count()));
        }
        for (std::size_t i = 0; i < order_a_.graphs.size(); ++i) {
            const auto g = order_a_.graphs[i];
            if (graphs_[g] == no_id) { // without nodes
                bind_graphs(g, order_b_.graphs[i]);
            }
            const auto other = graphs_[g];
            const auto& from = a_.graph(g).outputs;
            const auto& to = b_.graph(other).outputs;
            bool same = from.size() == to.size() && a_.graph(g).kind == b_.graph(other).kind;
            for (std::size_t n = 0; same && n < from.size(); ++n) {
                same = binds(from[n], to[n]);
            }
            if (!same) {
                const auto path = a_.graph_path(g);
                return differ("has different outputs" + (path.empty() ? "" : " of " + path));
            }
        }
        return std::nullopt;
    }

    const wire_model& a_;
    const wire_model& b_;
    std::vector<id> partner_; // by value of a: the value of b
    std::vector<id> back_;    // by value of b: the value of a
    std::vector<id> graphs_;  // by graph of a: the graph of b
    canonical_order order_a_;
    canonical_order order_b_;
    tensor_content_reader tensors_a_;
    tensor_content_reader tensors_b_;
};

/// Returns: the first difference between the graphs of two models: operators, order, wiring,
/// attributes, inputs and outputs. Names of nodes, values and tensors, weights, types, metadata and
/// documentation do not count, nor how attributes are stored, nor the order of attributes and
/// functions.
///  Initializers of corresponding graphs correspond by name, if both have the name.
/// Complexity: O(nodes + values + bytes of attributes and their tensors) expected.
[[nodiscard]] inline structure_comparison compare_structure(const wire_model& a,
                                                            const wire_model& b) {
    return detail::structure_comparer(a, b).compare();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_COMPARE_STRUCTURE_HPP
