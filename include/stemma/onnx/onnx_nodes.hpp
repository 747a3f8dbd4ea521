// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_ONNX_NODES_HPP
#define STEMMA_ONNX_ONNX_NODES_HPP

#include <stemma/align/fused_operators.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/python_text.hpp>
#include <stemma/model/detail/edgeless_graph.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/glued_names.hpp>
#include <stemma/onnx/detail/inlined_nodes.hpp>
#include <stemma/onnx/detail/model_parameters.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The nodes of an ONNX model as an operator view without the tensors between them: names, metadata
/// and parameters can be read while the graph is built.
///
/// Parameters are the initializers; the weights that Constants hold, if their names are paths; and
/// the outputs of nodes that only pass one on: of Identity, which exporters create for merged
/// initializers, named as the merged ones were; and of DequantizeLinear, whose readers use its
/// input.
///
/// `Model` is `wire_model`, which also knows metadata, or plain `onnx_model`.
template <class Model = onnx_model>
class onnx_nodes {
public:
    /// Vertices are nodes by number.
    using graph_type = detail::edgeless_graph;

    /// Requires: `model` outlives the view.
    /// Complexity: O(nodes + inputs + values).
    explicit onnx_nodes(const Model& model)
        : model_(&model)
        , graph_(model.node_count())
        , parameters_(model, detail::find_constant_weights(model)) {
        for (id op = 0; op < model.operator_count(); ++op) {
            const auto type = model.operator_type(op);
            hides_data_.push_back(model.operator_domain(op).empty() &&
                                  (type == "Shape" || type == "Size"));
        }
        if (auto names = std::make_shared<const detail::glued_names>(model, parameters_);
            !names->empty()) {
            glued_ = std::move(names);
        }
        number_formals();
        if constexpr (requires(void (*take)(std::string_view, std::string_view)) {
                          model.for_each_model_metadata(take);
                      }) {
            bool folded = false;
            model.for_each_model_metadata([&](std::string_view key, std::string_view value) {
                our_namespaces_ =
                    key == detail::model_key ? detail::records_namespaces(value) : our_namespaces_;
                folded = folded || key == detail::fold_key;
            });
            if (folded) {
                read_fold_paths();
            }
        }
    }

    /// The underlying model.
    [[nodiscard]] const Model& model() const noexcept { return *model_; }
    /// Valid as long as the view.
    [[nodiscard]] const detail::edgeless_graph& graph() const noexcept { return graph_; }

    /// Returns: the name that the exporter gave a node: `onnx_model::name` without a prefix that
    /// was glued to all names when models were merged, or with that as the first module.
    [[nodiscard]] std::string_view name(id node) const noexcept {
        return glued_ ? glued_->node(node) : model_->name(node);
    }

    /// Returns: the same as `onnx_model::name`.
    [[nodiscard]] std::string_view stored_name(id node) const noexcept {
        return model_->name(node);
    }

    /// Returns: the same as `onnx_model::op_type`.
    [[nodiscard]] std::string_view op_type(id node) const noexcept { return model_->op_type(node); }

    /// Returns: the same as `onnx_model::domain`.
    [[nodiscard]] std::string_view domain(id node) const noexcept { return model_->domain(node); }

    /// Returns: the name of a node's first output, as for `name`; "" if it has none.
    [[nodiscard]] std::string_view result_name(id node) const noexcept {
        if (glued_) {
            return glued_->result(node);
        }
        return model_->output_count(node) == 0 ? std::string_view{}
                                               : model_->value_name(model_->first_output(node));
    }

    /// Returns: the name of the sum that a fused normalization makes beside its result; "" for
    /// other nodes, and if nothing reads it.
    [[nodiscard]] std::string_view sum_name(id node) const noexcept {
        constexpr id place = 3;
        return model_->output_count(node) > place && model_->op_type(node).starts_with("Skip") &&
                       detail::begins_with(model_->domain(node), "com.microsoft")
                   ? model_->value_name(model_->first_output(node) + place)
                   : "";
    }

