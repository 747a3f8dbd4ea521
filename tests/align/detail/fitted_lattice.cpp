// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/fitted_lattice.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"

#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace test::align_detail_fitted_lattice {

using stemma::id;
using stemma::detail::placement;

namespace {

/// @returns the number of operators whose likeliest operation is their own, of 122, if the capture
/// has `missing` more before the last 20.
std::size_t count_right(int missing) {
    test::alignment_scene scene;
    const auto module = scene.add_module();
    auto x = scene.linear({}, module);
    std::vector<id> truth(scene.graph.size(), 0);
    for (int i = 0; i < 120; ++i) {
        for (int gone = 0; i == 100 && gone < missing; ++gone) {
            scene.capture(module, "torch.softmax", {x});
        }
        scene.capture(module, i % 2 == 0 ? "torch.tanh" : "torch.sigmoid", {x});
        x = scene.last(scene.export_node(module, i % 2 == 0 ? "Tanh" : "Sigmoid", {x.node}));
        truth.push_back(x.operation);
    }
    scene.capture(module, "torch.softmax", {x});
    scene.export_node(module, "Softmax", {x.node}); // some of these leave operators
    scene.graph.finish();
    auto finder = stemma::detail::aligned_nodes_finder(scene.graph);
    const auto nodes = finder.find();
    const stemma::detail::alignment_weights weights;
    const auto items = stemma::detail::describe_items(scene.captured, nodes.types,
                                                      stemma::torch_lexicon{}, weights);
    std::vector<id> chain(nodes.size());
    std::iota(chain.begin(), chain.end(), id{0});
    stemma::detail::fitted_lattice lattice(nodes, items, weights);
    std::size_t right = 0;
    for (int pass = 0; pass < 2; ++pass) {
        lattice.run(
            chain, 0, scene.captured.size(), [](id, id, bool) { return std::pair(0.0, 0.0); },
            [](id, std::vector<id>&) {});
        right = 0;
        lattice.for_each_placement([&](id n, std::span<const placement> places) {
            const auto best =
                std::max_element(places.begin(), places.end(),
                                 [](const auto& a, const auto& b) { return a.mass < b.mass; });
            const auto v = nodes.vertex[n];
            right += best != places.end() && v < truth.size() && best->item == truth[v] ? 1U : 0U;
        });
    }
    return right;
}

} // namespace

TEST_CASE("fitted_lattice: operations that left nothing are passed over", "[alignment]") {
    for (const auto missing : {0, 6}) {
        CAPTURE(missing);
        CHECK(count_right(missing) == 122);
    }
}

} // namespace test::align_detail_fitted_lattice
