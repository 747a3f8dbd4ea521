// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_BENCH_STEMMA_BENCH_MANY_OPERATORS_HPP
#define STEMMA_BENCH_STEMMA_BENCH_MANY_OPERATORS_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/model/operator_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma_bench {

/// The graph of a stack of transformer blocks, with its module tree: half of the operators have
/// names like those of torch's exporter, and a fifth read a parameter. Deterministic.
class many_operators {
public:
    /// Models `operator_view`.
    using graph_type = stemma::operator_graph;

    /// Whole blocks of 40 operators and 9 modules, at least one.
    explicit many_operators(std::size_t count) {
        stemma::module_tree_builder builder;
        builder.set_class(0, "Net", "zoo.Net");
        std::vector<stemma::operator_edge> edges;
        for (std::size_t block = 0; block * operators_of_block < count || block == 0; ++block) {
            add_block(block, builder, edges);
        }
        graph_ = graph_type(static_cast<stemma::id>(names_.size()), edges);
        modules_ = builder.build();
    }

    /// Each operator reads its predecessor, and one or two a little further back.
    [[nodiscard]] const graph_type& graph() const noexcept { return graph_; }
    /// The tree of the operators' modules.
    [[nodiscard]] const stemma::module_tree& modules() const noexcept { return modules_; }
    /// A name like those of torch's exporter; "" for half of the operators.
    [[nodiscard]] std::string_view name(stemma::id v) const { return names_[v]; }
    /// One of five.
    [[nodiscard]] std::string_view op_type(stemma::id v) const { return types[v % types.size()]; }
    /// Models `parameter_readers`.
    [[nodiscard]] std::size_t parameter_count() const noexcept { return parameters_.size(); }
    /// The path of a module, followed by `.weight`.
    [[nodiscard]] std::string_view parameter_name(stemma::id p) const { return parameters_[p]; }
    /// One for every fifth operator.
    template <class Function>
    void for_each_parameter(stemma::id v, Function f) const {
        if (read_[v] != stemma::no_id) {
            f(read_[v]);
        }
    }

private:
    static constexpr std::size_t operators_of_block = 40;
    static constexpr std::size_t operators_of_part = 5;
    static constexpr std::array<std::string_view, 5> types{"MatMul", "Add", "Reshape", "Transpose",
                                                           "Mul"};
    struct part {
        std::string_view path;
        std::string_view class_name;
    };
    static constexpr std::array<part, 8> parts{{{"attention.query", "Linear"},
                                                {"attention.key", "Linear"},
                                                {"attention.value", "Linear"},
                                                {"attention", "Attention"},
                                                {"attention.out", "Linear"},
                                                {"norm", "LayerNorm"},
                                                {"rise", "Linear"},
                                                {"fall", "Linear"}}};

    std::size_t below(std::size_t bound) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::size_t>(state_ >> 33U) % bound;
    }

    void add_block(std::size_t number, stemma::module_tree_builder& builder,
                   std::vector<stemma::operator_edge>& edges) {
        const auto path = "blocks." + std::to_string(number);
        builder.set_class(builder.at_path("blocks"), "ModuleList",
                          "torch.nn.modules.container.ModuleList");
        builder.set_class(builder.at_path(path), "Block", "zoo.Block");
        for (const auto& [below_block, class_name] : parts) {
            const auto whole = path + "." + std::string(below_block);
            const auto package = class_name == "Attention" ? "zoo." : "torch.nn.modules.";
            builder.set_class(builder.at_path(whole), class_name,
                              package + std::string(class_name));
            for (std::size_t i = 0; i < operators_of_part; ++i) {
                add_operator(whole, edges);
            }
        }
    }

    void add_operator(const std::string& module, std::vector<stemma::operator_edge>& edges) {
        const auto v = static_cast<stemma::id>(names_.size());
        const auto read = [&](std::size_t producer, stemma::id slot) {
            const auto u = static_cast<stemma::id>(producer);
            edges.push_back({u, v, u, slot, 0});
        };
        if (v > 0) {
            read(v - 1U, 0);
            read(v - 1U - below(v < operators_of_block ? v : operators_of_block), 1);
        }
        std::string scope;
        if (v % 2 == 0) {
            scope = "/" + module + "/" + std::string(op_type(v));
            for (auto& c : scope) {
                c = c == '.' ? '/' : c;
            }
        }
        names_.push_back(scope);
        const bool works = v % operators_of_part == 0;
        read_.push_back(works ? static_cast<stemma::id>(parameters_.size()) : stemma::no_id);
        if (works) {
            parameters_.push_back(module + ".weight");
        }
    }

    std::uint64_t state_ = 1;
    graph_type graph_;
    stemma::module_tree modules_;
    std::vector<std::string> names_;
    std::vector<std::string> parameters_;
    std::vector<stemma::id> read_; // by operator
};

} // namespace stemma_bench

#endif // STEMMA_BENCH_STEMMA_BENCH_MANY_OPERATORS_HPP
