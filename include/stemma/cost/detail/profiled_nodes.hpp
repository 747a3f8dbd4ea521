// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_DETAIL_PROFILED_NODES_HPP
#define STEMMA_COST_DETAIL_PROFILED_NODES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cost/detail/numbered_kernels.hpp>
#include <stemma/cost/profile.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

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
            for (id i = 0; i < model.output_count(node); ++i) {
                const auto name = model.value_name(model.first_output(node) + i);
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
