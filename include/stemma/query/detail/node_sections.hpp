// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_DETAIL_NODE_SECTIONS_HPP
#define STEMMA_QUERY_DETAIL_NODE_SECTIONS_HPP

#include <stemma/align/detail/graph_section.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/attribute_defaults.hpp>
#include <stemma/onnx/detail/attribute_values.hpp>
#include <stemma/onnx/detail/body_place.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tag_attribute.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/value_readers.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Nodes of a model as a section, with a text for each item.
struct node_section {
    graph_section section;
    std::vector<id> nodes;           ///< by item; `no_id` at the start of a body
    std::vector<std::string> texts;  ///< by item: everything but its values
    std::vector<std::string> shapes; ///< by value: type and shape of a weight, "" for others
};

/// Makes sections from nodes of a model: operators, attributes and small constants are content,
/// weights and other outer values are inputs. Constants are not items; bodies come between their
/// inputs and their owner.
class node_sections {
public:
    /// Requires: `model` outlives this. Complexity: O(nodes + values + fields of tensors).
    explicit node_sections(const wire_model& model)
        : model_(model)
        , stored_(model.value_count(), no_id)
        , in_section_(model.node_count(), false)
        , readers_(value_readers(model)) {
        for (id g = 0; g < model.graph_count(); ++g) {
            if (model.graph(g).kind == graph_kind::body) {
                bodies_.emplace_back(model.graph(g).owner, g);
            }
            for (auto value : model.graph(g).outputs) {
                if (value != no_id) {
                    given_away_.emplace_back(value, g);
                }
            }
        }
        std::sort(bodies_.begin(), bodies_.end(), [&](const auto& x, const auto& y) {
            return place_of_body(model, x.second) < place_of_body(model, y.second);
        });
        std::sort(given_away_.begin(), given_away_.end());
        find_stored();
    }

    /// Whether a node is or forwards a constant.
    [[nodiscard]] bool is_quiet(id node) const {
        return model_.output_count(node) == 1 && stored_[model_.first_output(node)] != no_id;
    }

    /// Returns: some nodes as a section; with `shapes`, types and shapes of weights matter and
    /// outer readers do not. Requires: ascending nodes, each once. Complexity: O(nodes + values +
    /// bytes of attributes) expected.
    [[nodiscard]] node_section read(std::span<const id> nodes, bool shapes) {
        node_section result;
        std::unordered_map<id, id> number; // of values
        for (auto node : nodes) {
            in_section_[node] = true;
        }
        for (auto node : nodes) {
            if (!is_quiet(node)) {
                add(node, shapes, result, number);
            }
        }
        for (const auto& [value, local] : number) {
            if (result.section.maker(local) == no_id) {
                result.section.mark(local, stored_[value] == no_id ? 1 : 2);
            } else if (!shapes && is_given_away(value)) {
                result.section.mark(local, 3);
            }
        }
        for (auto node : nodes) {
            in_section_[node] = false;
        }
        return result;
    }

private:
    /// Longer constants count as weights.
    static constexpr std::uint64_t longest_constant = 4096;
    /// The same for tensors in attributes of other nodes.
    static constexpr std::uint64_t longest_attribute = 1024;

    /// The contents of a Constant or initializer.
    struct stored_tensor {
        tensor_ref tensor;      // none for a Constant without a tensor
        id node = no_id;        // the Constant without a tensor
        std::string shape;      // with the type
        bool is_weight = false; // otherwise the data matters
        std::string content{};  // the data, computed on demand
    };

    [[nodiscard]] static std::string shape_of(const tensor_header& header) {
        auto text = std::to_string(header.data_type);
        for (auto dim : header.dims) {
            text.append(",").append(std::to_string(dim));
        }
        return text;
    }

    void find_stored() {
        std::vector<bool> weighs(model_.value_count(), false);
        for (const auto& weight : find_weights(model_)) {
            // A scalar without a dot in its name belongs to the computation.
            weighs[weight.value] =
                weight.kind != weight_kind::parameter || weight.elements != 1 ||
                model_.value_name(weight.value).find('.') != std::string_view::npos;
        }
        const auto add = [&](const tensor_ref& tensor) {
            const auto header = read_tensor_header(model_, tensor);
            stored_tensor stored{tensor, no_id, shape_of(header), false};
            stored.is_weight = weighs[tensor.value] || tensor.sparse ||
                               data_size(header).value_or(longest_constant + 1) > longest_constant;
            stored_[tensor.value] = static_cast<id>(tensors_.size());
            tensors_.push_back(std::move(stored));
        };
        for (const auto& tensor : model_.tensors()) {
            if (tensor.value != no_id) {
                add(tensor);
            }
        }
        for (id node = 0; node < model_.node_count(); ++node) {
            if (!model_.domain(node).empty() || model_.output_count(node) != 1) {
                continue;
            }
            const auto value = model_.first_output(node);
            const auto inputs = model_.inputs(node);
            if (model_.op_type(node) == "Constant") {
                if (const auto tensor = model_.constant_tensor(node)) {
                    add({*tensor, model_.graph_of(node), {}, value, false});
                } else {
                    stored_[value] = static_cast<id>(tensors_.size());
                    tensors_.push_back({{}, node, {}, false});
                }
            } else if (model_.op_type(node) == "Identity" && inputs.size() == 1 &&
                       inputs.front() != no_id) {
                stored_[value] = stored_[inputs.front()];
            }
        }
    }

