// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/boundary.hpp>

#include "../../catch.hpp"
#include "../../vertex_set_scene.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <vector>

namespace test::cut_detail_boundary {

namespace {

using stemma::id;

} // namespace

TEST_CASE("find_boundary: every value that crosses the boundary, once", "[algorithm][boundary]") {
    test::for_random_vertex_sets([](const test::vertex_set_scene& s) {
        std::set<id> in;
        std::set<id> out;
        for (auto [from, to] : s.dag.edges.edges) {
            if (s.set.is_outside(from) && s.set.is_inside(to)) {
                in.insert(static_cast<id>(from));
            }
            if (s.set.is_inside(from) && s.set.is_outside(to)) {
                out.insert(static_cast<id>(from));
            }
        }
        const auto boundary =
            stemma::detail::find_boundary(s.dag.graph, s.set, std::span<const id>(s.members));
        const auto values = [&](const auto& edges) {
            std::vector<id> result;
            for (auto e : edges) {
                result.push_back(get(stemma::value_index, s.dag.graph, e));
            }
            return result;
        };
        const auto inputs = values(boundary.inputs);
        const auto outputs = values(boundary.outputs);
        CHECK(inputs.size() == in.size());
        CHECK(std::set<id>(inputs.begin(), inputs.end()) == in);
        CHECK(outputs.size() == out.size());
        CHECK(std::set<id>(outputs.begin(), outputs.end()) == out);
        CHECK(std::is_sorted(outputs.begin(), outputs.end())); // in the order of producers
    });
}

TEST_CASE("find_boundary: without value ids, each vertex produces one value",
          "[algorithm][boundary]") {
    const auto graph = test::as_list_graph({3, {{0, 1}, {0, 2}, {1, 2}}});
    stemma::detail::vertex_set set(3);
    set.inside[2] = true;
    std::vector<test::list_graph::vertex_descriptor> members{*std::next(vertices(graph).first, 2)};
    const auto boundary = stemma::detail::find_boundary(
        graph, set, std::span<const test::list_graph::vertex_descriptor>(members));
    CHECK(boundary.inputs.size() == 2);
    CHECK(boundary.outputs.empty());
}

} // namespace test::cut_detail_boundary
