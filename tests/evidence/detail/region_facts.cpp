// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/region_facts.hpp>

#include "../../catch.hpp"
#include "../../evidence_scene.hpp"
#include "../../model_with_metadata.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>

#include <string>

namespace test::evidence_detail_region_facts {

using stemma::no_id;

TEST_CASE("region_facts: finds owners of parameters, unnamed weights, owners of bodies") {
    const auto bare = [](const char* type, const test::names& in, const char* out) {
        return test::node(type, in, {out}, out);
    };
    const auto then = test::graph({bare("MatMul", {"x", "gate.yes.weight"}, "t")}, {}, {"t"});
    const auto other = test::graph({bare("MatMul", {"x", "gate.no.weight"}, "e")}, {}, {"e"});
    auto graph =
        test::graph({bare("MatMul", {"x", "lost"}, "m"), bare("Add", {"m", "fc.bias"}, "a"),
                     bare("If", {"c"}, "i")
                         .inner(5, test::graph_attribute("then_branch", then))
                         .inner(5, test::graph_attribute("else_branch", other))},
                    {"x", "c"}, {"a", "i"}, {"fc.bias"});
    for (const char* name : {"lost", "gate.yes.weight", "gate.no.weight"}) {
        graph.inner(5, test::tensor(name, {4, 4}));
    }
    test::evidence_scene scene(graph);
    const stemma::detail::region_facts<test::evidence_scene::operators, stemma::module_tree> facts(
        scene.context());
    const auto m = scene.node("m");
    const auto a = scene.node("a");
    const auto i = scene.node("i");
    CHECK(facts.lost[m]);
    CHECK(facts.products[m]);
    CHECK(facts.owner[m] == no_id);
    CHECK(scene.modules().path(facts.owner[a]) == "fc");
    CHECK_FALSE(facts.products[a]);
    CHECK(scene.modules().path(facts.owner[i]) == "gate");
    CHECK(facts.reads[i] == no_id);
    CHECK(facts.bare[i]);
}

TEST_CASE(
    "region_facts: a module computes between parameters if operators read each of them once") {
    const auto read = [](const char* parameter, const char* in, const char* out) {
        return test::node("Mul", {in, parameter}, {out}, out);
    };
    const auto graph = test::graph(
        {read("once.scale", "x", "a"), read("once.shift", "a", "b"), read("twice.scale", "b", "c"),
         read("twice.shift", "c", "d"), read("twice.scale", "d", "e"),
         read("alone.scale", "e", "f")},
        {"x"}, {"f"}, {"once.scale", "once.shift", "twice.scale", "twice.shift", "alone.scale"});
    test::evidence_scene scene(graph);
    const stemma::detail::region_facts<test::evidence_scene::operators, stemma::module_tree> facts(
        scene.context());
    const auto within = [&](const char* path) {
        return std::string(
            scene.modules().path(facts.within[test::module_at(scene.modules(), path)]));
    };
    CHECK(within("once") == "once");
    CHECK(within("twice").empty());
    CHECK(within("alone").empty());
}

TEST_CASE("region_facts: between calls of a module is what is around all that run as often") {
    auto graph = test::graph({}, {"x"}, {"y"});
    for (const char* name : {"net.step.a.weight", "net.step.b.c.weight", "net.head.weight"}) {
        graph.inner(5, test::tensor(name, {4, 4}));
    }
    for (const char* name : {"net.step.a.weight", "net.step.b.c.weight", "net.step.a.weight",
                             "net.step.b.c.weight", "net.head.weight"}) {
        graph.inner(1, test::node("MatMul", {"x", name}, {"y"}));
    }
    test::evidence_scene scene(graph);
    const stemma::detail::region_facts facts(scene.context());
    const auto within = [&](const char* path) {
        return scene.modules().path(facts.within[test::module_at(scene.modules(), path)]);
    };
    CHECK(within("net.step.b.c") == "net.step");
    CHECK(within("net.head") == "net");
}

TEST_CASE("region_facts: a merged vector is that of an unknown module") {
    const auto norm = [](const char* in, const char* out) {
        return test::node("LayerNormalization", {in, "a.norm.weight", "a.norm.bias"}, {out}, out);
    };
    const auto product = [](const char* in, const char* weight, const char* out) {
        return test::node("MatMul", {in, weight}, {out}, out);
    };
    auto graph = test::graph({norm("x", "n"), product("n", "a.fc.weight", "f"), norm("f", "m"),
                              product("m", "b.fc.weight", "g")},
                             {"x"}, {"g"});
    for (const char* name : {"a.norm.weight", "a.norm.bias"}) {
        graph.inner(5, test::tensor(name, {4}, std::string(16, '\0')));
    }
    for (const char* name : {"a.fc.weight", "b.fc.weight"}) {
        graph.inner(5, test::tensor(name, {4, 4}));
    }
    test::evidence_scene scene(graph);
    const stemma::detail::region_facts<test::evidence_scene::operators, stemma::module_tree> facts(
        scene.context());
    CHECK(facts.owner[scene.node("m")] == no_id);
    CHECK(facts.lost[scene.node("m")]);
    CHECK_FALSE(facts.products[scene.node("m")]);
    CHECK_FALSE(facts.lost[scene.node("g")]);
}

} // namespace test::evidence_detail_region_facts
