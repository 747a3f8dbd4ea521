// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_SKETCH_LOOKUP_HPP
#define STEMMA_RECORD_DETAIL_SKETCH_LOOKUP_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Compares operator types of a changed graph with those in the sketch of its earlier state.
class sketch_types {
public:
    /// Requires: both outlive it. Complexity: O(length of all types).
    sketch_types(const onnx_model& now, const graph_sketch& then) : now_(now), then_(then) {
        const std::unordered_set<std::string> earlier(then.types().begin(), then.types().end());
        for (id op = 0; op < now.operator_count(); ++op) {
            auto type = graph_sketch::spell_type(now.operator_domain(op), now.operator_type(op));
            is_new_.push_back(!earlier.contains(type));
            types_.insert(std::move(type));
        }
    }

    /// Whether no node had the type of this one.
    [[nodiscard]] bool is_new(id node) const { return is_new_[now_.operator_id(node)]; }

    /// Whether a node has the type that one of the sketch had.
    [[nodiscard]] bool are_same(id node, id before) const {
        const auto type = then_.type(before);
        const auto domain = now_.domain(node);
        if (domain.empty()) {
            return type == now_.op_type(node);
        }
        return type.size() == domain.size() + 2 + now_.op_type(node).size() &&
               type.starts_with(domain) && type.ends_with(now_.op_type(node));
    }

    /// Whether the type of a node of the sketch, without its domain, is part of that of one now, as
    /// Conv is of FusedConv.
    [[nodiscard]] bool is_part(id before, id node) const {
        return now_.op_type(node).find(plain_type(then_.type(before))) != std::string_view::npos;
    }

    /// Whether nothing is left of the type of a node of the sketch.
    [[nodiscard]] bool is_gone(id before) const {
        return !types_.contains(std::string(then_.type(before)));
    }

    /// The same for a node that called a function, or had a type of another domain.
    [[nodiscard]] bool is_gone_call(id before) const {
        return then_.type(before).find("::") != std::string_view::npos && is_gone(before);
    }

    /// Whether most nodes have the type of the node of the sketch that `before(node)` returns, if
    /// not `no_id`. Types that are new, or gone, do not count. Complexity: O(nodes).
    template <class Before>
    [[nodiscard]] bool are_kept(Before before) const {
        std::size_t total = 0;
        std::size_t same = 0;
        for (id node = 0; node < now_.node_count(); ++node) {
            if (const id then = before(node); then != no_id && !is_new(node) && !is_gone(then)) {
                ++total;
                same += are_same(node, then) ? 1U : 0U;
            }
        }
        return 2 * same >= total;
    }

private:
    const onnx_model& now_;
    const graph_sketch& then_;
    std::vector<bool> is_new_;              // by operator
    std::unordered_set<std::string> types_; // now
};

/// Looks up nodes of a sketch by their outputs and neighbours.
class sketch_lookup {
public:
    /// Requires: the sketch outlives this. Complexity: O(n log n) in the nodes' inputs and outputs.
    explicit sketch_lookup(const graph_sketch& then) : then_(then) {
        readers_ = grouped_ids(then.node_count(), [&](auto take) {
            for (id node = 0; node < then.node_count(); ++node) {
                for (const auto from : then.read_from(node)) {
                    from == graph_sketch::given ? void() : take(from, node);
                }
            }
        });
        find_dependent();
        find_makers();
    }

    /// Whether a node depended on data, rather than just on constants and shapes.
    [[nodiscard]] bool is_dependent(id node) const { return dependent_[node]; }

    /// Returns: the readers of a node, repeated for each read.
    [[nodiscard]] std::span<const id> readers(id node) const { return readers_[node]; }

    /// Returns: the only reader of a node, `no_id` for none or several.
    /// Complexity: O(readers).
    [[nodiscard]] id only_reader(id node) const {
        return only_of(readers_[node], [](id) { return true; });
    }

    /// Returns: the only one of some nodes that `fits` accepts, `no_id` for none or several.
    /// Complexity: O(nodes).
    template <class Fits>
    [[nodiscard]] static id only_of(std::span<const id> nodes, Fits fits) {
        auto only = no_id;
        for (const auto node : nodes) {
            if (node != only && fits(node)) {
                if (only != no_id) {
                    return no_id;
                }
                only = node;
            }
        }
        return only;
    }

    /// Returns: the node of the sketch that produced a value with that name, `no_id` for none or
    /// several.
    [[nodiscard]] id maker_of(std::string_view name) const {
        if (name.empty()) {
            return no_id;
        }
        const auto hash = graph_sketch::hash_of(name);
        const auto at = std::lower_bound(makers_.begin(), makers_.end(), std::pair(hash, id{0}));
        const bool has_match = at != makers_.end() && at->first == hash;
        const bool again = has_match && at + 1 != makers_.end() && (at + 1)->first == hash;
        return has_match && !again ? at->second : no_id;
    }

