// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/topological_order.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/cut/partition_graph.hpp>
#include <stemma/cut/plan_cuts.hpp>

#include <boost/graph/adjacency_list.hpp>

// compiles
using task_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

auto cut(const task_graph& graph) {
    return stemma::plan_cuts(graph, {0, 1});
}

auto divide(const task_graph& graph) {
    const auto order = stemma::topological_order(graph);
    const stemma::partition_problem<task_graph> problem{graph, order, {}};
    return stemma::partition_graph(problem, stemma::parts_by_level{2});
}

// expect: graph of operators: add `in_edges(v, g)`; an adjacency_list has it with
// `boost::bidirectionalS`

// at most 24 lines
using directed_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

auto cut(const directed_graph& graph) {
    return stemma::plan_cuts(graph, {0, 1});
}

// expect: graph of operators: add `in_edges(v, g)`; an adjacency_list has it with
// `boost::bidirectionalS`

// at most 24 lines
using directed_tasks = boost::adjacency_list<boost::listS, boost::vecS, boost::directedS>;

auto divide(const directed_tasks& graph) {
    return sizeof(stemma::partition_problem<directed_tasks>{graph, {}, {}});
}

// expect: graph of operators: add `in_edges(v, g)`; an adjacency_list has it with
// `boost::bidirectionalS`

// at most 24 lines
using directed_lists = boost::adjacency_list<boost::setS, boost::vecS, boost::directedS>;

auto sort(const directed_lists& graph) {
    return stemma::topological_order(graph);
}

// expect: graph of operators: add a `vertex_index` from 0; an adjacency_list has it with
// `boost::vecS` for vertices, or as a property of these

// at most 24 lines
using listed_graph = boost::adjacency_list<boost::vecS, boost::listS, boost::bidirectionalS>;

auto cut(const listed_graph& graph) {
    return stemma::plan_cuts(graph, {});
}

// expect: graph of operators: add a `vertex_index` from 0; an adjacency_list has it with
// `boost::vecS` for vertices, or as a property of these

// at most 24 lines
using unordered_graph = boost::adjacency_list<boost::vecS, boost::setS, boost::bidirectionalS>;

auto sort(const unordered_graph& graph) {
    return stemma::topological_order(graph);
}

// expect: cut policy: add `stemma::gap_rule gaps() const`

// expect: cut policy: add `std::string boundary_name(std::string_view) const`

// expect: cut policy: add `bool keeps_unused_initializers() const`

// at most 44 lines
struct pulls_only {
    using policy_category = stemma::cut_category;
    bool pulls(stemma::dependence) const;
};

auto cut_by(const task_graph& graph) {
    return stemma::plan_cuts(graph, {0, 1}, pulls_only());
}

// expect: partition policy: add `stemma::partition_plan partition(const
// stemma::partition_problem<Graph>&) const`

// at most 24 lines
struct names_only {
    using policy_category = stemma::partition_category;
};

auto divide_by(const stemma::partition_problem<task_graph>& problem) {
    return stemma::partition_graph(problem, names_only());
}
