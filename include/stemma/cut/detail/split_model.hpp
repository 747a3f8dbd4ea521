// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_SPLIT_MODEL_HPP
#define STEMMA_CUT_DETAIL_SPLIT_MODEL_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/detail/weight_store.hpp>
#include <stemma/cut/split_manifest.hpp>
#include <stemma/cut/split_plan.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/onnx/detail/byte_rope.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/find_weights.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma {

namespace detail {

/// Where the nodes of functions run first.
class first_calls {
public:
    /// Requires: `model` outlives this. Complexity: O(nodes).
    explicit first_calls(const onnx_model& model)
        : model_(model), call_of_(model.functions().size(), no_id) {
        for (id node = model.node_count(); node-- > 0;) {
            if (const auto f = model.callee(node); f != no_id) {
                call_of_[f] = node;
            }
        }
    }

    /// Returns: the node itself, or the call outside of all functions that runs it first, or
    /// `no_id`. Complexity: O(calls inside each other).
    [[nodiscard]] id outside(id node) const {
        for (std::size_t steps = 0; steps <= call_of_.size(); ++steps) {
            auto outermost = node;
            while (model_.owner(outermost) != no_id) {
                outermost = model_.owner(outermost);
            }
            const auto f = model_.graph(model_.graph_of(outermost)).function;
            if (f == no_id) {
                return node;
            }
            if (call_of_[f] == no_id) {
                break;
            }
            node = call_of_[f];
        }
        return no_id;
    }

private:
    const onnx_model& model_;
    std::vector<id> call_of_; // by function
};

} // namespace detail

/// Returns: by node what it adds to a part: weights count where they are first read, or stand as
/// Constants; those of functions where they are called first.
/// Complexity: O(nodes + initializers).
[[nodiscard]] inline std::vector<operator_load> find_loads(const wire_model& model) {
    std::vector<operator_load> of_value(model.value_count());
    std::vector<operator_load> loads(model.node_count());
    for (const auto& tensor : model.tensors()) {
        const auto header = read_tensor_header(model, tensor);
        of_value[tensor.value].weight_bytes +=
            tensor.message.size + (header.external ? header.length : 0);
    }
    const detail::first_calls calls(model);
    for (const auto& weight : find_weights(model)) {
        if (weight.kind != weight_kind::parameter) {
            continue;
        }
        if (model.is_initializer(weight.value)) {
            of_value[weight.value].parameters += weight.elements;
        } else if (const auto node = calls.outside(model.producer(weight.value)); node != no_id) {
            loads[node].parameters += weight.elements;
        }
    }
    for (id node = 0; node < model.node_count(); ++node) {
        auto& load = loads[node];
        if (model.owner(node) == no_id) {
            load.message_bytes = model.message(node).size;
        }
        for (auto value : model.inputs(node)) {
            if (value != no_id) {
                auto& weights = of_value[value];
                load.parameters += std::exchange(weights.parameters, 0);
                load.weight_bytes += std::exchange(weights.weight_bytes, 0);
            }
        }
    }
    for (id node = 0; node < model.node_count(); ++node) {
        if (const auto owner = model.owner(node); owner != no_id) {
            loads[owner].operators += loads[node].operators;
            loads[owner].parameters += loads[node].parameters;
            loads[owner].weight_bytes += loads[node].weight_bytes;
        }
    }
    return loads;
}

