// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_CALL_ARGUMENTS_HPP
#define STEMMA_ONNX_DETAIL_CALL_ARGUMENTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What calls pass to the formal inputs of functions.
class call_arguments {
public:
    /// Requires: `model` outlives this. Complexity: O(nodes + inputs of calls * log calls); O(1)
    /// for a model without functions.
    explicit call_arguments(const wire_model& model) : model_(model) {
        if (model.functions().empty()) {
            return;
        }
        for (id node = 0; node < model.node_count(); ++node) {
            if (const auto f = model.callee(node); f != no_id) {
                const auto& formals = model.graph(model.functions()[f].graph).inputs;
                const auto inputs = model.inputs(node);
                for (std::size_t i = 0; i < std::min(formals.size(), inputs.size()); ++i) {
                    if (formals[i] != no_id && inputs[i] != no_id) {
                        given_.emplace_back(formals[i], inputs[i]);
                    }
                }
            }
        }
        std::sort(given_.begin(), given_.end());
    }

    /// Whether no call passes anything. Complexity: O(1).
    [[nodiscard]] bool empty() const noexcept { return given_.empty(); }

    /// Calls `f(argument)` for what calls pass as that formal input; never for other values.
    /// Complexity: O(arguments + log calls).
    template <class Function>
    void for_each(id formal, Function f) const {
        for (auto call = find(formal); call != given_.end() && call->first == formal; ++call) {
            f(call->second);
        }
    }

    /// Returns: where a value comes from: of a formal input, what the first call passes; of a
    /// call's result, what the function returns, or `no_id`; through several calls if need be.
    /// Other values are as they are. Complexity: O(log calls).
    [[nodiscard]] id behind(id value) const {
        constexpr int most = 64; // calls may recur
        for (int i = 0; i < most && value != no_id && !empty(); ++i) {
            const auto producer = model_.producer(value);
            if (const auto f = producer == no_id ? no_id : model_.callee(producer); f != no_id) {
                const auto& results = model_.graph(model_.functions()[f].graph).outputs;
                const auto slot = value - model_.first_output(producer);
                value = slot < results.size() ? results[slot] : no_id;
                continue;
            }
            const auto call = find(value);
            if (call == given_.end() || call->first != value) {
                break;
            }
            value = call->second;
        }
        return value;
    }

private:
    using pairs = std::vector<std::pair<id, id>>;

    [[nodiscard]] pairs::const_iterator find(id formal) const {
        return std::lower_bound(given_.begin(), given_.end(), std::pair(formal, id{0}));
    }

    const wire_model& model_;
    pairs given_; // formal input, argument
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_CALL_ARGUMENTS_HPP
