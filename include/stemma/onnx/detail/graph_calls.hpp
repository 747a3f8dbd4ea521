// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_GRAPH_CALLS_HPP
#define STEMMA_ONNX_DETAIL_GRAPH_CALLS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The nodes through which values enter and leave bodies and functions: the owner of a body, and
/// the calls of a function. Requires: the model outlives this.
class graph_calls {
public:
    /// Complexity: O(nodes + values).
    explicit graph_calls(const onnx_model& model)
        : model_(&model), slots_(model.value_count(), no_id) {
        calls_ = grouped_ids(model.graph_count(), [&](auto take) {
            for (id node = 0; node < model.node_count(); ++node) {
                if (const auto f = model.callee(node); f != no_id) {
                    take(model.functions()[f].graph, node);
                }
            }
            for (id g = 0; g < model.graph_count(); ++g) {
                if (model.graph(g).kind == graph_kind::body) {
                    take(g, model.graph(g).owner);
                }
            }
        });
        leaves_ = grouped_ids(model.value_count(), [&](auto take) {
            for (id g = 0; g < model.graph_count(); ++g) {
                for (auto value : model.graph(g).outputs) {
                    if (value != no_id) {
                        take(value, g);
                    }
                }
            }
        });
        for (id g = 0; g < model.graph_count(); ++g) {
            const auto& formals = model.graph(g).inputs;
            for (std::size_t i = 0; i < formals.size(); ++i) {
                if (formals[i] != no_id) {
                    slots_[formals[i]] = static_cast<id>(i);
                }
            }
        }
    }

    /// Whether a value is an output of the main graph. Complexity: O(graphs it is an output of).
    [[nodiscard]] bool is_result(id value) const {
        const auto graphs = leaves_[value];
        return !graphs.empty() && graphs.front() == 0;
    }

    /// Calls `f(node, given)` for each owner or call that passes a value to a formal input, if this
    /// is one; `given` is `no_id` if it is omitted, or made by the owner as an iteration number is.
    /// Complexity: O(calls).
    template <class Function>
    void for_each_way_in(id value, Function f) const {
        if (model_->kind(value) != value_kind::formal) {
            return;
        }
        const auto g = model_->graph_of_value(value);
        for (auto node : calls_[g]) {
            const auto slot = model_->graph(g).kind == graph_kind::body
                                  ? matching_owner_input(*model_, node, g, slots_[value])
                                  : slots_[value];
            const auto inputs = model_->inputs(node);
            f(node, slot < inputs.size() ? inputs[slot] : no_id);
        }
    }

    /// Calls `f(node)` for each owner or call that takes a value as a result of a body or function.
    /// Complexity: O(calls).
    template <class Function>
    void for_each_way_out(id value, Function f) const {
        for (auto g : leaves_[value]) {
            for (auto node : calls_[g]) {
                f(node);
            }
        }
    }

    /// Adds to a set of values the formal inputs of functions that calls pass nothing else to.
    /// Complexity: O(values + values passed).
    void add_passed_on(std::vector<bool>& values) const {
        const grouped_ids passed_to(values.size(), [&](auto take) {
            for (const auto& function : model_->functions()) {
                for (auto value : model_->graph(function.graph).inputs) {
                    if (value != no_id && model_->kind(value) == value_kind::formal) {
                        values[value] = true;
                        for_each_way_in(value, [&](id, id given) {
                            if (given != no_id) {
                                take(given, value);
                            }
                        });
                    }
                }
            }
        });
        std::vector<id> others;
        for (id value = 0; value < values.size(); ++value) {
            if (!values[value]) {
                others.push_back(value);
            }
        }
        while (!others.empty()) {
            const auto given = others.back();
            others.pop_back();
            for (auto formal : passed_to[given]) {
                if (values[formal]) {
                    values[formal] = false;
                    others.push_back(formal);
                }
            }
        }
    }

private:
    const onnx_model* model_;
    grouped_ids calls_;     // nodes by graph
    grouped_ids leaves_;    // graphs by value
    std::vector<id> slots_; // by value, of formal inputs
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_GRAPH_CALLS_HPP
