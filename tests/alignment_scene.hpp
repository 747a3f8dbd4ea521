// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_ALIGNMENT_SCENE_HPP
#define STEMMA_TESTS_ALIGNMENT_SCENE_HPP

#include <stemma/align/captured_operations.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/detail/parameter_shapes.hpp>
#include <stemma/model/operator_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

using stemma::id;
using stemma::no_id;

/// A graph of unnamed operators, as made by an exporter.
class exported_graph {
public:
    using graph_type = stemma::operator_graph;

    id add(std::string_view type, std::initializer_list<id> producers,
           std::initializer_list<id> parameters = {}, id owner = no_id, id body = no_id) {
        const auto v = static_cast<id>(types_.size());
        types_.emplace_back(type);
        parameters_.emplace_back(parameters);
        owners_.push_back(owner);
        bodies_.push_back(body);
        reads_.push_back(false);
        id slot = 0;
        for (auto u : producers) {
            if (u == no_id) {
                reads_.back() = true;
            } else {
                edges_.push_back({u, v, u, slot, 0});
            }
            ++slot;
        }
        return v;
    }

    id parameter(std::string name, std::vector<std::int64_t> shape) {
        names_.push_back(std::move(name));
        shapes.add(shape);
        return static_cast<id>(names_.size() - 1);
    }

    /// Bodies come before their owner, so an owner is often set later.
    void set_owner(id v, id owner, id body = 0) {
        owners_[v] = owner;
        bodies_[v] = body;
    }

    /// Without any, results are in the order of their operators.
    void set_result_makers(std::vector<id> makers) { result_makers_ = std::move(makers); }

    void finish() { graph_ = stemma::operator_graph(types_.size(), edges_); }

    [[nodiscard]] const graph_type& graph() const { return graph_; }
    [[nodiscard]] std::string_view name(id) const { return {}; }
    [[nodiscard]] std::string_view op_type(id v) const { return types_[v]; }
    [[nodiscard]] std::size_t parameter_count() const { return names_.size(); }
    [[nodiscard]] std::string_view parameter_name(id p) const { return names_[p]; }
    void keep_matrices(std::vector<bool>& marked) const {
        for (id p = 0; p < marked.size(); ++p) {
            marked[p] = marked[p] && shapes.of(p).size() > 1;
        }
    }
    [[nodiscard]] id owner(id v) const { return owners_[v]; }
    [[nodiscard]] id body(id v) const { return bodies_[v]; }
    [[nodiscard]] bool reads_data(id v) const { return reads_[v]; }
    [[nodiscard]] bool hides_data(id v) const { return types_[v] == "Shape"; }
    [[nodiscard]] id size() const { return static_cast<id>(types_.size()); }
    [[nodiscard]] const std::vector<id>& result_makers() const { return result_makers_; }
    template <class Function>
    void for_each_parameter(id v, Function f) const {
        for (auto p : parameters_[v]) {
            f(p);
        }
    }

    stemma::detail::parameter_shapes shapes;

private:
    graph_type graph_;
    std::vector<stemma::operator_edge> edges_;
    std::vector<std::string> types_;
    std::vector<std::vector<id>> parameters_;
    std::vector<id> owners_;
    std::vector<id> bodies_;
    std::vector<bool> reads_;
    std::vector<id> result_makers_;
    std::vector<std::string> names_;
};

/// The ground truth of an export: a model written twice, as captured operations and as exported
/// operators, with the module of each.
class alignment_scene {
public:
    /// With `named`, parameters keep their names in the export.
    explicit alignment_scene(bool named = false) : named_(named) {}

    /// A value, on both sides.
    struct tensor {
        id operation = no_id;
        id node = no_id;
    };

    id add_module(id parent = 0) {
        parents_.push_back(parent);
        return static_cast<id>(parents_.size() - 1);
    }

    void capture(id module, std::string_view name, std::initializer_list<tensor> inputs,
                 id call = 0) {
        captured.add({module, call, true, false}, name);
        for (const auto& input : inputs) {
            input.operation == no_id ? captured.add_input() : captured.add_source(input.operation);
        }
    }

    id export_node(id module, std::string_view type, std::initializer_list<id> producers,
                   std::initializer_list<id> parameters = {}) {
        truth.push_back(module);
        return graph.add(type, producers, parameters);
    }

    [[nodiscard]] tensor last(id node) const { return {captured.size() - 1, node}; }

    /// x W + b, in its own module below `parent`.
    tensor linear(tensor x, id module, std::int64_t width = 8, id call = 0) {
        capture(module, "torch.nn.functional.linear", {x}, call);
        const auto path = "m" + std::to_string(module);
        const std::vector<std::int64_t> weight{width, width};
        const std::vector<std::int64_t> bias{width};
        captured.add_parameter(path + ".weight", weight);
        captured.add_parameter(path + ".bias", bias);
        const auto name = [&](const char* last) {
            return named_ ? path + last : "w" + std::to_string(graph.parameter_count());
        };
        const auto w = graph.parameter(named_ ? "onnx::MatMul_" + path : name(""), weight);
        const auto b = graph.parameter(name(".bias"), bias);
        const auto product = export_node(module, "MatMul", {x.node}, {w});
        return last(export_node(module, "Add", {product}, {b}));
    }

    tensor relu(tensor x, id module, id call = 0) {
        capture(module, "torch.nn.functional.relu", {x}, call);
        return last(export_node(module, "Relu", {x.node}));
    }

    tensor dropout(tensor x, id module) {
        capture(module, "torch.nn.functional.dropout", {x});
        return last(x.node);
    }

    tensor add(tensor x, tensor y, id module, id call = 0) {
        capture(module, "torch.Tensor.add", {x, y}, call);
        return last(export_node(module, "Add", {x.node, y.node}));
    }

    /// A residual block of three children.
    tensor block(tensor x, id module, id first, id drop, id second, id call = 0) {
        const auto h = relu(linear(x, first, 8, call), module, call);
        return add(linear(dropout(h, drop), second, 8, call), x, module, call);
    }

    tensor new_block(tensor x) {
        const auto module = add_module();
        const auto first = add_module(module);
        const auto drop = add_module(module);
        const auto second = add_module(module);
        return block(x, module, first, drop, second);
    }

    [[nodiscard]] stemma::tree_index tree() const { return stemma::tree_index(parents_); }

    stemma::captured_operations captured;
    exported_graph graph;
    std::vector<id> truth; ///< by vertex: the module

private:
    bool named_;
    std::vector<id> parents_{no_id};
};

} // namespace test

#endif // STEMMA_TESTS_ALIGNMENT_SCENE_HPP
