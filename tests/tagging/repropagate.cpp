// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/repropagate.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/tagging/inherit.hpp>

#include <cstddef>
#include <vector>

namespace test::tagging_repropagate {

using stemma::attribution;
using stemma::id;
using stemma::no_id;
using stemma::provenance;

namespace {

const auto tree = test::tree_of({"a.x", "a.y", "b.x", "b.y"});

attribution known(id module) {
    return {module, no_id, 0.9F, provenance::scope, false};
}

} // namespace

TEST_CASE("repropagate: agrees with propagation from the evidence alone, whatever changed") {
    test::random_numbers random(8);
    for (int round = 0; round < 200; ++round) {
        const auto size = 2 + random(20);
        test::operator_scene scene;
        for (std::size_t v = 0; v < size; ++v) {
            scene.add();
        }
        for (std::size_t v = 1; v < size; ++v) {
            scene.read(static_cast<id>(v), static_cast<id>(random(v)));
        }
        std::vector<attribution> first(size);
        for (auto& one : first) {
            one = random.one_in(2) ? known(static_cast<id>(random(tree.size()))) : attribution{};
        }
        auto evidence = first;
        stemma::propagate(scene, tree.index(), first);
        // One more operator, and another edge: what was inferred may be wrong now.
        const auto added = scene.add();
        scene.read(added, static_cast<id>(random(size)));
        first.push_back(known(static_cast<id>(random(tree.size()))));
        evidence.push_back(first.back());
        const auto before = first;
        const auto changed = stemma::repropagate(scene, tree.index(), first);
        stemma::propagate(scene, tree.index(), evidence);
        std::vector<id> expected;
        for (id v = 0; v < first.size(); ++v) {
            CHECK(first[v].module == evidence[v].module);
            CHECK(first[v].source == evidence[v].source);
            if (first[v].module != before[v].module) {
                expected.push_back(v);
            }
        }
        CHECK(changed == expected);
    }
}

TEST_CASE("repropagate: after a fusion, neighbours of the new operator are updated") {
    // matmul (a.x) -> add (a.x) -> relu (inferred); the first two are fused, in a.x.
    test::operator_scene scene;
    const auto fused = scene.add();
    const auto relu = scene.add();
    scene.read(relu, fused);
    const auto x = test::module_at(tree, "a.x");
    const std::vector<attribution> before{
        known(x), known(x), {x, no_id, 0.6F, provenance::producer}};
    std::vector<attribution> now{stemma::inherit(tree.index(), before, {0, 1}),
                                 stemma::inherit(tree.index(), before, {2})};
    CHECK(stemma::repropagate(scene, tree.index(), now) == std::vector<id>{relu});
    CHECK(now[fused].module == x);
    CHECK(now[relu].module == x);
    CHECK(now[relu].source == provenance::producer);
}

} // namespace test::tagging_repropagate
