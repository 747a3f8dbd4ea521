// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/sequence_starts.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/module_exits.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/detail/functional_units.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::evidence_detail_sequence_starts {

using stemma::id;
using texts = std::vector<std::string>;

namespace {

/// A module `stem`, operators of some types, and a module `net.2`. If it forks, something else
/// reads the result of `stem`, too.
texts steps_before(const texts& types, std::size_t most, bool forks) {
    test::region_scene scene;
    const auto stem = scene.add({}, "stem", "Conv");
    auto last = stem;
    for (const auto& type : types) {
        last = scene.add({last}, "", type);
    }
    scene.add({last}, "net.2", "Conv");
    if (forks) {
        scene.add({stem});
    }
    const test::region_knowledge known(scene);
    std::vector<bool> free;
    for (const auto& module : scene.modules) {
        free.push_back(module.empty());
    }
    const stemma::detail::functional_units units(known.facts, free);
    const stemma::detail::module_exits exits(known.facts, known.facts.owner);
    const stemma::detail::sequence_starts starts(known.facts, free, known.facts.owner, units,
                                                 exits);
    texts steps;
    for (const auto& step : starts.before(known.at("net.2"), most)) {
        steps.emplace_back();
        for (auto v : step) {
            steps.back() += std::string(scene.ops.op_type(v)) + " ";
        }
    }
    return steps;
}

} // namespace

TEST_CASE("sequence_starts: steps from a value that others read, as many as there is room for") {
    CHECK(steps_before({"Relu", "MaxPool"}, 2, true) == texts{"Relu ", "MaxPool "});
    CHECK(steps_before({"Relu"}, 2, true) == texts{"Relu "});
    CHECK(steps_before({"Relu", "MaxPool"}, 1, true).empty());
    CHECK(steps_before({}, 2, true).empty());
}

TEST_CASE("sequence_starts: without such a value, steps may be of the module before") {
    CHECK(steps_before({"Relu", "MaxPool"}, 2, false).empty());
}

TEST_CASE("sequence_starts: a normalization of groups is one step, and no function") {
    const texts expected{"Reshape InstanceNormalization Reshape Mul Add ", "Relu "};
    CHECK(steps_before({"Reshape", "InstanceNormalization", "Reshape", "Mul", "Add", "Relu"}, 2,
                       false) == expected);
}

TEST_CASE("find_sequence_heads: first members with parameters, after others without") {
    test::operator_scene ops;
    for (const char* owner : {"a.0", "a.1", "b.1", "b.2"}) {
        ops.read_parameter(ops.add({}, "", "Conv"), std::string(owner) + ".weight");
    }
    const auto tree = test::tree_of({"a.0", "a.1", "b.1", "b.2"});
    const stemma::detail::module_code<stemma::module_tree> code(
        ops, tree, stemma::detail::find_parameter_owners(ops, tree));
    std::vector<bool> expected(tree.size(), false);
    expected[test::module_at(tree, "b.1")] = true;
    CHECK(stemma::detail::find_sequence_heads(tree, code) == expected);
}

TEST_CASE("find_sequence_heads: members that lost the names of their parameters come before") {
    test::operator_scene ops;
    const auto norm = ops.add({}, "", "InstanceNormalization");
    ops.read_parameter(norm, "onnx::InstanceNormalization_3");
    ops.read_parameter(ops.add({norm}, "", "Conv"), "a.1.weight");
    const auto is_head = [&](const char* class_name) -> bool {
        stemma::module_tree_builder builder;
        const auto first = builder.at_path("a.0");
        builder.set_class(first, class_name, class_name);
        builder.add_parameter(first, {"weight", "float32", {}, true});
        static_cast<void>(builder.at_path("a.1"));
        const auto tree = builder.build();
        const stemma::detail::module_code<stemma::module_tree> code(
            ops, tree, stemma::detail::find_parameter_owners(ops, tree));
        return stemma::detail::find_sequence_heads(tree, code)[test::module_at(tree, "a.1")];
    };
    CHECK(is_head("InstanceNorm2d"));
    CHECK_FALSE(is_head("BatchNorm2d")); // folded
}

} // namespace test::evidence_detail_sequence_starts
