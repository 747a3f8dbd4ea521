// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/folded_functions.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace test::fold_detail_folded_functions {

namespace {

using stemma::id;
using stemma::no_id;

} // namespace

TEST_CASE("folded_functions: finds the functions in the record, and the bodies with calls") {
    auto scene = test::branched_model();
    const auto bytes = scene.fold();
    const stemma::wire_model model(bytes, "folded");
    const auto record = stemma::detail::find_fold_record(model).value();
    const stemma::detail::folded_functions functions(model, record);
    REQUIRE(functions.bodies().size() == record.bodies.size());
    for (id node = 0; node < model.node_count(); ++node) {
        const bool is_call = model.callee(node) != no_id;
        CHECK(functions.is_call(node) == is_call);
        CHECK(functions.changed_inside(node) == (model.op_type(node) == "If"));
        const auto g = model.graph_of(node);
        const bool in_body = model.graph(g).kind == stemma::graph_kind::body;
        const auto& bodies = functions.bodies();
        const bool listed = std::find(bodies.begin(), bodies.end(), g) != bodies.end();
        CHECK((!is_call || !in_body || listed));
    }
    for (id value = 0; value < model.value_count(); ++value) {
        const auto& graph = model.graph(model.graph_of_value(value));
        const bool inside = graph.kind == stemma::graph_kind::function;
        CHECK((functions.local(value) != no_id) == inside);
        CHECK((!inside || functions.local(value) < functions.value_count(graph.function)));
    }

    const stemma::detail::folded_functions none(model, {});
    CHECK(none.bodies().empty());
    CHECK_FALSE(none.made(0));
}

TEST_CASE(
    "folded_functions: a node of a body that says its module is changed, and its owners are") {
    auto scene = test::deciding_layers();
    scene.options.selection = stemma::of_classes{{"Layer"}}; // so that no `fc` folds
    const auto bytes = scene.fold();
    const stemma::wire_model model(bytes, "folded");
    const auto record = stemma::detail::find_fold_record(model).value();
    const stemma::detail::folded_functions functions(model, record);
    CHECK(record.bodies.empty());
    CHECK(functions.bodies().empty());
    std::size_t noted = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        const bool of_fc = model.op_type(node) == "MatMul" || model.op_type(node) == "Add";
        CHECK(functions.changed(node) == (of_fc || model.op_type(node) == "If"));
        noted += of_fc ? 1U : 0U;
    }
    CHECK(noted == 4);
}

} // namespace test::fold_detail_folded_functions
