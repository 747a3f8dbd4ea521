// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/bypassed_modules.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>

#include <vector>

namespace test::evidence_detail_bypassed_modules {

TEST_CASE("find_bypassed_modules: the projection of an attention that owns one for its inputs") {
    test::operator_scene ops;
    const auto v = ops.add();
    for (const char* name :
         {"a.attn.in_proj_weight", "a.attn.in_proj_bias", "a.attn.out_proj.weight",
          "b.attn.q_proj.weight", "b.attn.out_proj.weight"}) {
        ops.read_parameter(v, name);
    }
    const auto tree = test::tree_of({"a.attn.out_proj", "b.attn.q_proj", "b.attn.out_proj"});
    const auto owners = stemma::detail::find_parameter_owners(ops, tree);
    const auto bypassed = stemma::detail::find_bypassed_modules(ops, tree, owners);
    const auto at = [&](const char* path) { return test::module_at(tree, path); };
    CHECK(bypassed == std::vector{at("a.attn.out_proj")});
    CHECK(stemma::detail::past_bypassed(tree, bypassed, at("a.attn.out_proj")) == at("a.attn"));
    CHECK(stemma::detail::past_bypassed(tree, bypassed, at("b.attn.out_proj")) ==
          at("b.attn.out_proj"));
}

TEST_CASE("find_bypassed_modules: the projection alone, if the model has such an attention") {
    test::operator_scene ops;
    const auto v = ops.add();
    for (const char* name : {"a.in_proj_bias", "a.out_proj.weight", "b.out_proj.weight",
                             "c.out_proj.weight", "c.scale"}) {
        ops.read_parameter(v, name);
    }
    const auto tree = test::tree_of({"a.out_proj", "b.out_proj", "c.out_proj"});
    const auto owners = stemma::detail::find_parameter_owners(ops, tree);
    CHECK(stemma::detail::find_bypassed_modules(ops, tree, owners) ==
          std::vector{test::module_at(tree, "a.out_proj"), test::module_at(tree, "b.out_proj")});
}

TEST_CASE("find_bypassed_modules: the projection alone, if it multiplies a reshaped matrix") {
    const auto find = [](const char* type, const char* behind) {
        test::operator_scene ops;
        const auto product = ops.add({ops.add({}, "", "Reshape")}, "", type);
        ops.read_parameter(product, "a.out_proj.weight");
        ops.add({product}, "", behind);
        const auto tree = test::tree_of({"a.out_proj"});
        const auto owners = stemma::detail::find_parameter_owners(ops, tree);
        return stemma::detail::find_bypassed_modules(ops, tree, owners).size();
    };
    CHECK(find("Gemm", "Reshape") == 1);
    CHECK(find("Gemm", "Relu") == 0);
    CHECK(find("MatMul", "Reshape") == 0);
}

} // namespace test::evidence_detail_bypassed_modules