    /// The same for a name with a suffix: `<value>_nchwc`, `<value>_token_12`, and for that of a
    /// fusion: `node_<value>/QuickGeluFusion/`. A bare number is part of another value's name, and
    /// names around a fused product, such as `gemm_input_reshape_arg`, contain none.
    [[nodiscard]] id maker_within(std::string_view name) const {
        if (name.starts_with("gemm_input_") || name.starts_with("gemm_output_")) {
            return no_id;
        }
        if (const auto fused = maker_of_fused(name); fused != no_id) {
            return fused;
        }
        bool word = false;
        auto end = name.size();
        for (int cuts = 0; cuts < 4; ++cuts) {
            const auto at = name.substr(0, end).rfind('_');
            if (at == name.npos || at == 0) {
                break;
            }
            word = word || std::any_of(name.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                       name.begin() + static_cast<std::ptrdiff_t>(end),
                                       [](char c) { return c < '0' || c > '9'; });
            end = at;
            if (const auto maker = word ? maker_of(name.substr(0, end)) : no_id; maker != no_id) {
                return maker;
            }
        }
        return no_id;
    }

    /// Calls `f` for each node of the sketch that made one of the values of a node now.
    template <class Function>
    void for_each_maker(const onnx_model& now, id node, Function f) const {
        for (id i = 0; i < now.output_count(node); ++i) {
            const auto maker = maker_of(now.value_name(now.first_output(node) + i));
            maker == no_id ? void() : f(maker);
        }
    }

    /// Returns: the first one found by `maker_within` for the name of a node now and those of its
    /// values, or that of a node before whose name ONNX Runtime gave to a value.
    [[nodiscard]] id hinted_maker(const onnx_model& now, id node) const {
        auto maker = maker_within(now.name(node));
        for (id i = 0; i < now.output_count(node) && maker == no_id; ++i) {
            const std::string_view value = now.value_name(now.first_output(node) + i);
            maker = maker_within(value);
            maker = maker == no_id ? maker_named(value) : maker;
        }
        return maker;
    }

    /// Whether what reads only from some nodes does what a node does, which is not one of them, on
    /// its own: some of these are what that reads.
    /// Requires: `read` ascends. Complexity: O(inputs * log read).
    [[nodiscard]] bool is_bypassed(id node, std::span<const id> read) const {
        const auto is_read = [&](id one) {
            return std::binary_search(read.begin(), read.end(), one);
        };
        return !is_read(node) && detail::range::any_of(then_.read_from(node), is_read);
    }

    /// Whether one of some nodes is within a few steps of another one.
    /// Requires: `others` ascend. Complexity: O(log others).
    [[nodiscard]] bool is_near(id node, std::span<const id> others) const {
        std::vector<id> seen{node};
        std::size_t begin = 0;
        for (unsigned step = 0; step < max_steps && seen.size() < max_visited; ++step) {
            const auto end = seen.size();
            const auto visit = [&](id next) {
                if (next != graph_sketch::given && seen.size() < max_visited &&
                    !detail::range::contains(seen, next)) {
                    seen.push_back(next);
                }
            };
            for (; begin < end; ++begin) {
                const auto from = then_.read_from(seen[begin]);
                const auto to = readers_[seen[begin]];
                std::for_each(from.begin(), from.end(), visit);
                std::for_each(to.begin(), to.end(), visit);
            }
        }
        return detail::range::any_of(
            seen, [&](id one) { return std::binary_search(others.begin(), others.end(), one); });
    }

private:
    /// Returns: the node of the sketch with a name, if it is derived from that of its value; else
    /// `no_id`.
    [[nodiscard]] id maker_named(std::string_view name) const {
        return name.empty() ? no_id : maker_of(std::string(name) + "_output_0");
    }

    /// Returns: the node of the sketch whose name a fusion kept in that of the fused node, if it is
    /// derived from that of its value; else `no_id`.
    [[nodiscard]] id maker_of_fused(std::string_view name) const {
        constexpr std::string_view end = "Fusion";
        constexpr std::string_view node = "node_";
        if (name.ends_with('/')) {
            name.remove_suffix(1);
        }
        const auto slash = name.rfind('/');
        if (!name.ends_with(end) || slash == name.npos) {
            return no_id;
        }
        name = name.substr(0, slash);
        const auto named = maker_named(name);
        return named != no_id || !name.starts_with(node) ? named
                                                         : maker_of(name.substr(node.size()));
    }

    // The maximum distance between nodes that became neighbours because what was between them is
    // gone.
    static constexpr unsigned max_steps = 4;
    static constexpr std::size_t max_visited = 128;

    /// Finds the nodes that depended on inputs, other than through their shapes.
    void find_dependent() {
        const auto count = then_.node_count();
        const auto hides = [&](id node) {
            return then_.type(node) == "Shape" || then_.type(node) == "Size";
        };
        dependent_.resize(count, false);
        std::vector<id> work;
        for (id node = 0; node < count; ++node) {
            const auto read = then_.read_from(node);
            if (!hides(node) && detail::range::contains(read, graph_sketch::given)) {
                dependent_[node] = true;
                work.push_back(node);
            }
        }
        while (!work.empty()) {
            const auto node = work.back();
            work.pop_back();
            for (const auto reader : readers_[node]) {
                if (!dependent_[reader] && !hides(reader)) {
                    dependent_[reader] = true;
                    work.push_back(reader);
                }
            }
        }
    }

    void find_makers() {
        makers_.reserve(then_.node_count());
        for (id node = 0; node < then_.node_count(); ++node) {
            for (const auto hash : then_.made(node)) {
                makers_.emplace_back(hash, node);
            }
        }
        range::sort(makers_);
    }

    const graph_sketch& then_;
    grouped_ids readers_;
    std::vector<bool> dependent_;
    std::vector<std::pair<std::uint32_t, id>> makers_; // by hash
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_SKETCH_LOOKUP_HPP
