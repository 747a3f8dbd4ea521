// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/owners_around.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test::evidence_detail_owners_around {

using stemma::id;
using ids = std::vector<id>;

namespace {

/// Operators, some of modules 1, 2 and 3.
struct scene : test::region_scene<> {
    ids steady;

    scene() { others = {"1", "2", "3"}; }

    id add_inside(id body_of, const ids& inputs, const std::string& module = "") {
        modules.push_back(module);
        return ops.add_inside(body_of, inputs);
    }

    template <class Function>
    void around(Function f) const {
        test::region_knowledge known(*this);
        for (const auto v : steady) {
            known.facts.steady[v] = true;
        }
        f(stemma::detail::owners_around(known.facts));
    }
};

ids modules_of(const stemma::detail::nearest_owners& owners) {
    ids modules;
    for (const auto& e : owners) {
        modules.push_back(e.module);
    }
    std::sort(modules.begin(), modules.end());
    return modules;
}

} // namespace

TEST_CASE("owners_around: the nearest operators of known modules on every way") {
    scene s;
    const auto a = s.add({}, "1");
    const auto b = s.add({a}, "2");
    const auto c = s.add({a});
    const auto d = s.add({b, c});
    const auto e = s.add({d}, "3");
    s.around([&](const auto& around) {
        const auto before = around.find_before();
        const auto behind = around.find_behind();
        CHECK(modules_of(before[d]) == ids{1, 2});
        CHECK(modules_of(before[e]) == ids{1, 2});
        CHECK(modules_of(behind[c]) == ids{3});
        CHECK(modules_of(behind[a]) == ids{2, 3});
        const auto inputs = around.find_inputs(d, before);
        REQUIRE(inputs.size() == 2);
        CHECK(modules_of(inputs[0]) == ids{2});
        CHECK(modules_of(inputs[1]) == ids{1});
    });
}

TEST_CASE("owners_around: what is independent of data hides what is beyond it") {
    scene s;
    const auto a = s.add({}, "1");
    const auto shape = s.add({a});
    const auto b = s.add({shape});
    s.steady = {shape};
    s.around([&](const auto& around) { CHECK(modules_of(around.find_before()[b]).empty()); });
}

TEST_CASE("owners_around: an operator with bodies reads what these read from around it") {
    scene s;
    const auto a = s.add({}, "1");
    const auto condition = s.add({});
    const auto outer = s.add({condition});
    const auto inner = s.add_inside(outer, {});
    const auto deepest = s.add_inside(inner, {a});
    const auto own = s.add_inside(outer, {}, "2");
    s.add({outer}, "3");
    s.ops.read(inner, deepest);
    s.ops.read(outer, inner);
    s.around([&](const auto& around) {
        const auto before = around.find_before();
        const auto behind = around.find_behind();
        CHECK(modules_of(before[outer]) == ids{1});
        CHECK(modules_of(behind[a]) == ids{3});
        CHECK(modules_of(before[inner]).empty());
        CHECK(modules_of(behind[own]).empty());
        CHECK(around.find_inputs(outer, before).size() == 1);
    });
}

} // namespace test::evidence_detail_owners_around
