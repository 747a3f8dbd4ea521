// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/graph_contents.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../model_files.hpp"
#include "../random_model.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace test::onnx_graph_contents {

namespace {

using stemma::id;
using stemma::no_id;

/// Compares with what can be derived from `owner` alone.
void check(const std::string& bytes) {
    const stemma::wire_model model(bytes);
    const stemma::graph_contents contents(model);
    const auto around = [&](id g) {
        const auto& graph = model.graph(g);
        return graph.kind == stemma::graph_kind::body ? model.graph_of(graph.owner) : no_id;
    };
    for (id g = 0; g < model.graph_count(); ++g) {
        std::vector<id> nodes;
        std::vector<id> bodies;
        const auto is_below = [&](id inner) {
            while (inner != no_id && inner != g) {
                inner = around(inner);
            }
            return inner == g;
        };
        for (id node = 0; node < model.node_count(); ++node) {
            if (is_below(model.graph_of(node))) {
                nodes.push_back(node);
            }
        }
        for (id body = 0; body < model.graph_count(); ++body) {
            if (body != g && is_below(body)) {
                bodies.push_back(body);
                CHECK(contents.root(body) == contents.root(g));
            }
        }
        const auto stored = contents.nodes(g);
        const bool same_nodes =
            std::equal(stored.begin(), stored.end(), nodes.begin(), nodes.end());
        CHECK(same_nodes);
        std::erase_if(nodes, [&](id node) { return model.graph_of(node) != g; });
        const auto own = contents.own_nodes(g);
        const bool same_own = std::equal(own.begin(), own.end(), nodes.begin(), nodes.end());
        CHECK(same_own);
        const auto found_bodies = contents.bodies(g);
        const bool same_bodies =
            std::equal(found_bodies.begin(), found_bodies.end(), bodies.begin(), bodies.end());
        CHECK(same_bodies);
        CHECK((contents.root(g) == g) == (around(g) == no_id));
    }
    for (id node = 0; node < model.node_count(); ++node) {
        std::size_t inner = 0;
        for (auto body : contents.bodies_of(node)) {
            CHECK(model.graph(body).owner == node);
        }
        for (auto one : contents.inner_nodes(node)) {
            CHECK(model.owner(one) == node);
        }
        for (id one = 0; one < model.node_count(); ++one) {
            inner += model.owner(one) == node ? 1U : 0U;
        }
        CHECK(contents.inner_nodes(node).size() == inner);
    }
}

} // namespace

TEST_CASE("graph_contents: is the inverse of owner") {
    check(test::read_bytes(test::fixture("control_flow/model.onnx")));
    check(test::read_bytes(test::fixture("shared_twice/model.functions.onnx")));
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        check(test::random_model(seed, false).bytes());
    }
}

TEST_CASE("for_each_read: lists the values a node reads, and those its bodies read and return") {
    const auto body = test::graph({test::node("Add", {"x", "a"}, {"r"}, "inside")}, {}, {"r"});
    const test::built_model model(
        {test::owner_node("If", {"c", ""}, {"y"}, {test::graph_attribute("then_branch", body)},
                          "if")},
        {"x", "c", "a"}, {"y"});
    const stemma::graph_contents contents(model);
    std::string read;
    stemma::detail::for_each_read(model, contents, model.node_count() - 1, [&](stemma::id value) {
        read.append(model.value_name(value)).append(" ");
    });
    CHECK(read == "c x a r ");
}

} // namespace test::onnx_graph_contents
