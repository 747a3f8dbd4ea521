// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/context_facts.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/evidence/evidence_context.hpp>

#include <utility>

namespace test::evidence_detail_context_facts {

TEST_CASE("context_facts: each fact is computed once, also for the next context") {
    test::operator_scene ops;
    const auto v = ops.add({}, "/fc/MatMul", "MatMul");
    ops.read_parameter(v, "fc.weight");
    const auto tree = test::tree_of({":zoo.Net", "fc:torch.nn.Linear"});
    using context_type = stemma::evidence_context<test::operator_scene, stemma::module_tree>;
    context_type context(ops, tree);
    const auto& scopes = context.scopes();
    CHECK(&context.scopes() == &scopes);
    const auto& places = context.modules_of_hierarchies();
    CHECK(&context.modules_of_hierarchies() == &places);
    CHECK(context.modules_of_scopes().of(v, scopes.scope_of[v]).module == 1);
    CHECK(context.owners().of(0).front() == 1);

    context_type next(ops, tree, std::move(context).release());
    CHECK(&next.scopes() == &scopes);
    CHECK(next.bypassed().empty());
}

} // namespace test::evidence_detail_context_facts
