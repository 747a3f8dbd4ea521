// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLDED_FUNCTIONS_HPP
#define STEMMA_FOLD_DETAIL_FOLDED_FUNCTIONS_HPP

#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_record.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The functions made by folding, and the bodies changed by it.
class folded_functions {
public:
    /// Requires: the model outlives it. Complexity: O(nodes + values).
    folded_functions(const wire_model& model, const fold_record& record)
        : model_(&model)
        , ours_(model.functions().size(), false)
        , local_(model.value_count(), no_id)
        , value_count_(model.functions().size(), 0) {
        const std::set<std::pair<std::string, std::string>> names(record.functions.begin(),
                                                                  record.functions.end());
        for (id f = 0; f < ours_.size(); ++f) {
            const auto& function = model.functions()[f];
            ours_[f] = function.overload.size == 0 &&
                       names.contains({std::string(model.text(function.domain)),
                                       std::string(model.text(function.name))});
        }
        for (id value = 0; value < model.value_count(); ++value) {
            const auto& graph = model.graph(model.graph_of_value(value));
            if (graph.kind == graph_kind::function && ours_[graph.function]) {
                local_[value] = value_count_[graph.function]++;
            }
        }
        find_bodies();
    }

    /// Whether a function was made by folding.
    [[nodiscard]] bool made(id function) const { return ours_[function]; }
    /// Whether a node calls such a function.
    [[nodiscard]] bool is_call(id node) const {
        const auto callee = model_->callee(node);
        return callee != no_id && ours_[callee];
    }

    /// Returns: the number of a value within its function; `no_id` for values elsewhere.
    [[nodiscard]] id local(id value) const { return local_[value]; }

    /// Returns: the number of values in a function; `local` numbers them from 0.
    [[nodiscard]] id value_count(id function) const { return value_count_[function]; }

    /// Returns: the bodies with calls, ascending.
    [[nodiscard]] const std::vector<id>& bodies() const noexcept { return bodies_; }
    /// Whether folding changed the bodies of a node, at any depth.
    [[nodiscard]] bool changed_inside(id node) const {
        return !holders_.empty() && holders_.contains(node);
    }
    /// Whether it changed a node of a graph other than a call: its bodies, or its metadata.
    [[nodiscard]] bool changed(id node) const {
        return changed_inside(node) || (!noted_.empty() && noted_.contains(node));
    }

private:
    void find_bodies() {
        std::vector<bool> calls(model_->graph_count(), false);
        std::vector<bool> changes(model_->graph_count(), false);
        for (id node = 0; node < model_->node_count(); ++node) {
            if (model_->owner(node) == no_id) {
                continue;
            }
            const auto g = model_->graph_of(node);
            if (is_call(node)) {
                calls[g] = true;
                changes[g] = true;
                continue;
            }
            model_->for_each_metadata(node, [&](std::string_view key, std::string_view) {
                if (is_fold_entry(key)) {
                    noted_.insert(node);
                    changes[g] = true;
                }
            });
        }
        for (id g = 0; g < calls.size(); ++g) {
            if (calls[g]) {
                bodies_.push_back(g);
            }
            for (auto node = changes[g] ? model_->graph(g).owner : no_id;
                 node != no_id && holders_.insert(node).second;) {
                node = model_->owner(node);
            }
        }
    }

    const wire_model* model_;
    std::vector<bool> ours_;      // by function
    std::vector<id> local_;       // by value
    std::vector<id> value_count_; // by function
    std::vector<id> bodies_;
    std::unordered_set<id> noted_;
    std::unordered_set<id> holders_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLDED_FUNCTIONS_HPP
