// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/link_nodes.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../wire_builder.hpp"

#include <stemma/compare/diff_models.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace test::compare_link_nodes {

namespace {

using stemma::id;
using stemma::node_link;
using test::node;

std::vector<node_link> links_of(const std::vector<test::message>& before,
                                const std::vector<test::message>& after) {
    const auto open = [](const std::vector<test::message>& nodes) {
        return test::open_graph(test::graph(nodes, {"x"}, {"y"}, {"l.w"}));
    };
    const auto first = open(before);
    const auto second = open(after);
    return stemma::link_nodes(stemma::diff_models(first, second), first, second);
}

} // namespace

TEST_CASE("link_nodes: links every node with itself in a copy without names") {
    const stemma::attributed_model first(test::fixture("bert_micro/model.onnx"), {});
    const stemma::attributed_model second(test::fixture("bert_micro/anonymous.onnx"), {});
    const auto diff = stemma::diff_models(first, second);
    const auto links = stemma::link_nodes(diff, first, second);
    CHECK(links.size() >= diff.first_nodes);
    for (const auto& link : links) {
        CHECK(link.first == link.second);
        CHECK(link.first.size() == 1);
    }
}

TEST_CASE(
    "link_nodes: a fused node is linked with all that it was made of, what was put in is not") {
    const auto links =
        links_of({node("Conv", {"x", "l.w"}, {"a"}, "/l/Conv"),
                  node("Relu", {"a"}, {"b"}, "/l/Relu"), node("Tanh", {"b"}, {"y"}, "/t/Tanh")},
                 {node("FusedConv", {"x", "l.w"}, {"b"}, "/l/Conv", "com.microsoft"),
                  node("Identity", {"b"}, {"c"}, "copy"), node("Tanh", {"c"}, {"y"}, "/t/Tanh")});
    CHECK(links == std::vector<node_link>{{{0, 1}, {0}}, {{2}, {2}}});
}

TEST_CASE(
    "linked_pairs: a node belongs to its origin, not to an equal partner; one without to that") {
    const auto bytes =
        test::model(test::graph({node("Relu", {"x"}, {"a"}), node("Relu", {"a"}, {"b"}),
                                 node("Tanh", {"b"}, {"y"})},
                                {"x"}, {"y"}))
            .bytes();
    const auto model = test::in_memory(bytes);
    stemma::model_diff swapped;
    swapped.nodes = stemma::detail::node_match(3, 3);
    swapped.nodes.add(0, 1);
    swapped.nodes.add(1, 0);
    const std::vector<std::pair<id, id>> same{{0, 0}, {1, 1}, {2, 2}};
    CHECK(stemma::linked_pairs(swapped, model, model) == same);

    const auto other =
        test::model(
            test::graph({node("Sign", {"x"}, {"q"}), node("Neg", {"q"}, {"r"})}, {"x"}, {"r"}))
            .bytes();
    const auto unrelated = test::in_memory(other);
    stemma::model_diff partners;
    partners.nodes = stemma::detail::node_match(3, 2);
    partners.nodes.add(2, 1);
    const auto pairs = stemma::linked_pairs(partners, model, unrelated);
    CHECK(std::count(pairs.begin(), pairs.end(), std::pair<id, id>(2, 1)) == 1);
}

TEST_CASE("group_links: connected pairs form one link, in the order of the first model") {
    const auto links = stemma::detail::group_links(6, 6, {{5, 0}, {1, 2}, {3, 2}, {3, 4}, {1, 2}});
    CHECK(links == std::vector<node_link>{{{1, 3}, {2, 4}}, {{5}, {0}}});
    CHECK(stemma::detail::group_links(2, 2, {}).empty());
}

} // namespace test::compare_link_nodes
