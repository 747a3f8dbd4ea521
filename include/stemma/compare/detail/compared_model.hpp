// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_COMPARED_MODEL_HPP
#define STEMMA_COMPARE_DETAIL_COMPARED_MODEL_HPP

#include <stemma/compare/detail/module_pairs.hpp>
#include <stemma/compare/detail/node_match.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/detail/attribute_hasher.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A tensor read by some node.
struct compared_constant {
    tensor_ref tensor;       ///< its value is what is read
    bool is_weight = false;  ///< whether it is compared numerically rather than as content
    std::size_t bytes = 0;   ///< of its data
    std::uint64_t print = 0; ///< of type, shape and a sample of the data
};

/// A model prepared for comparison: hashes of nodes and modules.
class compared_model {
public:
    /// Requires: `opened` outlives this.
    /// Complexity: O(nodes + edges + bytes of attributes + constants); only a sample of each weight
    /// is read.
    explicit compared_model(const attributed_model& opened)
        : opened_(opened), model_(opened.model()), graph_(flat_graph(model_)) {
        find_constants();
        describe_nodes();
        describe_modules();
    }

    compared_model(const compared_model&) = delete;
    compared_model& operator=(const compared_model&) = delete;

    [[nodiscard]] const attributed_model& opened() const noexcept { return opened_; }
    [[nodiscard]] const wire_model& model() const noexcept { return model_; }
    [[nodiscard]] const module_tree& modules() const noexcept { return opened_.modules(); }
    [[nodiscard]] const operator_graph& graph() const noexcept { return graph_; }
    [[nodiscard]] const module_contents& contents() const noexcept { return contents_; }
    [[nodiscard]] const std::vector<compared_constant>& constants() const noexcept {
        return constants_;
    }

    /// The deepest module of a node.
    [[nodiscard]] id module_of(id node) const noexcept {
        return opened_.tags().attributions[node].module;
    }

    /// Returns: the constant behind a value, also through Identity; or `no_id`.
    [[nodiscard]] id constant_of(id value) const noexcept {
        return value == no_id ? no_id : constant_of_[value];
    }

    /// Whether a node is or forwards a constant.
    [[nodiscard]] bool is_quiet(id node) const noexcept { return quiet_[node] != 0; }

    /// The number of a module's own nodes, without quiet ones.
    [[nodiscard]] std::size_t own_nodes(id m) const noexcept { return own_[m]; }

    /// The first node in or below a module, or `no_id`.
    [[nodiscard]] id first_node(id m) const noexcept { return first_[m]; }
    /// The last one.
    [[nodiscard]] id last_node(id m) const noexcept { return last_[m]; }

    /// The nodes for matching; `place` is by node. Valid as long as both.
    [[nodiscard]] matched_graph view(const std::vector<std::uint64_t>& place) const noexcept {
        return {&graph_, type_, label_, weight_, place, name_, quiet_};
    }

private:
    /// Longer constants are compared numerically.
    static constexpr std::uint64_t longest_constant = 512;

    void find_constants() {
        constant_of_.assign(model_.value_count(), no_id);
        quiet_.assign(model_.node_count(), 0);
        std::vector<bool> weighs(model_.value_count(), false);
        for (const auto& weight : find_weights(model_)) {
            weighs[weight.value] = true;
        }
        tensor_content_reader reader(model_);
        const auto add = [&](tensor_ref tensor) {
            const auto content = reader.read(tensor);
            const auto data = content.bytes();
            // A scalar may be stored by a Constant or as an initializer, which is a weight.
            const bool scalar =
                is_floating_type(content.header.data_type) && content.header.elements() == 1;
            compared_constant constant{
                tensor, weighs[tensor.value] || scalar || data.size() > longest_constant,
                data.size(), 0};
            constant.print = hash_bytes(sample_of(content), constant.is_weight ? 1 : 2);
            constant_of_[tensor.value] = static_cast<id>(constants_.size());
            constants_.push_back(constant);
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
            if (model_.op_type(node) == "Constant") {
                if (const auto tensor = model_.constant_tensor(node)) {
                    add({*tensor, model_.graph_of(node), {}, value, false});
                    quiet_[node] = 1;
                }
            } else if (model_.op_type(node) == "Identity" && model_.inputs(node).size() == 1 &&
                       constant_of(model_.inputs(node).front()) != no_id) {
                constant_of_[value] = constant_of(model_.inputs(node).front());
                quiet_[node] = 1;
            }
        }
    }