    /// Whether a value is read outside the section, or is a result of a graph whose owner is
    /// outside.
    [[nodiscard]] bool is_given_away(id value) const {
        const auto readers = readers_[value];
        const auto result =
            std::lower_bound(given_away_.begin(), given_away_.end(), std::pair(value, id{0}));
        const bool leaves = result != given_away_.end() && result->first == value &&
                            (model_.graph(result->second).kind != graph_kind::body ||
                             !in_section_[model_.graph(result->second).owner]);
        return leaves || std::any_of(readers.begin(), readers.end(),
                                     [&](id reader) { return !in_section_[reader]; });
    }

    void add(id node, bool shapes, node_section& result, std::unordered_map<id, id>& number) {
        std::string text(model_.domain(node));
        text.append("::").append(model_.op_type(node));
        text.append(":").append(model_.overload(node)).push_back('\n');
        append_attributes(node, text);
        std::vector<id> inputs;
        const auto take = [&](std::span<const id> values) {
            for (auto value : values) {
                text.append(";");
                inputs.push_back(number_of(value, shapes, result, number, &text));
            }
        };
        auto read = model_.inputs(node);
        while (!read.empty() && read.back() == no_id) {
            read = read.first(read.size() - 1); // trailing omitted inputs do not matter
        }
        take(read);
        auto body = std::lower_bound(bodies_.begin(), bodies_.end(), std::pair(node, id{0}));
        for (; body != bodies_.end() && body->first == node; ++body) {
            const auto& graph = model_.graph(body->second);
            const auto begin = std::string(model_.text(graph.attribute)) + "#" +
                               std::to_string(graph.attribute_index);
            std::vector<id> given;
            for (auto value : graph.inputs) {
                given.push_back(number_of(value, shapes, result, number, nullptr));
            }
            append(no_id, text + "\nbegins " + begin, inputs, given, result);
            text.append("\n").append(begin);
            take(graph.outputs);
        }
        std::vector<id> outputs;
        for (auto value : model_.outputs(node)) {
            outputs.push_back(model_.value_name(value).empty()
                                  ? no_id
                                  : number_of(value, shapes, result, number, nullptr));
        }
        append(node, std::move(text), inputs, outputs, result);
    }

    static void append(id node, std::string text, std::span<const id> inputs,
                       std::span<const id> outputs, node_section& result) {
        result.section.add_item(hash_bytes(text), inputs, outputs);
        result.nodes.push_back(node);
        result.texts.push_back(std::move(text));
    }

    /// Returns: the number of a value in the section. A small constant has none; `text` has its
    /// contents.
    [[nodiscard]] id number_of(id value, bool shapes, node_section& result,
                               std::unordered_map<id, id>& number, std::string* text) {
        if (value == no_id) {
            return no_id;
        }
        const auto stored = stored_[value];
        if (stored != no_id && text != nullptr && !tensors_[stored].is_weight) {
            append_content(tensors_[stored], *text);
            return no_id;
        }
        // Forwarded constants keep their identity.
        const auto origin = stored != no_id && tensors_[stored].node == no_id
                                ? tensors_[stored].tensor.value
                                : value;
        const auto [entry, is_new] = number.try_emplace(origin, result.section.value_count());
        if (is_new) {
            const bool weighs = shapes && stored != no_id;
            const auto& shape = weighs ? tensors_[stored].shape : std::string();
            result.section.add_value(weighs ? hash_bytes(shape, 1) : 0);
            result.shapes.push_back(shape);
        }
        return entry->second;
    }

    /// Appends the contents of a small constant, or two hashes unless very short, as many nodes may
    /// read it.
    void append_content(stored_tensor& stored, std::string& text) {
        constexpr std::size_t shortest = 32;
        if (stored.content.empty()) {
            if (stored.node != no_id) {
                append_attributes(stored.node, stored.content);
            } else {
                const auto content = reader_.read(stored.tensor);
                stored.content = stored.shape + "=";
                stored.content.append(content.bytes_or_place());
            }
            if (stored.content.size() > shortest) {
                stored.content = std::to_string(hash_bytes(stored.content, 1)) + "," +
                                 std::to_string(hash_bytes(stored.content, 2));
            }
        }
        text.append(stored.content);
    }

    /// Appends the attributes of a node, independent of order and storage, without ours, defaults
    /// and bodies. Large tensors are weights.
    void append_attributes(id node, std::string& text) {
        std::vector<std::string> all;
        auto fields = model_.reader(model_.message(node));
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(onnx_fields::node::attribute) ||
                is_tag_attribute(fields.inner(field)) ||
                (model_.domain(node).empty() &&
                 is_default(model_.op_type(node), fields.inner(field)))) {
                continue;
            }
            const auto value = read_attribute_value(fields.inner(field), reader_);
            auto one = std::string(value.name).append("=").append(value.text);
            for (const auto& tensor : value.tensors) {
                one.append(shape_of(tensor.header));
                if (tensor.bytes().size() <= longest_attribute) {
                    one.append("=").append(tensor.bytes_or_place());
                }
            }
            all.push_back(std::move(one));
        }
        std::sort(all.begin(), all.end());
        for (const auto& one : all) {
            text.append(std::to_string(one.size())).append(":").append(one);
        }
    }

    const wire_model& model_;
    tensor_content_reader reader_{model_};
    std::vector<id> stored_; // by value: its contents, also through Identity; or `no_id`
    std::vector<stored_tensor> tensors_;
    std::vector<bool> in_section_;              // by node: in the current section
    grouped_ids readers_;                       // by value
    std::vector<std::pair<id, id>> bodies_;     // node, graph; by attribute
    std::vector<std::pair<id, id>> given_away_; // value, graph
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_QUERY_DETAIL_NODE_SECTIONS_HPP
