// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_CHAIN_GRAPH_HPP
#define STEMMA_TESTS_CHAIN_GRAPH_HPP

#include "wire_builder.hpp"

#include <string>
#include <vector>

namespace test {

/// A chain of modules of one operator each, named by its type, from `x`; and one that reads its end
/// and another value, and makes `y`.
inline message chain_graph(const names& order, const std::string& skip, const names& outputs) {
    std::vector<message> nodes;
    std::string last = "x";
    for (const auto& one : order) {
        nodes.push_back(node(one, {last}, {"v" + one}, "/layers/" + one + "/" + one));
        last = "v" + one;
    }
    nodes.push_back(node("Add", {last, skip}, {"y"}, "/head/Add"));
    return graph(nodes, {"x"}, outputs);
}

} // namespace test

#endif // STEMMA_TESTS_CHAIN_GRAPH_HPP
