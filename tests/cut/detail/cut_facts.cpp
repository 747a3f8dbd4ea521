// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/cut_facts.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../numerics_scene.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace test::cut_detail_cut_facts {

namespace {

using stemma::dependence;

stemma::detail::cut_facts facts_of(const stemma::wire_model& model) {
    const stemma::graph_contents contents(model);
    return {model, contents, 0, [&](stemma::id node) { return model.op_type(node) == "Constant"; }};
}

} // namespace

TEST_CASE("cut_facts: keeps file order if topological", "[onnx][cut_facts]") {
    const test::built_model model(test::model(
        test::graph({test::node("Constant", {}, {"k"}), test::node("Relu", {"x"}, {"a"}),
                     test::node("Add", {"a", "k"}, {"y"})})));
    const auto facts = facts_of(model);
    CHECK(facts.sorted_already());
    CHECK(facts.order() == std::vector<stemma::id>{0, 1, 2});
    CHECK(facts.set.apart == std::vector<bool>{true, false, false});
}

TEST_CASE("cut_facts: sorts unsorted graphs, and leaves cycles out", "[onnx][cut_facts]") {
    const test::built_model model(test::model(
        test::graph({test::node("Add", {"a", "a"}, {"y"}), test::node("Relu", {"x"}, {"a"}),
                     test::node("Neg", {"q"}, {"p"}), test::node("Neg", {"p"}, {"q"})})));
    auto facts = facts_of(model);
    CHECK_FALSE(facts.sorted_already());
    CHECK(facts.order().size() == 2);
    CHECK(facts.rank()[1] < facts.rank()[0]);
    CHECK(facts.rank()[2] == stemma::no_id);
    CHECK(facts.set.apart[2]);
    const std::vector<stemma::id> members{0};
    facts.put_inside(members, true);
    CHECK(facts.set.is_inside(0));
    CHECK(facts.stretch(members).vertices().size() == 1);
    facts.put_inside(members, false);
    CHECK_FALSE(facts.set.is_inside(0));
}

TEST_CASE("shared_cut_facts: given results count as data, except those of constants",
          "[cut][shared_cut_facts]") {
    const auto bytes = test::computed_weights(); // w, c, t, y
    const stemma::wire_model model(bytes, "weights.onnx");
    const auto depends_on = [&](std::string_view given) {
        const std::vector<bool> random(model.node_count(), false);
        return stemma::detail::shared_cut_facts(
                   model, random, [=](std::string_view name) { return name == given; })
            .depends_on;
    };
    const auto of = [](dependence w) {
        return std::vector<dependence>{w, dependence::constant, dependence::data, dependence::data};
    };
    CHECK(depends_on("w") == of(dependence::data));
    CHECK(depends_on("c") == of(dependence::weight));
    CHECK(depends_on("other") == of(dependence::weight));
    CHECK(stemma::detail::shared_cut_facts(model, {true, false, false, false}, {}).depends_on ==
          of(dependence::data));
}

} // namespace test::cut_detail_cut_facts