/// What is left of a model when its nodes and the data of its initializers are taken out, and how
/// the bytes of the model follow from that and the parts.
class split_skeleton {
public:
    /// `parts` were written with `weights` as their store. Data that no part holds stay.
    /// Complexity: O(fields of the main graph).
    split_skeleton(const wire_model& model, std::span<const split_part> parts,
                   const weight_store& weights)
        : model_(model), weights_(weights), held_(model.value_count(), false) {
        for (const auto& part : parts) {
            for (auto value : part.plan.initializers) {
                held_[value] = true;
            }
        }
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            tensor_at_.emplace(tensors[i].message.begin, i);
        }
        writer out{*this};
        auto fields = model.reader();
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                message(field, out, [&](auto& to) { graph(fields.inner(field), to); });
            } else {
                out.keep(field.begin, field.end);
            }
        }
    }

    /// The bytes of the skeleton.
    [[nodiscard]] const byte_rope& bytes() const noexcept { return skeleton_; }
    /// How the model follows.
    [[nodiscard]] std::vector<split_manifest::piece> take_recipe() noexcept {
        return std::move(recipe_);
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_graph = detail::onnx_fields::graph;
    using at_tensor = detail::onnx_fields::tensor;
    using piece = split_manifest::piece;

    /// Counts how many bytes are kept.
    struct counter {
        std::uint64_t size = 0;
        void keep(std::uint32_t begin, std::uint32_t end) { size += end - begin; }
        void put(std::string_view text) { size += text.size(); }
        void drop(const piece&) {}
    };

    struct writer {
        split_skeleton& to;

        void keep(std::uint32_t begin, std::uint32_t end) const {
            to.add({piece::kind::skeleton, to.skeleton_.size(), end - begin, {}});
            to.skeleton_.add_range(begin, end - begin);
        }
        void put(std::string_view text) const { to.skeleton_.add_text(text); }
        void drop(piece p) const { to.add(std::move(p)); }
    };

    /// Appends to the recipe; what continues the last piece becomes one with it.
    void add(piece next) {
        using kind = piece::kind;
        if (!recipe_.empty()) {
            auto& last = recipe_.back();
            const bool joins = next.from != kind::bytes && next.from != kind::node;
            if (last.from == next.from && joins && last.text == next.text &&
                last.first + last.count == next.first) {
                last.count += next.count;
                return;
            }
            if (last.from == next.from && next.from == kind::bytes) {
                last.text += next.text;
                return;
            }
        }
        recipe_.push_back(std::move(next));
    }

    /// Keeps a message with another length, as `content(to)` makes it shorter.
    template <class To, class Content>
    void message(const wire_field& field, To& to, Content content) {
        counter kept;
        content(kept);
        std::string header;
        detail::append_tag(field.number, header);
        detail::append_varint(kept.size, header);
        const auto old = model_.bytes().substr(field.begin, field.content - field.begin);
        if (old == header) {
            to.keep(field.begin, field.content);
        } else {
            to.put(header);
            to.drop({piece::kind::bytes, 0, 0, std::string(old)});
        }
        content(to);
    }

    template <class To>
    void graph(wire_reader fields, To& to) {
        auto next = next_node_;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::node)) {
                node(field, next++, to);
            } else if (field.is_bytes(at_graph::initializer)) {
                message(field, to, [&](auto& inside) { tensor(field, fields, inside); });
            } else {
                to.keep(field.begin, field.end);
            }
        }
        if constexpr (std::is_same_v<To, writer>) {
            next_node_ = next;
        }
    }

    template <class To>
    void node(const wire_field& field, id number, To& to) {
        std::string header;
        detail::append_tag(at_graph::node, header);
        detail::append_varint(field.size(), header);
        const auto old = model_.bytes().substr(field.begin, field.content - field.begin);
        if (old == header) {
            to.drop({piece::kind::nodes, number, 1, {}});
        } else {
            to.drop({piece::kind::bytes, 0, 0, std::string(old)});
            to.drop({piece::kind::node, number, 1, {}});
        }
    }

    [[nodiscard]] static bool is_data(const wire_field& field) {
        // float, int32, string, int64, raw, double and uint64 data.
        return field.number == 4 || field.number == 5 || field.number == 6 || field.number == 7 ||
               field.number == at_tensor::raw_data || field.number == 10 || field.number == 11;
    }

    template <class To>
    void tensor(const wire_field& outer, const wire_reader& around, To& to) {
        const auto number = tensor_at_.find(outer.content);
        const auto value =
            number == tensor_at_.end() ? no_id : model_.tensors()[number->second].value;
        const auto stored =
            value == no_id ? std::nullopt : weights_.find(static_cast<std::size_t>(number->second));
        auto fields = around.inner(outer);
        for (wire_field field; fields.next(field);) {
            const bool held = value != no_id && held_[value] && is_data(field) && field.size() > 0;
            if (held && !stored) {
                to.drop({piece::kind::initializer, field.begin - outer.content,
                         field.end - field.begin, std::string(model_.value_name(value))});
            } else if (held && stored->from == field.content) {
                to.drop(
                    {piece::kind::bytes, 0, 0,
                     std::string(model_.bytes().substr(field.begin, field.content - field.begin))});
                to.drop({piece::kind::weights, stored->offset, stored->length, {}});
            } else {
                to.keep(field.begin, field.end);
            }
        }
    }

    const wire_model& model_;
    const weight_store& weights_;
    std::unordered_map<std::uint32_t, id> tensor_at_; // by position of the content
    std::vector<bool> held_;                          // by value: some part has the initializer
    byte_rope skeleton_;
    std::vector<piece> recipe_;
    id next_node_ = 0;
};

} // namespace stemma

#endif // STEMMA_CUT_DETAIL_SPLIT_MODEL_HPP
