// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/owners_around.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace test::evidence_detail_owners_around {

using stemma::id;
using stemma::no_id;
using ids = std::vector<id>;

namespace {

/// Operators, some of modules 1, 2, ...; `around` builds the object to test.
struct scene {
    test::operator_scene ops;
    ids owner;
    std::vector<bool> steady;

    id add(const ids& inputs, id module = no_id, id body_of = no_id) {
        owner.push_back(module);
        steady.push_back(false);
        return body_of == no_id ? ops.add(inputs, "", "Any") : ops.add_inside(body_of, inputs);
    }

    template <class Function>
    void around(Function f) const {
        const ids named(owner.size(), no_id);
        const std::vector<bool> lost(owner.size(), false);
        ids position(owner.size());
        const stemma::sweep_order order(ops.graph());
        id step = 0;
        order.forward([&](auto v) { position[v] = step++; });
        const stemma::detail::vertices_by_index vertex(ops.graph());
        f(stemma::detail::owners_around(ops, vertex, owner, named, steady, lost, position), order);
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
    const auto a = s.add({}, 1);
    const auto b = s.add({a}, 2);
    const auto c = s.add({a});
    const auto d = s.add({b, c});
    const auto e = s.add({d}, 3);
    s.around([&](const auto& around, const auto& order) {
        const auto before = around.find_before(order);
        const auto behind = around.find_behind(order);
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
    const auto a = s.add({}, 1);
    const auto shape = s.add({a});
    const auto b = s.add({shape});
    s.steady[shape] = true;
    s.around([&](const auto& around, const auto& order) {
        CHECK(modules_of(around.find_before(order)[b]).empty());
    });
}

TEST_CASE("owners_around: an operator with bodies reads what these read from around it") {
    scene s;
    const auto a = s.add({}, 1);
    const auto condition = s.add({});
    const auto outer = s.add({condition});
    const auto inner = s.add({}, no_id, outer);
    const auto deepest = s.add({a}, no_id, inner);
    const auto own = s.add({}, 2, outer);
    const auto b = s.add({outer}, 3);
    s.ops.read(inner, deepest);
    s.ops.read(outer, inner);
    s.around([&](const auto& around, const auto& order) {
        const auto before = around.find_before(order);
        const auto behind = around.find_behind(order);
        CHECK(modules_of(before[outer]) == ids{1});
        CHECK(modules_of(behind[a]) == ids{3});
        CHECK(modules_of(before[inner]).empty());
        CHECK(modules_of(behind[own]).empty());
        CHECK(around.find_inputs(outer, before).size() == 1);
    });
    static_cast<void>(b);
}

} // namespace test::evidence_detail_owners_around
