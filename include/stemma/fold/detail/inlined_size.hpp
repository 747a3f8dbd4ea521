// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_INLINED_SIZE_HPP
#define STEMMA_FOLD_DETAIL_INLINED_SIZE_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What calls become when functions are inlined; the largest number stands for itself and anything
/// beyond.
struct inlined_size {
    std::uint64_t nodes = 0; ///< of functions, also those that are calls
    std::uint64_t names = 0; ///< of these nodes, what they read and make, and formals
    std::uint64_t bytes = 0; ///< of these names, each with those of the calls around it, and an end
};

/// Computes sizes of functions, each once.
class inlined_sizes {
public:
    /// Calls nested more deeply than `max_depth`, and those of a function in itself, count for
    /// nothing. Requires: `model` outlives this. Complexity: O(nodes).
    inlined_sizes(const wire_model& model, std::size_t max_depth)
        : model_(model), contents_(model), max_depth_(max_depth), sizes_(model.graph_count()) {}

    /// Returns: the size of all calls in the main graph. Complexity: O(nodes).
    [[nodiscard]] inlined_size of_model() { return of(0, 0); }

private:
    [[nodiscard]] inlined_size of(id g, std::size_t depth) {
        if (sizes_[g] || depth > max_depth_) {
            return sizes_[g].value_or(inlined_size());
        }
        sizes_[g].emplace();
        inlined_size all;
        if (g != 0) {
            add_names(model_.graph(g).inputs, all);
            add_names(model_.graph(g).outputs, all);
        }
        for (auto node : contents_.nodes(g)) {
            if (g != 0) {
                add(1, all.nodes);
                add_name(model_.name(node), all);
                add_names(model_.inputs(node), all);
                for (auto value : model_.outputs(node)) {
                    add_name(model_.value_name(value), all);
                }
            }
            if (const auto f = model_.callee(node); f != no_id) {
                const auto inner = of(model_.functions()[f].graph, depth + 1);
                add(inner.nodes, all.nodes);
                add(inner.names, all.names);
                add(inner.bytes, all.bytes);
                add(product(inner.names, scope_size(node)), all.bytes);
            }
        }
        sizes_[g] = all;
        return all;
    }

    void add_names(std::span<const id> values, inlined_size& all) const {
        for (auto value : values) {
            add_name(value == no_id ? std::string_view() : model_.value_name(value), all);
        }
    }

    static void add_name(std::string_view name, inlined_size& all) {
        add(1, all.names);
        add(name.size() + 1, all.bytes);
    }

    /// Returns: how much longer names in a call are: by its name, else that of its first output.
    [[nodiscard]] std::size_t scope_size(id call) const {
        const auto name = model_.name(call);
        const bool has_output = name.empty() && model_.output_count(call) > 0;
        return (has_output ? model_.value_name(model_.first_output(call)) : name).size() + 1;
    }

    static void add(std::uint64_t more, std::uint64_t& sum) {
        if (__builtin_add_overflow(sum, more, &sum)) {
            sum = std::numeric_limits<std::uint64_t>::max();
        }
    }

    [[nodiscard]] static std::uint64_t product(std::uint64_t a, std::uint64_t b) {
        std::uint64_t result = 0;
        return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max()
                                                     : result;
    }

    const wire_model& model_;
    graph_contents contents_;
    std::size_t max_depth_;
    std::vector<std::optional<inlined_size>> sizes_; // by graph
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_INLINED_SIZE_HPP
