// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_GRAPH_CONTENTS_HPP
#define STEMMA_ONNX_GRAPH_CONTENTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <span>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// What is nested in each graph and node of a model: the inverse of `owner`.
class graph_contents {
public:
    /// Complexity: O(nodes + graphs), and again for every level of bodies.
    explicit graph_contents(const onnx_model& model)
        : root_(model.graph_count())
        , own_(model.graph_count())
        , nodes_(model.graph_count())
        , bodies_(model.graph_count()) {
        for (id g = 0; g < model.graph_count(); ++g) {
            // A body comes after the graph that contains it.
            const bool is_body = model.graph(g).kind == graph_kind::body;
            root_[g] = is_body ? root_[model.graph_of(model.graph(g).owner)] : g;
            if (is_body) {
                owns_.resize(model.node_count());
                owns_[model.graph(g).owner] = true;
                bodies_of_[model.graph(g).owner].push_back(g);
                for_each_around(model, g, [&](id around) { bodies_[around].push_back(g); });
            }
        }
        for (id node = 0; node < model.node_count(); ++node) {
            const auto g = model.graph_of(node);
            own_[g].push_back(node);
            if (!bodies_[g].empty()) {
                nodes_[g].push_back(node);
            }
            if (model.owner(node) != no_id) {
                inner_[model.owner(node)].push_back(node);
                for_each_around(model, g, [&](id around) { nodes_[around].push_back(node); });
            }
        }
    }

    /// Returns: the main graph or function that contains a graph, or is it.
    [[nodiscard]] id root(id g) const noexcept { return root_[g]; }
    /// Returns: the nodes of a graph and of all nested bodies, ascending.
    [[nodiscard]] std::span<const id> nodes(id g) const noexcept {
        return bodies_[g].empty() ? own_[g] : nodes_[g];
    }
    /// Returns: those of them not in nested bodies, by position.
    [[nodiscard]] std::span<const id> own_nodes(id g) const noexcept { return own_[g]; }
    /// Returns: the bodies nested in a graph, ascending.
    [[nodiscard]] std::span<const id> bodies(id g) const noexcept { return bodies_[g]; }
    /// Returns: the nodes directly in the bodies of a node, ascending.
    [[nodiscard]] std::span<const id> inner_nodes(id node) const {
        return owns(node) ? find(inner_, node) : std::span<const id>();
    }
    /// Returns: the bodies that a node owns, ascending.
    [[nodiscard]] std::span<const id> bodies_of(id node) const {
        return owns(node) ? find(bodies_of_, node) : std::span<const id>();
    }

private:
    using lists = std::unordered_map<id, std::vector<id>>;

    [[nodiscard]] bool owns(id node) const { return !owns_.empty() && owns_[node]; }

    [[nodiscard]] static std::span<const id> find(const lists& in, id node) {
        const auto entry = in.find(node);
        return entry == in.end() ? std::span<const id>() : std::span<const id>(entry->second);
    }

    template <class Function>
    static void for_each_around(const onnx_model& model, id g, Function f) {
        while (model.graph(g).kind == graph_kind::body) {
            g = model.graph_of(model.graph(g).owner);
            f(g);
        }
    }

    std::vector<id> root_; // by graph
    std::vector<std::vector<id>> own_;
    std::vector<std::vector<id>> nodes_; // if there are nested bodies
    std::vector<std::vector<id>> bodies_;
    std::vector<bool> owns_; // by node: has bodies; empty if none has
    lists inner_;
    lists bodies_of_;
};

namespace detail {

/// Calls `f(value)` for what a node and all its bodies read. Complexity: O(values).
template <class Function>
void for_each_read(const onnx_model& model, const graph_contents& contents, id node, Function f) {
    for (auto value : model.inputs(node)) {
        if (value != no_id) {
            f(value);
        }
    }
    for (auto inside : contents.inner_nodes(node)) {
        for_each_read(model, contents, inside, f);
    }
    for (auto g : contents.bodies_of(node)) {
        for (auto value : model.graph(g).outputs) {
            if (value != no_id) {
                f(value);
            }
        }
    }
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_GRAPH_CONTENTS_HPP
