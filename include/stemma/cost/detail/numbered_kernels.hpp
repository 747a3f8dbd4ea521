// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_DETAIL_NUMBERED_KERNELS_HPP
#define STEMMA_COST_DETAIL_NUMBERED_KERNELS_HPP

#include <stemma/core/id.hpp>
#include <stemma/cost/profile.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the nodes of kernels whose names do not tell: a runtime calls an unnamed node by operator
/// and number. The number is the position in the file that a session loads, where Constants do not
/// count, and says nothing about the file that it saves; there, nodes are in the order in which
/// they run.
class numbered_kernels {
public:
    /// Requires: both outlive this. Complexity: O(n log n) in nodes and kernels.
    numbered_kernels(const onnx_model& model, std::span<const profile::kernel> kernels)
        : model_(model) {
        std::vector<id> counts(model.graph_count(), 0);
        for (id node = 0; node < model.node_count(); ++node) { // those of a graph by position
            const auto g = model.graph_of(node);
            if (model.outermost(g) == 0 && !is_constant_node(model, node)) {
                at_.emplace_back(counts[g]++, node);
            }
        }
        std::sort(at_.begin(), at_.end());
        std::vector<const profile::kernel*> numbered; // in the order in which they ran first
        std::size_t fitting = 0;
        std::size_t beyond = 0; // all numbers of the file: of nodes that the session added
        for (const auto& kernel : kernels) {
            if (kernel.node_index != no_id && !kernel.op_type.empty()) {
                numbered.push_back(&kernel);
                const auto nodes = numbered_nodes(kernel.node_index);
                beyond += nodes.empty() ? 1U : 0U;
                fitting += std::any_of(nodes.begin(), nodes.end(),
                                       [&](const auto& at) { return is_of(kernel, at.second); })
                               ? 1U
                               : 0U;
            }
        }
        if (fitting == numbered.size()) {
            by_position_ = true;
            return;
        }
        // In a saved file of equal layers, numbers may fit that mean other layers.
        const auto nodes = nodes_as_run();
        if (!order(numbered, nodes, true)) {
            by_position_ = fitting > 0 && fitting + beyond == numbered.size();
            if (!by_position_) {
                order(numbered, nodes, false);
            }
        }
    }

    /// Returns: the node of a kernel by the order in which nodes run; `no_id` if that does not
    /// tell. Complexity: O(log kernels).
    [[nodiscard]] id ordered(const profile::kernel& kernel) const {
        const auto entry = ordered_.find(key(kernel));
        return entry == ordered_.end() ? no_id : entry->second;
    }

    /// Returns: the nodes that a kernel's number may mean, one in the main graph and one in each
    /// body, as bodies have numbers of their own; none if numbers are not positions in this file.
    /// Complexity: O(log nodes), plus the result.
    [[nodiscard]] std::vector<id> at_position(const profile::kernel& kernel) const {
        std::vector<id> result;
        for (const auto& [_, node] : numbered_nodes(kernel.node_index)) {
            if (by_position_ && model_.op_type(node) == kernel.op_type) {
                result.push_back(node);
            }
        }
        return result;
    }

private:
    using kernel_key = std::tuple<id, std::string_view, std::string_view>;
    using places = std::vector<std::pair<id, id>>; // position, node

    [[nodiscard]] static kernel_key key(const profile::kernel& kernel) {
        return {kernel.node_index, kernel.name, kernel.op_type};
    }

    [[nodiscard]] std::span<const places::value_type> numbered_nodes(id number) const {
        const auto low = std::lower_bound(at_.begin(), at_.end(), std::pair(number, id{0}));
        const auto high = std::upper_bound(low, at_.end(), std::pair(number, no_id));
        const auto first = static_cast<std::size_t>(low - at_.begin());
        return std::span(at_).subspan(first, static_cast<std::size_t>(high - low));
    }

    /// Whether a kernel can be that of a node, by operator and name.
    [[nodiscard]] bool is_of(const profile::kernel& kernel, id node) const {
        const auto name = model_.name(node);
        return model_.op_type(node) == kernel.op_type &&
               (kernel.name.empty() || kernel.name == name ||
                (name.empty() &&
                 kernel.name == kernel.op_type + "_" + std::to_string(kernel.node_index)));
    }

    /// Returns: the nodes that have kernels; those of bodies end before their owner.
    [[nodiscard]] std::vector<id> nodes_as_run() const {
        const graph_contents contents(model_);
        std::vector<id> result;
        std::vector<std::pair<id, bool>> open; // node, whether its bodies are done
        const auto push = [&](std::span<const id> nodes) {
            for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
                open.emplace_back(*node, false);
            }
        };
        push(contents.own_nodes(0));
        while (!open.empty()) {
            auto& [node, done] = open.back();
            if (const auto inner = contents.inner_nodes(node); !done && !inner.empty()) {
                done = true;
                push(inner);
                continue;
            }
            if (!is_constant_node(model_, node)) {
                result.push_back(node);
            }
            open.pop_back();
        }
        return result;
    }

    /// Pairs kernels and nodes of operators that both have equally often, provided that they are in
    /// the same order, and are all, or most of either. Returns: whether they were.
    bool order(const std::vector<const profile::kernel*>& kernels, const std::vector<id>& nodes,
               bool all) {
        std::unordered_map<std::string_view, std::int64_t> surplus; // of kernels, by operator
        for (const auto* kernel : kernels) {
            ++surplus[kernel->op_type];
        }
        for (const auto node : nodes) {
            --surplus[model_.op_type(node)];
        }
        auto ordered = std::map<kernel_key, id>();
        auto node = nodes.begin();
        const auto skip = [&] {
            while (node != nodes.end() && surplus[model_.op_type(*node)] != 0) {
                ++node;
            }
        };
        for (const auto* kernel : kernels) {
            if (surplus[kernel->op_type] == 0) {
                skip();
                if (node == nodes.end() || !is_of(*kernel, *node)) {
                    return false;
                }
                ordered.emplace(key(*kernel), *node++);
            }
        }
        const auto most = std::max(kernels.size(), nodes.size());
        if (all ? ordered.size() < most : ordered.size() * 2 <= most) {
            return false;
        }
        ordered_ = std::move(ordered);
        return true;
    }

    const onnx_model& model_;
    places at_; // of the main graph and its bodies
    bool by_position_ = false;
    std::map<kernel_key, id> ordered_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COST_DETAIL_NUMBERED_KERNELS_HPP
