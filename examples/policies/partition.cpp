// SPDX-License-Identifier: Apache-2.0
// Partition: which vertices go to one part? Without ONNX: divides the steps of a build among
// machines, by a custom rule and a built-in one; then cuts out the steps of one tool with their
// inputs and outputs.
#include <stemma/core/topological_order.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/cut/partition_graph.hpp>
#include <stemma/cut/plan_cuts.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

struct step {
    std::string name;
    std::string tool;
    std::uint64_t seconds;
};

using build_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, step>;

/// Linking stays on the machine with the linker; everything else goes to the other one.
struct linker_apart {
    using policy_category = stemma::partition_category;

    [[nodiscard]] stemma::partition_plan
    partition(const stemma::partition_problem<build_graph>& problem) const {
        stemma::partition_plan plan{2};
        for (auto v : problem.order) {
            plan.part_of.push_back(problem.graph[v].tool == "link" ? 1 : 0);
        }
        return plan;
    }
};

static_assert(stemma::explain_policy<stemma::partition_category, linker_apart, build_graph>());

build_graph make_steps() {
    build_graph graph;
    for (const auto& one : std::vector<step>{{"flags", "configure", 1},
                                             {"cipher.o", "compile", 30},
                                             {"tls.a", "link", 2},
                                             {"keygen", "link", 4},
                                             {"keys.o", "compile", 20},
                                             {"main.o", "compile", 25},
                                             {"shop", "link", 8}}) {
        add_vertex(one, graph);
    }
    for (auto [from, to] :
         {std::pair(0, 1), {0, 4}, {0, 5}, {1, 2}, {2, 3}, {3, 4}, {2, 6}, {4, 6}, {5, 6}}) {
        add_edge(static_cast<std::size_t>(from), static_cast<std::size_t>(to), graph);
    }
    return graph;
}

template <class Policy>
void print(const char* title, const stemma::partition_problem<build_graph>& problem,
           const Policy& policy) {
    const auto pieces = stemma::partition_graph(problem, policy);
    std::cout << title << "\n";
    for (stemma::id p = 0; p < pieces.pieces.size(); ++p) {
        std::cout << "  on machine " << pieces.pieces[p].part << ":";
        for (auto v : problem.order) {
            std::cout << (pieces.piece_of[v] == p ? " " + problem.graph[v].name : "");
        }
        std::cout << "\n";
    }
}

int main() {
    const auto graph = make_steps();
    const auto order = stemma::topological_order(graph);
    std::vector<std::uint64_t> costs;
    for (auto v : order) {
        costs.push_back(graph[v].seconds);
    }
    const stemma::partition_problem<build_graph> problem{graph, order, costs};
    print("the linker apart", problem, linker_apart{});
    print("of equal length", problem, stemma::balanced_parts{2});

    const auto is_flag = [&](auto v) {
        return v == 0 ? stemma::dependence::constant : stemma::dependence::data;
    };
    const stemma::standard_cut policy{.rule = stemma::gap_rule::runs};
    std::cout << "compiling\n";
    for (const auto& cut : stemma::plan_cuts(graph, {1, 4, 5}, policy, is_flag)) {
        std::cout << "  run";
        for (auto v : cut.vertices) {
            std::cout << " " << graph[v].name;
        }
        for (auto e : cut.inputs) {
            std::cout << ", read " << graph[source(e, graph)].name;
        }
        for (auto e : cut.outputs) {
            std::cout << ", give " << graph[source(e, graph)].name;
        }
        std::cout << "\n";
    }
}
