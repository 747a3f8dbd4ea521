// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_SPLIT_SKELETON_HPP
#define STEMMA_CUT_DETAIL_SPLIT_SKELETON_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/detail/weight_store.hpp>
#include <stemma/cut/split_manifest.hpp>
#include <stemma/cut/split_planner.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/detail/wire_text.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The first calls of nodes in functions.
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

    /// Returns: the node itself, or the call outside all functions that runs it first, or `no_id`.
    /// Complexity: O(nesting of calls).
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

/// Returns: by node its load: weights count where they are first read, or as Constants; those of
/// functions at the first call.
/// Complexity: O(nodes + initializers).
[[nodiscard]] inline std::vector<operator_load> find_loads(const wire_model& model) {
    std::vector<operator_load> of_value(model.value_count());
    std::vector<operator_load> loads(model.node_count());
    for (const auto& tensor : model.tensors()) {
        const auto header = read_tensor_header(model, tensor);
        of_value[tensor.value].weight_bytes +=
            tensor.message.size + (header.external ? data_size(header).value_or(0) : 0);
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

/// A model without its nodes and initializer data, and the recipe for restoring its bytes from that
/// and the parts.
class split_skeleton {
public:
    /// `parts` were written with `weights` as their store. Data that is in no part stays.
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
        skeleton_.edit(model.reader(), [&](edited_field& field) {
            if (field.is_bytes(at_model::graph)) {
                field.edit([&](edited_field& inside) { take_out(inside); });
            }
        });
        find_recipe();
    }

    /// The bytes of the skeleton.
    [[nodiscard]] const message_tree& bytes() const noexcept { return skeleton_; }
    /// The recipe for the model.
    [[nodiscard]] std::vector<split_manifest::piece> take_recipe() noexcept {
        return std::move(recipe_);
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_graph = detail::onnx_fields::graph;
    using at_tensor = detail::onnx_fields::tensor;
    using piece = split_manifest::piece;

    /// A range left out of the model.
    struct omission {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        piece by; // where it is instead
    };

    /// Appends to the recipe, merging adjacent pieces.
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

    /// Removes nodes and data from a graph.
    void take_out(edited_field& field) {
        if (field.is_bytes(at_graph::node)) {
            const auto number = next_node_++;
            const auto header = field.whole().substr(0, field.content - field.begin);
            std::string usual;
            detail::append_tag(at_graph::node, usual);
            detail::append_varint(field.size(), usual);
            header == usual
                ? omitted_.push_back({field.begin, field.end, {piece::kind::nodes, number, 1, {}}})
                : omitted_.push_back(
                      {field.content, field.end, {piece::kind::node, number, 1, {}}});
            field.erase();
        } else if (field.is_bytes(at_graph::initializer)) {
            take_out_data(field);
        }
    }

    [[nodiscard]] static bool is_data(const wire_field& field) {
        // float, int32, string, int64, raw, double and uint64 data.
        return field.number == 4 || field.number == 5 || field.number == 6 || field.number == 7 ||
               field.number == at_tensor::raw_data || field.number == 10 || field.number == 11;
    }

    void take_out_data(edited_field& initializer) {
        const auto number = tensor_at_.find(initializer.content);
        const auto value =
            number == tensor_at_.end() ? no_id : model_.tensors()[number->second].value;
        if (value == no_id || !held_[value]) {
            return;
        }
        const auto stored = weights_.find(static_cast<std::size_t>(number->second));
        initializer.edit([&](edited_field& field) {
            if (!is_data(field) || field.size() == 0) {
                return;
            }
            if (!stored) {
                omitted_.push_back(
                    {field.begin,
                     field.end,
                     {piece::kind::initializer, field.begin - initializer.content,
                      field.end - field.begin, std::string(model_.value_name(value))}});
                field.erase();
            } else if (stored->from == field.content) {
                omitted_.push_back({field.content,
                                    field.end,
                                    {piece::kind::weights, stored->offset, stored->length, {}}});
                field.erase();
            }
        });
    }

    /// Derives the recipe from the omitted ranges.
    void find_recipe() {
        std::uint64_t at = 0;      // in the model
        std::uint64_t written = 0; // of the skeleton
        auto omitted = omitted_.begin();
        const auto add_bytes = [&](std::uint64_t to) {
            if (to > at) {
                add({piece::kind::bytes, 0, 0, std::string(model_.bytes().substr(at, to - at))});
            }
            at = to;
        };
        const auto add_omitted = [&](std::uint64_t to) {
            for (; omitted != omitted_.end() && omitted->begin < to; ++omitted) {
                add_bytes(omitted->begin);
                add(std::move(omitted->by));
                at = omitted->end;
            }
            add_bytes(to);
        };
        skeleton_.for_each(
            [&](id, std::uint64_t begin, std::uint64_t size) {
                add_omitted(begin);
                add({piece::kind::skeleton, written, size, {}});
                written += size;
                at = begin + size;
            },
            [&](std::string_view text) { written += text.size(); });
        add_omitted(model_.bytes().size());
    }

    const wire_model& model_;
    const weight_store& weights_;
    std::unordered_map<std::uint32_t, id> tensor_at_; // by position of the content
    std::vector<bool> held_;                          // by value: some part has the initializer
    message_tree skeleton_{0};                        // everything that stays is a range
    std::vector<omission> omitted_;
    std::vector<piece> recipe_;
    id next_node_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_SPLIT_SKELETON_HPP
