// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_DETAIL_PROFILED_NODES_HPP
#define STEMMA_COST_DETAIL_PROFILED_NODES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/range.hpp>
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

/// Finds the nodes of profiled kernels by the names that runtimes give them.
class profiled_nodes {
public:
    /// `kernels` are those to be found. Requires: both outlive this.
    /// Complexity: O(n log n) in nodes and kernels, plus the values.
    profiled_nodes(const onnx_model& model, std::span<const profile::kernel> kernels)
        : model_(model), numbers_(model, kernels) {
        for (id node = 0; node < model.node_count(); ++node) {
            if (!model.name(node).empty()) {
                nodes_[model.name(node)].push_back(node);
                const auto first = identifiers_.try_emplace(identifier(model.name(node)), node);
                first.first->second = first.second ? node : no_id;
            }
            for (auto value : model.outputs(node)) {
                const auto name = model.value_name(value);
                if (!name.empty()) {
                    makers_.try_emplace(name, node);
                }
            }
            for (const auto value : model.inputs(node)) {
                if (value != no_id && model.is_initializer(value)) {
                    readers_.try_emplace(model.value_name(value), node);
                }
            }
        }
    }

    /// Returns: the nodes that a kernel computes, ascending; several if fused, none if no part of
    /// the name is known. Complexity: O(length), plus the nodes of a range.
    [[nodiscard]] std::vector<id> find(const profile::kernel& kernel) const {
        if (const auto node = numbers_.ordered(kernel); node != no_id) {
            return {node};
        }
        auto result = named(kernel.name);
        if (result.size() != 1) {
            auto numbered = numbers_.at_position(kernel);
            std::erase_if(numbered, [&](id node) {
                return result.empty() ? !kernel.name.empty() && !model_.name(node).empty()
                                      : !range::contains(result, node);
            });
            if (!numbered.empty()) {
                return numbered;
            }
        }
        if (result.empty()) {
            add_parts(kernel.name, result);
        }
        return range::each_once(std::move(result));
    }

private:
    static constexpr int deepest = 16; // deeper than any runtime nests names

    /// A name as the C identifier that QNN's converter makes of it.
    static std::string identifier(std::string_view name) {
        std::string text(name);
        for (auto& c : text) {
            c = is_alphanumeric(c) ? c : '_';
        }
        return text;
    }

    [[nodiscard]] std::vector<id> named(std::string_view name) const {
        const auto entry = nodes_.find(name);
        if (entry != nodes_.end()) {
            return entry->second;
        }
        const auto maker = makers_.find(name);
        return maker != makers_.end() && !name.empty() ? std::vector<id>{maker->second}
                                                       : std::vector<id>();
    }

    static std::string_view trimmed(std::string_view text) {
        while (!text.empty() && text.front() == ' ') {
            text.remove_prefix(1);
        }
        while (!text.empty() && text.back() == ' ') {
            text.remove_suffix(1);
        }
        return text;
    }

    /// TensorRT converts layouts in separate layers named after the reader or producer:
    /// `Reformatting CopyNode for Input Tensor 0 to a + b`. Their time counts for that layer.
    static std::string_view without_copy(std::string_view name) {
        if (name.starts_with("Reformatting CopyNode for ")) {
            const auto to = name.find(" to ");
            name.remove_prefix(to == name.npos ? 0 : to + 4);
        }
        return name;
    }

    /// Splits a name composed of several: `a + b`, `PWN(a, b)`, `PWN(PWN(a), b)`,
    /// `{ForeignNode[x...y]}`, `a || b`, `a;b`, `a,b`.
    void add_parts(std::string_view name, std::vector<id>& result, int level = 0) const {
        constexpr std::string_view foreign = "{ForeignNode[";
        name = without_copy(trimmed(name));
        std::size_t begin = 0;
        std::size_t depth = 0;
        const auto take = [&](std::size_t end) {
            add_part(trimmed(name.substr(begin, end - begin)), result, level);
        };
        if (name.starts_with(foreign) && name.find("]}") == name.size() - 2) {
            add_part(name, result, level);
            return;
        }
        for (std::size_t i = 0; i < name.size(); ++i) {
            const char c = name[i];
            depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
            depth -= (c == ')' || c == ']' || c == '}') && depth > 0 ? 1 : 0;
            const auto rest = name.substr(i);
            const std::size_t mark = depth > 0                          ? 0
                                     : rest.starts_with(" + ")          ? 3
                                     : rest.starts_with(" || ")         ? 4
                                     : c == ',' || c == ';' || c == '+' ? 1
                                                                        : 0;
            if (mark > 0) {
                take(i);
                i += mark - 1;
                begin = i + 1;
            }
        }
        take(name.size());
    }

