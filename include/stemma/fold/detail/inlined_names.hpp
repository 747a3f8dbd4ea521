// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_INLINED_NAMES_HPP
#define STEMMA_FOLD_DETAIL_INLINED_NAMES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/function_calls.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A call of a function: where its body runs.
struct inlined_place {
    id called_for = no_id; ///< the module of the call according to `function_calls`
    id module = 0;         ///< the module of the call
    std::string scope{};   ///< the path to that module, as in names
};

/// Names for inlined nodes, `encoder/layer.0/attention/MatMul_node_7`, as builders write them, such
/// that each keeps the module that it had in the function.
class inlined_names {
public:
    /// Collects the modules of calls.
    using call_claims = function_calls::claims<onnx_operators<wire_model>>;

    /// `attributions` is by node; `calls` is the result of `function_calls` for the same nodes.
    /// Requires: all of them outlive it, and what `calls` was prepared from. Complexity: O(nodes).
    inlined_names(const wire_model& model, const module_tree& modules,
                  std::span<const attribution> attributions, call_claims calls)
        : model_(model), modules_(modules), attributions_(attributions), calls_(std::move(calls)) {
        for (id node = 0; node < model.node_count(); ++node) {
            node_at_.emplace(model.message(node).begin, node);
            taken_.insert(model.name(node));
        }
    }

    /// Returns: where the function called by the node at a position in the file runs; the node
    /// itself is in a body that runs at `around` (default: in a graph).
    /// Complexity: O(length of names) on average.
    [[nodiscard]] inlined_place enter(std::uint32_t position,
                                      const inlined_place& around = {}) const {
        const auto node = node_at(position);
        if (node == no_id) {
            return around;
        }
        inlined_place inside{
            calls_.module_of(node, around.called_for), made_of(node, around).module, {}};
        inside.scope = scope_of(inside.module, around);
        return inside;
    }

    /// Returns: a unique name for the node at a position; "" if its module only follows from its
    /// neighbours, as it still does. Complexity: as above.
    [[nodiscard]] std::string name(std::uint32_t position, std::string_view op_type,
                                   const inlined_place& around) {
        const auto node = node_at(position);
        if (node == no_id || op_type.empty() || !is_known(node, around)) {
            return {};
        }
        return free_name(scope_of(made_of(node, around).module, around), op_type);
    }

    /// Returns: the same for a node that replaces a call itself. Complexity: as above.
    [[nodiscard]] std::string name(std::string_view op_type, const inlined_place& around) {
        return around.called_for == no_id ? std::string() : free_name(around.scope, op_type);
    }

    /// Appends the attribution of an inlined node: the one at a position, or without one the node
    /// that replaces the call. Complexity: O(1).
    void note(std::uint32_t position, const inlined_place& around,
              std::vector<attribution>& result) const {
        const auto node = node_at(position);
        result.push_back(node == no_id ? of_call(around) : made_of(node, around));
    }

    /// Appends the attributions of a node that stays and of those in its bodies; functions no
    /// longer tell them. Complexity: O(these).
    void note_unchanged(std::uint32_t position, std::vector<attribution>& result) const {
        const auto node = node_at(position);
        auto first = node;
        while (first > 0 && is_in_bodies_of(first - 1, node)) {
            --first;
        }
        for (; first <= node; ++first) {
            auto& one = result.emplace_back(attributions_[first]);
            one.source = one.source == provenance::function ? provenance::recorded : one.source;
        }
    }

private:
    [[nodiscard]] std::string free_name(std::string name, std::string_view op_type) {
        name.append(name.empty() ? "" : "/").append(op_type).append("_node_");
        const auto length = name.size();
        do {
            name.resize(length);
            name.append(std::to_string(next_++));
        } while (taken_.contains(name));
        return name;
    }

    [[nodiscard]] id node_at(std::uint32_t position) const {
        const auto entry = node_at_.find(position);
        return entry == node_at_.end() ? no_id : entry->second;
    }

    [[nodiscard]] bool is_in_bodies_of(id node, id owner) const {
        auto o = model_.owner(node);
        while (o != no_id && o != owner) {
            o = model_.owner(o);
        }
        return o == owner;
    }

    [[nodiscard]] bool is_in_function(id node) const {
        return model_.graph(model_.outermost(model_.graph_of(node))).kind == graph_kind::function;
    }

    [[nodiscard]] static attribution of_call(const inlined_place& call) {
        return {call.module, no_id, detail::confidence::foreign_function, provenance::function,
                false};
    }

    /// Whether the attribution comes from a function, so that the enclosing call may refine it.
    [[nodiscard]] bool is_of_function(id node) const {
        return attributions_[node].source == provenance::function && is_in_function(node);
    }

    [[nodiscard]] bool is_known(id node, const inlined_place& around) const {
        return is_of_function(node) ? calls_.module_of(node, around.called_for) != no_id
                                    : is_evidence(attributions_[node].source);
    }

    /// What several modules share is in their common ancestor; here it runs for one.
    [[nodiscard]] attribution made_of(id node, const inlined_place& around) const {
        auto attributed = attributions_[node];
        if (is_of_function(node)) {
            const auto called = calls_.module_of(node, around.called_for);
            attributed = called == no_id ? of_call(around) : attributed;
            attributed.module = called == no_id ? around.module : called;
        }
        return attributed;
    }

    /// Each call is a level, as is each module in a path; members of lists are not.
    [[nodiscard]] std::string scope_of(id module, const inlined_place& around) const {
        const auto& tree = modules_.index();
        const bool below = tree.is_ancestor(around.module, module);
        std::vector<id> way;
        for (auto m = module; m != (below ? around.module : 0); m = tree.parent(m)) {
            way.push_back(m);
        }
        auto scope = below ? around.scope : std::string();
        bool first = true;
        for (auto m = way.rbegin(); m != way.rend(); ++m, first = false) {
            const auto name = modules_.name(*m);
            const bool member = !first && is_number(name);
            scope.append(scope.empty() ? "" : member ? "." : "/").append(name);
        }
        return scope;
    }

    const wire_model& model_;
    const module_tree& modules_;
    std::span<const attribution> attributions_;
    call_claims calls_;
    std::unordered_map<std::uint32_t, id> node_at_; // by start of the message
    std::unordered_set<std::string_view> taken_;    // names of nodes
    std::size_t next_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_INLINED_NAMES_HPP