    /// Returns: what is known of nodes whose calls a runtime inlined; valid as long as the view.
    /// Complexity: that of `inlined_nodes` on the first call; then O(1).
    [[nodiscard]] const auto& inlined() const { return inlined_->of(*model_); }

    /// Returns: the node whose body contains a node, or `no_id`.
    [[nodiscard]] id owner(id node) const noexcept { return model_->owner(node); }
    /// Returns: the graph of a node in a body, else `no_id`.
    [[nodiscard]] id body(id node) const noexcept {
        return owner(node) == no_id ? no_id : model_->graph_of(node);
    }

    /// Returns: the number of parameters, read or not.
    [[nodiscard]] std::size_t parameter_count() const noexcept { return parameters_.count(); }

    /// Returns: as for `name`, the name of the value that is parameter `p` or, if it was
    /// dequantized, of its source; or the name given by `rename_parameters`.
    [[nodiscard]] std::string_view parameter_name(id p) const noexcept {
        return glued_ && !parameters_.is_renamed(p) ? glued_->parameter(p) : parameters_.name(p);
    }

    /// Returns: the name of parameter `p` in the file, or by `rename_parameters`.
    [[nodiscard]] std::string_view stored_parameter_name(id p) const noexcept {
        return parameters_.name(p);
    }

    /// Gives parameters names determined elsewhere, by number: those with "" and those past the end
    /// keep the name of their value.
    void rename_parameters(std::vector<std::string> names) { parameters_.rename(std::move(names)); }

    /// Returns: the value that is parameter `p`.
    [[nodiscard]] id parameter_value(id p) const noexcept { return parameters_.value(p); }

    /// Whether a node passes a parameter on to those that read its result. Complexity: O(1).
    [[nodiscard]] bool passes_parameter_on(id node) const noexcept {
        return parameters_.passes_on(node);
    }

    /// Calls `f` for the parameters a node reads; not if it is an Identity of one.
    /// Complexity: O(parameters read).
    template <class Function>
    void for_each_parameter(id node, Function f) const {
        for (auto p : parameters_.read_by(node)) {
            f(p);
        }
    }

    /// Leaves only those parameters marked that are initializers with all elements equal, a single
    /// one to zero or one, as far as the model itself stores the data.
    /// Complexity: O(parameters + data of those marked).
    void keep_uniform(std::vector<bool>& marked) const requires requires(const Model& model) {
        model.find_uniform(std::vector<bool>{});
    }
    {
        std::vector<bool> values(model_->value_count(), false);
        for (id p = 0; p < marked.size(); ++p) {
            const auto value = parameters_.named_after(p);
            values[value] = values[value] || marked[p];
        }
        values = model_->find_uniform(std::move(values));
        for (id p = 0; p < marked.size(); ++p) {
            marked[p] = marked[p] && values[parameters_.named_after(p)];
        }
    }

    /// Leaves only those parameters marked that must be weights: initializers with two or more
    /// extents and of a type that does not count. Complexity: O(parameters).
    void keep_matrices(std::vector<bool>& marked) const requires requires(const Model& model) {
        model.find_matrices(std::vector<bool>{});
    }
    {
        std::vector<bool> values(model_->value_count(), false);
        for (id p = 0; p < marked.size(); ++p) {
            if (marked[p]) {
                values[initializer_of(p)] = true;
            }
        }
        values = model_->find_matrices(values);
        for (id p = 0; p < marked.size(); ++p) {
            marked[p] = marked[p] && values[initializer_of(p)];
        }
    }

    /// Returns: the initializer behind a parameter, or what a Constant makes. Complexity: O(1).
    [[nodiscard]] id initializer_of(id p) const noexcept { return parameters_.initializer(p); }

    /// Whether a node uses only the shape of its inputs.
    [[nodiscard]] bool hides_data(id node) const noexcept {
        return hides_data_[model_->operator_id(node)];
    }

