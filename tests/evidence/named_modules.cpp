// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/named_modules.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/onnx_nodes.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

namespace test::evidence_named_modules {

using stemma::id;
using stemma::no_id;
using stemma::detail::collect_named_modules;

TEST_CASE("named_modules: collects those of parameters, and scopes for later", "[named_modules]") {
    test::operator_scene ops;
    const auto fc = ops.add({}, "/enc/fc/MatMul", "MatMul");
    ops.read_parameter(fc, "enc.fc.weight");
    ops.read_parameter(ops.add({fc}), "onnx::MatMul_7");
    const auto named = collect_named_modules(ops, "net");
    CHECK(named.modules.size() == 3);
    CHECK(named.modules.name(0) == "net");
    CHECK(named.size == 3);
    REQUIRE(named.owner.size() == 2);
    CHECK(named.modules.path(named.builder.rank_of(named.owner[0])) == "enc.fc");
    CHECK(named.owner[1] == no_id);
    CHECK(named.folded.empty());
    CHECK(named.scopes.find(0, "enc") != no_id);
}

TEST_CASE("named_modules: operators that parameters are named after are not modules",
          "[named_modules]") {
    test::operator_scene ops;
    const auto product = ops.add({}, "/enc/fc/MatMul", "MatMul");
    ops.read_parameter(product, "enc.fc.MatMul.weight");
    ops.read_parameter(ops.add({product}, "/enc/fc/Add"), "enc.fc.Add.bias");
    const auto named = collect_named_modules(ops, "net");
    CHECK(named.modules.size() == 3);
    for (const auto owner : named.owner) {
        CHECK(named.modules.path(named.builder.rank_of(owner)) == "enc.fc");
    }
}

TEST_CASE("named_modules: nodes without their graph lead to the same tree", "[named_modules]") {
    for (const auto& path : test::model_files()) {
        INFO(path);
        const stemma::mapped_file file(path);
        const stemma::wire_model model(file.bytes(), path);
        const stemma::onnx_operators ops(model);
        const stemma::onnx_nodes nodes(model);
        const auto whole = stemma::rebuild_tree(ops, "net");
        const stemma::thread_scope threads({3, 1});
        const auto parts = stemma::rebuild_tree(ops, collect_named_modules(nodes, "net"));
        REQUIRE(parts.modules.size() == whole.modules.size());
        for (id m = 0; m < whole.modules.size(); ++m) {
            REQUIRE(parts.modules.path(m) == whole.modules.path(m));
            REQUIRE(parts.modules.qualified_class(m) == whole.modules.qualified_class(m));
            REQUIRE(parts.modules.calls(m) == whole.modules.calls(m));
        }
        REQUIRE(parts.facts.known->scopes->scope_of == whole.facts.known->scopes->scope_of);
        REQUIRE(parts.facts.known->hierarchies->chain_of ==
                whole.facts.known->hierarchies->chain_of);
        REQUIRE(parts.facts.known->bound->of_operator.size() ==
                whole.facts.known->bound->of_operator.size());
        for (id s = 0; s < whole.facts.known->bound->of_scope.size(); ++s) {
            REQUIRE(parts.facts.known->bound->of_scope[s].module ==
                    whole.facts.known->bound->of_scope[s].module);
            REQUIRE(parts.facts.known->bound->of_scope[s].call ==
                    whole.facts.known->bound->of_scope[s].call);
        }
    }
}

} // namespace test::evidence_named_modules