    /// Returns: a hash of type, shape and a sample of the data of a tensor; all data if short.
    [[nodiscard]] static std::string sample_of(const tensor_content& content) {
        constexpr std::size_t pieces = 8;
        constexpr std::size_t piece = 64;
        const auto data = content.bytes();
        auto text = std::to_string(content.header.data_type);
        for (auto dim : content.header.dims) {
            text.append(",").append(std::to_string(dim));
        }
        text.append(":").append(content.places);
        text.append(content.readable ? "" : content.header.location);
        if (data.size() <= longest_constant) {
            return text.append(data);
        }
        for (std::size_t i = 0; i < pieces; ++i) {
            text.append(data.substr((data.size() - piece) / (pieces - 1) * i, piece));
        }
        return text;
    }

    void describe_nodes() {
        const auto count = model_.node_count();
        for (id op = 0; op < model_.operator_count(); ++op) {
            operators_.push_back(
                hash_bytes(model_.operator_domain(op), hash_bytes(model_.operator_type(op))));
        }
        type_.resize(count);
        label_.resize(count);
        weight_.assign(count, 0);
        name_.assign(count, 0);
        attribute_hasher attributes(model_);
        for (id node = 0; node < count; ++node) {
            type_[node] = operators_[model_.operator_id(node)];
            auto label = hash_mix(type_[node], hash_bytes(model_.overload(node)));
            label = hash_mix(label, attributes.read(node, false).hash);
            const auto inputs = model_.inputs(node);
            for (id slot = 0; slot < inputs.size(); ++slot) {
                const auto constant = constant_of(inputs[slot]);
                if (constant == no_id) {
                    // Trailing omitted inputs do not matter.
                    label += inputs[slot] == no_id ? 0 : hash_mix(slot, 1);
                } else if (constants_[constant].is_weight) {
                    label += hash_mix(slot, 2);
                    weight_[node] += hash_mix(slot, constants_[constant].print);
                } else {
                    label += hash_mix(hash_mix(slot, 3), constants_[constant].print);
                }
            }
            label_[node] = label;
            for (id i = 0; i < model_.output_count(node) && name_[node] == 0; ++i) {
                const auto name = model_.value_name(model_.first_output(node) + i);
                name_[node] = name.empty() ? 0 : hash_bytes(name) | 1U;
            }
        }
    }

    /// An edge counts in the innermost module that contains both ends, so that a module's hash does
    /// not depend on its place.
    void describe_modules() {
        const auto& tree = modules().index();
        own_.assign(tree.size(), 0);
        first_.assign(tree.size(), no_id);
        last_.assign(tree.size(), no_id);
        contents_.operators.assign(tree.size(), 0);
        contents_.structure.assign(tree.size(), 0);
        contents_.weights.assign(tree.size(), 0);
        for (id node = 0; node < model_.node_count(); ++node) {
            if (is_quiet(node)) {
                continue;
            }
            const auto m = module_of(node);
            ++own_[m];
            first_[m] = std::min(first_[m], node);
            last_[m] = node;
            ++contents_.operators[m];
            contents_.structure[m] += hash_mix(label_[node], 5);
            contents_.weights[m] += weight_[node] == 0 ? 0 : hash_mix(label_[node], weight_[node]);
            for (auto [e, last] = in_edges(node, graph_); e != last; ++e) {
                const auto from = (*e).source;
                if (!is_quiet(from)) {
                    contents_.structure[tree.lca(m, module_of(from))] += hash_mix(
                        hash_mix(label_[from], ports_of(graph_, (*e).index)), label_[node]);
                }
            }
        }
        for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
            const auto above = tree.parent(m);
            first_[above] = std::min(first_[above], first_[m]);
            if (last_[m] != no_id && (last_[above] == no_id || last_[above] < last_[m])) {
                last_[above] = last_[m];
            }
            contents_.operators[above] += contents_.operators[m];
            contents_.structure[above] += contents_.structure[m];
            contents_.weights[above] += contents_.weights[m];
        }
    }

    const attributed_model& opened_;
    const wire_model& model_;
    operator_graph graph_;
    std::vector<compared_constant> constants_;
    std::vector<id> constant_of_; // by value
    std::vector<char8_t> quiet_;  // by node
    std::vector<std::uint64_t> operators_;
    std::vector<std::uint64_t> type_;   // by node
    std::vector<std::uint64_t> label_;  // by node
    std::vector<std::uint64_t> weight_; // by node
    std::vector<std::uint64_t> name_;   // by node
    std::vector<id> own_;               // by module
    std::vector<id> first_;             // by module
    std::vector<id> last_;              // by module
    module_contents contents_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_COMPARED_MODEL_HPP
