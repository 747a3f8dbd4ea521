// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/module_code.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>

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

TEST_CASE("module_code: unread parameters were folded, unless they may have lost their names") {
    stemma::module_tree_builder builder;
    const std::vector<std::int64_t> vector{8};
    const std::vector<std::int64_t> matrix{8, 8};
    for (const auto* name : {"BatchNorm2d", "GroupNorm", "Linear"}) {
        const auto m = builder.at_path(std::string("seq.") + name);
        builder.set_class(m, name, std::string("app.") + name);
        builder.add_parameter(
            m, {"weight", "float32", std::string_view(name) == "Linear" ? matrix : vector, true});
    }
    static_cast<void>(builder.at_path("empty"));
    const auto tree = builder.build();
    test::operator_scene ops;
    ops.read_parameter(ops.add({}, "", "GroupNormalization"), "onnx::GroupNorm_7");
    const auto owners = stemma::detail::find_parameter_owners(ops, tree);
    const stemma::detail::module_code<stemma::module_tree> code(ops, tree, owners);
    const auto folded = [&](const char* path) {
        return code.is_folded(test::module_at(tree, path));
    };
    CHECK(folded("seq.BatchNorm2d"));
    CHECK_FALSE(folded("empty"));
    CHECK_FALSE(folded("seq.GroupNorm"));
    CHECK_FALSE(folded("seq.Linear"));
    CHECK_FALSE(folded("seq"));
}

TEST_CASE("module_code: patterns are equal iff the names of parameters below are") {
    test::operator_scene ops;
    const auto v = ops.add();
    for (const char* name : {"a.fc.weight", "a.fc.bias", "b.fc.bias", "b.fc.weight", "c.fc.weight",
                             "d.lin.weight", "d.lin.bias"}) {
        ops.read_parameter(v, name);
    }
    const auto tree = test::tree_of({"a.fc", "b.fc", "c.fc", "d.lin"});
    const stemma::detail::module_code code(ops, tree,
                                           stemma::detail::find_parameter_owners(ops, tree));
    const auto of = [&](const char* path) { return code.pattern(test::module_at(tree, path)); };
    CHECK(of("a") == of("b"));
    CHECK(of("a.fc") == of("d.lin"));
    CHECK(of("a") != of("c"));
    CHECK(of("a") != of("d"));
}

} // namespace test::evidence_detail_module_code
