// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_nodes.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <map>
#include <string>

namespace test::fold_detail_fold_nodes {

namespace {

using stemma::id;
using stemma::no_id;

/// Returns: what a call in a folded file says of itself, by key; its name under "".
std::map<std::string, std::string> said(const stemma::wire_model& model, id node) {
    std::map<std::string, std::string> found{{"", std::string(model.name(node))}};
    model.for_each_metadata(
        node, [&](std::string_view key, std::string_view value) { found.emplace(key, value); });
    return found;
}

} // namespace

TEST_CASE("fold_nodes: a call says its module and tag from the module around, in bodies, too") {
    auto scene = test::deciding_layers();
    const auto bytes = scene.fold();
    const stemma::wire_model model(bytes, "folded");
    std::size_t outer = 0;
    std::size_t inner = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.callee(node) == no_id) {
            continue;
        }
        auto found = said(model, node);
        if (model.owner(node) == no_id) {
            const auto path = "layer." + std::to_string(outer++);
            CHECK(found[""] == path);
            CHECK(found[std::string(stemma::fold_module_key)] == path);
            CHECK(found[std::string(stemma::fold_tag_key)].find("Layer") != std::string::npos);
        } else {
            ++inner;
            CHECK(found[""] == "fc");
            CHECK(found[std::string(stemma::fold_module_key)] == "fc");
            CHECK(found[std::string(stemma::fold_tag_key)] == "/Linear");
        }
        CHECK(found[std::string(stemma::fold_call_key)] == "0");
    }
    CHECK(outer == 2);
    CHECK(inner == 2); // in both branches, once for both layers
}

TEST_CASE("fold_nodes: what is captured is an input of a call in a body, weights come last") {
    auto scene = test::branched_model();
    const auto plan = scene.plan();
    std::size_t checked = 0;
    for (id r = 0; r < plan.regions.size(); ++r) {
        if (plan.is_graph(r) || plan.graph[r] == 0 || plan.regions[r].module != 4) {
            continue;
        }
        std::vector<std::string> names;
        for (auto value : plan.inputs[r]) {
            names.emplace_back(scene.model.value_name(value));
        }
        CHECK(names ==
              std::vector<std::string>{"/layer.0/out", "layer.1.fc.weight", "layer.1.fc.bias"});
        ++checked;
    }
    CHECK(checked == 2);
}

} // namespace test::fold_detail_fold_nodes