    /// Whether a runtime fused a node with a neighbouring activation, normalization or addition,
    /// according to its type, an attribute or its inputs; not what a builder wrote as one and named
    /// so, `/norm/SkipLayerNorm`. Complexity: O(fields of the node).
    [[nodiscard]] bool is_joined(id node) const requires requires(const Model& model) {
        model.sets_attribute(node, std::string_view());
    }
    {
        return detail::begins_with(convolution_input(node, 2), "ConvBnFusion_BN_B_") ||
               joins_sum(node) ||
               (detail::begins_with(model_->domain(node), "com.microsoft") &&
                ((detail::joins_neighbour(model_->op_type(node)) && !names_fusion(node)) ||
                 model_->sets_attribute(node, "activation")));
    }

    /// Whether a runtime fused a convolution with the addition that follows it. Complexity: O(1).
    [[nodiscard]] bool joins_sum(id node) const {
        return detail::begins_with(model_->domain(node), "com.microsoft") &&
               !convolution_input(node, 3).empty();
    }

    /// Calls `f(value)` for the values a node reads that are neither produced by a node nor
    /// initializers. Complexity: O(inputs).
    template <class Function>
    void for_each_data(id node, Function f) const {
        for (auto value : model_->inputs(node)) {
            if (value != no_id && model_->kind(value) != value_kind::result &&
                !model_->is_initializer(value)) {
                f(value);
            }
        }
    }

    /// Whether a node reads such a value. Complexity: O(inputs).
    [[nodiscard]] bool reads_data(id node) const {
        bool reads = false;
        for_each_data(node, [&](id) { reads = true; });
        return reads;
    }

    /// Calls `f(key, value)` for every metadata entry of a node, as before it was tagged: what
    /// stemma wrote is no evidence.
    template <class Function>
    void for_each_metadata(id node, Function&& f) const requires requires(const Model& model) {
        model.for_each_metadata(node, f);
    }
    {
        if (is_folded(node)) {
            return;
        }
        bool ours = our_namespaces_; // what follows a saved one always is
        model_->for_each_metadata(node, [&](std::string_view key, std::string_view value) {
            if (key == detail::saved_namespace_key) {
                ours = true;
                f(detail::namespace_key, value);
            } else if (!detail::is_tag_entry(key) && !detail::is_fold_entry(key) &&
                       !(ours && key == detail::namespace_key)) {
                f(key, value);
            }
        });
    }

    /// Calls `f(node, name)` for the values that the result of a node was folded from, according to
    /// metadata.
    template <class Function>
    void for_each_folded(Function f) const {
        for_each_origin([&](id value, std::string_view origin) {
            if (const auto node = model_->producer(value); node != no_id) {
                f(node, origin);
            }
        });
    }

    /// Calls `f(parameter, name)` for the values that an initializer was folded from.
    template <class Function>
    void for_each_folded_parameter(Function f) const {
        for_each_origin([&](id value, std::string_view origin) {
            if (const auto p = parameters_.of(value);
                p != no_id && model_->producer(value) == no_id) {
                f(p, origin);
            }
        });
    }

    /// Returns: the number of functions in the model.
    [[nodiscard]] id function_count() const noexcept {
        return static_cast<id>(model_->functions().size());
    }

    /// Returns: the domain of function `f`, in file order.
    [[nodiscard]] std::string_view function_domain(id f) const noexcept {
        return model_->text(model_->functions()[f].domain);
    }

    /// Returns: the name of function `f`, in file order.
    [[nodiscard]] std::string_view function_name(id f) const noexcept {
        return model_->text(model_->functions()[f].name);
    }
    /// Returns: the function a node calls, or `no_id`.
    [[nodiscard]] id callee(id node) const noexcept { return model_->callee(node); }
    /// Returns: the function whose body contains a node, at any depth, or `no_id`.
    /// Complexity: O(depth of the bodies).
    [[nodiscard]] id enclosing_function(id node) const noexcept {
        return model_->graph(model_->outermost(model_->graph_of(node))).function;
    }

