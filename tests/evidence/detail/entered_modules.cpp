// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/entered_modules.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_entered_modules {

using stemma::id;

namespace {

/// The module of an operator that was only known to be in the root.
std::string entered(const test::region_scene<>& scene, id v) {
    const test::region_knowledge known(scene);
    std::vector<id> modules(scene.ops.size(), 0);
    stemma::detail::entered_modules(known.facts).refine(modules);
    return known.path(modules[v]);
}

} // namespace

TEST_CASE("entered_modules: what leads to a module that reads the same value elsewhere") {
    test::region_scene net;
    const auto x = net.add({}, "stem");
    const auto pool = net.add({x});
    net.add({x}, "mixed.a");
    net.add({pool}, "mixed.b");
    CHECK(entered(net, pool) == "mixed");
}

TEST_CASE("entered_modules: not what leads elsewhere too, or to a module that reads only that") {
    test::region_scene both;
    const auto x = both.add({}, "stem");
    const auto pool = both.add({x});
    both.add({x}, "mixed.a");
    both.add({pool}, "mixed.b");
    both.add({pool}, "other.c");
    CHECK(entered(both, pool).empty());
    test::region_scene one;
    const auto act = one.add({one.add({}, "stem")});
    one.add({act}, "mixed.a");
    one.add({act}, "mixed.b");
    CHECK(entered(one, act).empty());
}

TEST_CASE("entered_modules: not what unknown modules compute on the way") {
    test::region_scene net;
    const auto x = net.add({net.add({}, "stem")});
    net.add({x}, "mixed.a");
    const auto act = net.add({net.lose({x})});
    const auto sum = net.add({act, net.lose({act})});
    net.add({sum}, "mixed.b");
    CHECK(entered(net, sum).empty());
}

TEST_CASE("entered_modules: not what is joined with another module's result before it") {
    test::region_scene net;
    const auto x = net.add({}, "embedding");
    const auto scale = net.add({x});
    const auto shift = net.add({x});
    const auto scaled = net.add({net.add({}, "one.conv"), scale});
    const auto sum = net.add({scaled, shift});
    net.add({sum}, "other.conv");
    CHECK(entered(net, scale).empty());
    CHECK(entered(net, shift).empty());
    test::region_scene own;
    const auto y = own.add({}, "embedding");
    const auto half = own.add({y});
    const auto joined = own.add({half, own.add({y})});
    own.add({joined}, "other.conv");
    own.add({y}, "other.act");
    CHECK(entered(own, half) == "other");
    CHECK(entered(own, joined) == "other");
}

TEST_CASE("entered_modules: several operators of one step are not further readers") {
    test::region_scene net;
    const auto x = net.add({}, "stem.conv");
    const auto sigmoid = net.add({x});
    const auto silu = net.add({x, sigmoid});
    net.add({silu}, "next.conv");
    CHECK(entered(net, sigmoid).empty());
    CHECK(entered(net, silu).empty());
}

TEST_CASE("entered_modules: rolling a value is one step, reading several parts of it is not") {
    test::region_scene rolled;
    const auto x = rolled.add({}, "stem.norm");
    const auto part = rolled.add({x}, "", "Slice");
    const auto whole = rolled.add({part, rolled.add({x}, "", "Slice")}, "", "Concat");
    rolled.add({whole}, "attn.q");
    rolled.add({whole}, "attn.k");
    CHECK(entered(rolled, part).empty());
    test::region_scene parts;
    const auto y = parts.add({}, "stem.norm");
    const auto first = parts.add({y}, "", "Slice");
    const std::vector<id> all{first, parts.add({y}, "", "Slice"), parts.add({y}, "", "Slice")};
    const auto merged = parts.add(all, "", "Concat");
    parts.add({merged}, "merge.q");
    parts.add({merged}, "merge.k");
    CHECK(entered(parts, first) == "merge");
}

} // namespace test::evidence_detail_entered_modules