    void add_part(std::string_view part, std::vector<id>& result, int level) const {
        constexpr std::string_view foreign = "{ForeignNode[";
        if (part.empty()) {
            return;
        }
        if (part.starts_with(foreign) && part.ends_with("]}")) {
            add_range(part.substr(foreign.size(), part.size() - foreign.size() - 2), result, level);
            return;
        }
        if (const auto nodes = one(part); !nodes.empty()) {
            result.insert(result.end(), nodes.begin(), nodes.end());
            return;
        }
        const auto open = part.find('(');
        if (open != part.npos && part.back() == ')' &&
            level < deepest) { // PWN(...) and other wrappers
            add_parts(part.substr(open + 1, part.size() - open - 2), result, level + 1);
        }
    }

    /// All nodes between two in the file. A weight stands for its first reader.
    void add_range(std::string_view ends, std::vector<id>& result, int level) const {
        const auto dots = ends.find("...");
        std::vector<id> met;
        for (const auto end : {ends.substr(0, dots), ends.substr(dots == ends.npos ? 0 : dots)}) {
            const auto name = trimmed(end.starts_with("...") ? end.substr(3) : end);
            const auto reader = readers_.find(name.substr(0, name.find(" + ")));
            if (reader != readers_.end()) {
                met.push_back(reader->second);
            } else if (level < deepest) {
                add_parts(name, met, level + 1);
            }
        }
        if (met.empty()) {
            return;
        }
        const auto [low, high] = std::minmax_element(met.begin(), met.end());
        for (id node = *low; node <= *high; ++node) {
            if (model_.graph_of(node) == model_.graph_of(*low)) {
                result.push_back(node);
            }
        }
    }

    /// A single name, possibly with an optimizer's prefix or suffix.
    [[nodiscard]] std::vector<id> one(std::string_view name) const {
        if (auto nodes = named(name); !nodes.empty()) {
            return nodes;
        }
        // `node_of_x` is the unnamed producer of the value x.
        for (const std::string_view before : {"fused ", "node_of_"}) {
            if (name.starts_with(before)) {
                name.remove_prefix(before.size());
            }
        }
        if (const auto token = name.rfind("_token_"); token != name.npos) {
            name = name.substr(0, token);
        }
        for (const std::string_view behind :
             {" copy", "_nchwc", "_bn", "_quant", "_QuantizeLinear", "_DequantizeLinear"}) {
            if (name.ends_with(behind)) {
                name.remove_suffix(behind.size());
            }
        }
        if (auto nodes = named(name); !nodes.empty()) {
            return nodes;
        }
        // `<name>/LayerNormFusion/`, `<name>/WithoutBiases`
        while (name.ends_with('/')) {
            name.remove_suffix(1);
        }
        if (auto nodes = named(name.substr(0, std::min(name.rfind('/'), name.size())));
            !nodes.empty()) {
            return nodes;
        }
        const auto entry = identifiers_.find(std::string(name));
        return entry != identifiers_.end() && entry->second != no_id
                   ? std::vector<id>{entry->second}
                   : named(name);
    }

    const onnx_model& model_;
    std::unordered_map<std::string_view, std::vector<id>> nodes_; // by name
    std::unordered_map<std::string_view, id> makers_;             // by name of their outputs
    std::unordered_map<std::string_view, id> readers_; // by name of a weight: the first one
    std::unordered_map<std::string, id> identifiers_;  // by `identifier`; `no_id` if ambiguous
    numbered_kernels numbers_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COST_DETAIL_PROFILED_NODES_HPP