    /// Whether a node is in a function made by folding, or calls one.
    [[nodiscard]] bool is_folded(id node) const noexcept {
        if (folded_functions_.empty()) {
            return false;
        }
        const auto around = enclosing_function(node);
        return (around != no_id && folded_functions_[around]) ||
               (callee(node) != no_id && folded_functions_[callee(node)]);
    }
    /// Returns: the path from the module of the enclosing function, or from the root, to that of a
    /// node.
    [[nodiscard]] std::string_view fold_path(id node) const {
        const auto entry = fold_paths_.find(node);
        return entry == fold_paths_.end() ? std::string_view() : entry->second;
    }

    /// Calls `f(argument)` for every input slot of a node. Complexity: O(inputs).
    template <class Function>
    void for_each_argument(id node, Function f) const {
        for (auto value : model_->inputs(node)) {
            operator_argument argument;
            if (value != no_id) {
                argument.parameter = parameters_.of(value);
                argument.formal = formal_slots_.empty() ? no_id : formal_slots_[value];
            }
            f(argument);
        }
    }

private:
    [[nodiscard]] bool names_fusion(id node) const noexcept {
        const auto name = model_->name(node);
        const auto slash = name.rfind('/');
        const auto last = name.substr(slash == name.npos ? name.size() : slash + 1);
        return (last.starts_with("Skip") || last.starts_with("Bias")) && !last.ends_with("Fusion");
    }

    [[nodiscard]] std::string_view convolution_input(id node, std::size_t i) const noexcept {
        const auto inputs = model_->inputs(node);
        const bool has = i < inputs.size() && inputs[i] != no_id;
        const auto type = model_->op_type(node);
        const bool convolves = type.ends_with("Conv") && !type.ends_with("QLinearConv");
        return has && convolves ? model_->value_name(inputs[i]) : "";
    }

    template <class Function>
    void for_each_origin(Function f) const {
        if constexpr (requires(void (*take)(id, std::string_view, std::string_view)) {
                          model_->for_each_value_metadata(take);
                      }) {
            std::vector<std::string> origins;
            model_->for_each_value_metadata(
                [&](id value, std::string_view key, std::string_view text) {
                    if (key == "pkg.onnxscript.optimizer.folded_from" &&
                        detail::read_python_list(text, origins)) {
                        for (const auto& origin : origins) {
                            f(value, std::string_view(origin));
                        }
                    }
                });
        }
    }

    /// Functions called with a path were made by folding.
    void read_fold_paths() {
        folded_functions_.resize(model_->functions().size(), false);
        for (id node = 0; node < model_->node_count(); ++node) {
            model_->for_each_metadata(node, [&](std::string_view key, std::string_view value) {
                if (key == detail::fold_module_key) {
                    fold_paths_.emplace(node, value);
                    if (callee(node) != no_id) {
                        folded_functions_[callee(node)] = true;
                    }
                }
            });
        }
    }

    void number_formals() {
        for (const auto& function : model_->functions()) {
            formal_slots_.resize(model_->value_count(), no_id);
            const auto& formals = model_->graph(function.graph).inputs;
            for (id slot = 0; slot < formals.size(); ++slot) {
                formal_slots_[formals[slot]] = slot;
            }
        }
    }

    const Model* model_;
    detail::edgeless_graph graph_;
    detail::model_parameters parameters_;
    std::shared_ptr<const detail::glued_names> glued_; // null if there are none
    std::vector<id> formal_slots_;                     // by value, if there are functions
    std::vector<bool> hides_data_;
    std::vector<bool> folded_functions_; // empty if nothing is folded
    std::shared_ptr<detail::late_inlined_nodes> inlined_ =
        std::make_shared<detail::late_inlined_nodes>();
    std::unordered_map<id, std::string_view> fold_paths_; // by node, if it has one
    bool our_namespaces_ = false; // the nodes' `namespace` entries were written by stemma
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_ONNX_NODES_HPP
