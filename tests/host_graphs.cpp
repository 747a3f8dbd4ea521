// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/tagger.hpp>

#include "catch.hpp"
#include "random_graphs.hpp"
#include "random_numbers.hpp"

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/policies.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/mapped_modules.hpp>
#include <stemma/model/mapped_operators.hpp>
#include <stemma/tagging/selection.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace test::host_graphs {

using stemma::id;
using stemma::no_id;

namespace {

/// A task of a build: its label, the tool it runs, the files it reads.
struct task {
    std::string label;
    std::string tool;
    std::vector<std::string> files{};
    std::size_t part = 0; // known to the test, to be found by the library
};

/// A part of the build.
struct part {
    std::string folder;
    std::string kind;
    std::string full_kind;
};

template <class VertexList>
using task_graph = boost::adjacency_list<boost::listS, VertexList, boost::bidirectionalS,
                                         boost::property<boost::vertex_index_t, std::size_t, task>>;
template <class VertexList>
using part_graph = boost::adjacency_list<boost::vecS, VertexList, boost::directedS,
                                         boost::property<boost::vertex_index_t, std::size_t, part>>;

void number_vertex(task_graph<boost::vecS>&, std::size_t, std::size_t) {}
void number_vertex(part_graph<boost::vecS>&, std::size_t, std::size_t) {}
template <class Graph>
void number_vertex(Graph& graph, void* v, std::size_t number) {
    put(boost::vertex_index, graph, v, number);
}

/// Adds vertices such that position i of `content` gets the index `order[i]`.
template <class Graph, class Content>
auto fill(Graph& graph, const std::vector<Content>& content,
          const std::vector<std::size_t>& order) {
    std::vector<std::size_t> at(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        at[order[i]] = i;
    }
    std::vector<stemma::vertex_t<Graph>> vertex(content.size());
    for (std::size_t number = 0; number < at.size(); ++number) {
        const auto i = at[number];
        vertex[i] = add_vertex(graph);
        graph[vertex[i]] = content[i];
        number_vertex(graph, vertex[i], number);
    }
    return vertex;
}

std::vector<std::size_t> random_order(test::random_numbers& random, std::size_t count) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) {
        order[i] = i;
        std::swap(order[i], order[random(i + 1)]);
    }
    return order;
}

/// A build with known structure: every part is a chain of tasks, identified by the label or by a
/// file of the first and the last one; the others reveal nothing.
struct build {
    std::vector<id> parents;
    std::vector<part> parts;
    std::vector<std::string> path;
    std::vector<std::string> tag;
    std::vector<task> tasks;
    std::vector<std::pair<std::size_t, std::size_t>> reads;

    explicit build(test::random_numbers& random)
        : parents(test::random_parents(random, 2 + random(15), 3)) {
        for (std::size_t p = 0; p < parents.size(); ++p) {
            const auto number = "x" + std::to_string(p) + "y";
            parts.push_back({p == 0 ? "" : "part" + number, "Kind" + number, "host.Kind" + number});
            const auto above = p == 0 ? std::string() : path[parents[p]];
            path.push_back(above.empty() ? parts[p].folder : above + "." + parts[p].folder);
            tag.push_back((p == 0 ? "" : tag[parents[p]]) + "/" + parts[p].kind);
            if (p > 0) {
                add_chain(random, p);
            }
        }
    }

private:
    void add_chain(test::random_numbers& random, std::size_t p) {
        const auto first = tasks.size();
        const auto length = 2 + random(4);
        for (std::size_t i = 0; i < length; ++i) {
            task step{"step" + std::to_string(tasks.size()), "link", {}, p};
            if (i == 0 || i + 1 == length) {
                auto scope = path[p];
                for (auto& c : scope) {
                    c = c == '.' ? '/' : c;
                }
                step.label = "/" + scope + "/link";
                if (random.one_in(2)) {
                    step.files.push_back(path[p] + ".object");
                }
            }
            tasks.push_back(step);
            if (i > 0) {
                reads.emplace_back(first + i - 1, first + i);
            } else if (first > 0) {
                reads.emplace_back(first - 1, first);
            }
        }
    }
};

/// Tags a build stored in some kind of graph, and compares the result of every task.
template <class VertexList>
void check_build(const build& project, test::random_numbers& random) {
    task_graph<VertexList> tasks;
    const auto task_order = random_order(random, project.tasks.size());
    const auto task_at = fill(tasks, project.tasks, task_order);
    for (auto [from, to] : project.reads) {
        add_edge(task_at[from], task_at[to], tasks);
    }
    part_graph<VertexList> parts;
    const auto part_at = fill(parts, project.parts, random_order(random, project.parts.size()));
    for (std::size_t p = 1; p < project.parts.size(); ++p) {
        add_edge(part_at[project.parents[p]], part_at[p], parts);
    }
    const auto& const_tasks = tasks;
    const auto& const_parts = parts;
    const stemma::mapped_operators ops(const_tasks, get(&task::label, const_tasks),
                                       get(&task::tool, const_tasks),
                                       get(&task::files, const_tasks));
    const stemma::mapped_modules modules(const_parts, part_at[0], get(&part::folder, const_parts),
                                         get(&part::kind, const_parts),
                                         get(&part::full_kind, const_parts));
    const auto tagged = tag_operators(ops, modules);
    REQUIRE(tagged.attributions.size() == project.tasks.size());
    for (std::size_t i = 0; i < project.tasks.size(); ++i) {
        const auto v = static_cast<id>(task_order[i]);
        const auto& expected = project.tasks[i];
        INFO(expected.label << " of " << project.path[expected.part]);
        const auto module = tagged.attributions[v].module;
        REQUIRE(modules.vertex(module) == part_at[expected.part]);
        REQUIRE(tagged.tags.text(module) == project.tag[expected.part]);
        REQUIRE(tagged.tag_sets[v] == module);
        REQUIRE(is_evidence(tagged.attributions[v].source) == expected.label.starts_with("/"));
    }
    // Seen from two levels down, everything below is one.
    const auto coarse = tag_operators(ops, modules, stemma::policies{stemma::down_to_depth{1}});
    for (std::size_t i = 0; i < project.tasks.size(); ++i) {
        auto top = project.tasks[i].part;
        while (project.parents[top] != 0 && project.parents[top] != no_id) {
            top = project.parents[top];
        }
        const auto v = static_cast<id>(task_order[i]);
        REQUIRE(coarse.tags.text(coarse.attributions[v].module) == project.tag[top]);
    }
}

} // namespace

TEST_CASE("tag_operators: finds the parts of build graphs", "[host_graphs]") {
    test::random_numbers random(23);
    for (int round = 0; round < 60; ++round) {
        const build project(random);
        check_build<boost::vecS>(project, random);
        check_build<boost::listS>(project, random);
    }
}

} // namespace test::host_graphs
