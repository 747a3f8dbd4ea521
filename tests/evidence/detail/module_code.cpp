// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/module_code.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_tree.hpp>

namespace test::evidence_detail_module_code {

TEST_CASE("module_code: a module with only numbered children computes nothing unless it has a "
          "parameter") {
    test::operator_scene ops;
    const auto v = ops.add();
    ops.read_parameter(v, "net.layers.0.fc.weight");
    ops.read_parameter(v, "net.own.1.fc.weight");
    ops.read_parameter(v, "net.own.scale");
    const auto tree =
        test::tree_of({"net.layers.0.fc", "net.layers.1", "net.own.1.fc", "net.own.x0"});
    const auto owners = stemma::detail::find_parameter_owners(ops, tree);
    const stemma::detail::module_code<stemma::module_tree> code(ops, tree, owners);
    const auto at = [&](const char* path) { return test::module_at(tree, path); };
    CHECK(code.is_list(at("net.layers")));
    CHECK_FALSE(code.is_list(at("net.layers.0")));
    CHECK_FALSE(code.is_list(at("net.layers.1")));
    CHECK_FALSE(code.is_list(at("net.own")));
    CHECK_FALSE(code.is_list(0));
    CHECK(code.nearest(at("net.layers")) == at("net"));
    CHECK(code.nearest(at("net.layers.0")) == at("net.layers.0"));
    CHECK(code.owns_below(at("net.layers")));
    CHECK_FALSE(code.owns_below(at("net.layers.1")));
}

} // namespace test::evidence_detail_module_code
