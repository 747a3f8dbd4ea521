// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/alignment_lattice.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"

#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace test::align_detail_alignment_lattice {

using stemma::id;
using stemma::no_id;
using stemma::detail::alignment_lattice;
using stemma::detail::alignment_weights;
using stemma::detail::placement;

namespace {

bool is_near(double a, double b, double margin) {
    return std::abs(a - b) <= margin;
}

} // namespace

TEST_CASE("alignment_lattice: an operator's shares add up to one, in any part of the sequence",
          "[alignment]") {
    test::alignment_scene scene;
    test::alignment_scene::tensor x;
    for (int i = 0; i < 6; ++i) {
        x = scene.new_block(x);
    }
    scene.graph.finish();
    auto finder = stemma::detail::aligned_nodes_finder(scene.graph);
    const auto nodes = finder.find();
    const alignment_weights weights;
    const auto items = stemma::detail::describe_items(scene.captured, nodes.types,
                                                      stemma::torch_lexicon{}, weights);
    std::vector<id> chain(nodes.size());
    std::iota(chain.begin(), chain.end(), id{0});
    alignment_lattice lattice(nodes, items, weights);
    const auto no_score = [](id, id, bool) { return std::pair(0.0, 0.0); };
    const auto no_candidates = [](id, std::vector<id>&) {};
    const std::vector<std::pair<id, id>> ranges{{0, scene.captured.size()}, {3, 9}, {5, 6}};
    for (const auto& range : ranges) {
        const auto first = range.first;
        const auto last = range.second;
        lattice.run(chain, first, last, weights.beam, no_score, no_candidates);
        std::size_t count = 0;
        lattice.for_each_placement([&](id, std::span<const placement> places) {
            double sum = 0;
            for (const auto& place : places) {
                sum += static_cast<double>(place.mass);
                CHECK((place.item == no_id || (place.item >= first && place.item < last)));
            }
            CHECK(is_near(sum, 1, 0.05));
            ++count;
        });
        CHECK(count == nodes.size());
    }
}

TEST_CASE("alignment_lattice: an alignment that is second best goes on from where it is",
          "[alignment]") {
    test::alignment_scene scene;
    const auto tanh = scene.export_node(0, "Tanh", {no_id});
    const auto sigmoid = scene.export_node(0, "Sigmoid", {tanh});
    scene.export_node(0, "Softmax", {sigmoid});
    const auto capture_softmax = [&](int times) {
        for (int i = 0; i < times; ++i) {
            scene.capture(0, "torch.softmax", {{}});
        }
    };
    scene.capture(0, "torch.tanh", {{}});
    capture_softmax(4);
    scene.capture(0, "torch.tanh", {{}});
    const auto right = scene.captured.size() - 1;
    capture_softmax(4);
    scene.capture(0, "torch.sigmoid", {{}});
    const auto next = scene.captured.size() - 1;
    capture_softmax(1);
    scene.graph.finish();
    const auto nodes = stemma::detail::aligned_nodes_finder(scene.graph).find();
    const alignment_weights weights;
    const auto items = stemma::detail::describe_items(scene.captured, nodes.types,
                                                      stemma::torch_lexicon{}, weights);
    alignment_lattice lattice(nodes, items, weights);
    const std::vector<id> chain{0, 1, 2};
    lattice.run(
        chain, 0, scene.captured.size(), weights.beam,
        [&](id n, id item, bool) {
            // The second Tanh costs 24 less than four skipped operations.
            const bool fits = (n == tanh && item == right) || (n == sigmoid && item == next);
            return std::pair(fits ? 24.0 : 0.0, 0.0);
        },
        [](id, std::vector<id>&) {});
    lattice.for_each_placement([&](id n, std::span<const placement> places) {
        const auto expected = n == tanh ? right : n == sigmoid ? next : next + 1;
        CHECK(std::any_of(places.begin(), places.end(), [&](const placement& place) {
            return place.item == expected && place.mass > 0.5F;
        }));
    });
}

TEST_CASE("alignment_lattice: an empty chain has no placements", "[alignment]") {
    const stemma::detail::aligned_nodes nodes;
    const stemma::detail::aligned_items items;
    const alignment_weights weights;
    alignment_lattice lattice(nodes, items, weights);
    const auto fit = lattice.run(
        {}, 0, 0, weights.beam, [](id, id, bool) { return std::pair(0.0, 0.0); },
        [](id, std::vector<id>&) {});
    CHECK(is_near(fit, 0, 0));
    bool called = false;
    lattice.for_each_placement([&](id, std::span<const placement>) { called = true; });
    CHECK_FALSE(called);
}

} // namespace test::align_detail_alignment_lattice
