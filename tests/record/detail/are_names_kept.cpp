// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/are_names_kept.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>

#include <string>
#include <vector>

namespace test::record_detail_are_names_kept {

using stemma::id;

namespace {

/// A chain of operators of some types.
std::string chain(const std::vector<const char*>& types) {
    std::vector<test::message> nodes;
    std::string last = "x";
    for (const char* type : types) {
        const auto next = "v" + std::to_string(nodes.size());
        nodes.push_back(test::node(type, {last}, {next}));
        last = next;
    }
    return test::model(test::graph(nodes, {"x"}, {last})).bytes();
}

/// Whether names are taken as kept if each node makes what the node before it in the same place
/// made.
bool are_kept(const std::vector<const char*>& before, const std::vector<const char*>& after) {
    const auto then_bytes = chain(before);
    const stemma::wire_model then(then_bytes);
    const std::vector<stemma::attribution> made(then.node_count());
    const auto sketch =
        stemma::detail::graph_sketch::read(stemma::detail::sketch_of(then, made), 1);
    const auto now_bytes = chain(after);
    const stemma::wire_model now(now_bytes);
    return stemma::detail::are_names_kept(now, *sketch, [](id node) { return node; });
}

} // namespace

TEST_CASE("are_names_kept: unless most values are made by other types that were there, and are") {
    CHECK(are_kept({"Relu", "Tanh", "Abs"}, {"Relu", "Tanh", "Abs"}));
    CHECK_FALSE(are_kept({"Relu", "Tanh", "Abs"}, {"Tanh", "Abs", "Relu"}));
    CHECK(are_kept({"Relu", "Tanh", "Abs"}, {"Relu", "Abs", "Abs"}));  // no Tanh is left
    CHECK(are_kept({"Relu", "Tanh", "Abs"}, {"Celu", "Relu", "Abs"})); // Celu is new
}

TEST_CASE("has_same_type: compares domains, too") {
    const auto bytes =
        test::model(test::graph({test::node("Gelu", {"x"}, {"y"}, "", "com.microsoft"),
                                 test::node("Gelu", {"y"}, {"z"})},
                                {"x"}, {"z"}))
            .bytes();
    const stemma::wire_model model(bytes);
    const std::vector<stemma::attribution> made(model.node_count());
    const auto sketch =
        stemma::detail::graph_sketch::read(stemma::detail::sketch_of(model, made), 1);
    for (id node = 0; node < 2; ++node) {
        for (id before = 0; before < 2; ++before) {
            CHECK(stemma::detail::has_same_type(model, node, *sketch, before) == (node == before));
        }
    }
}

} // namespace test::record_detail_are_names_kept
