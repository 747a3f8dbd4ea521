// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/evidence.hpp>

#include "../catch.hpp"

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/mapped_operators.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/tagging/resolve_evidence.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace test::evidence_evidence {

using stemma::claim;
using stemma::id;
using stemma::module_tree;
using stemma::provenance;

namespace {

struct task {
    std::string name;
    std::string owner;
};

using task_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, task>;
using name_map = boost::property_map<task_graph, std::string task::*>::const_type;
using task_view = stemma::mapped_operators<task_graph, name_map, name_map>;

/// Claims the module in the graph's own `owner` field.
struct owner_fields {
    using policy_category = stemma::evidence_category;

    struct answers {
        const task_graph& graph;
        const module_tree& modules;

        template <class Function>
        void for_each_claim(std::size_t v, Function f) const {
            const auto m = find_module(stemma::module_lookup(modules), graph[v].owner);
            if (m != stemma::no_id) {
                f(claim{m, stemma::no_id, 0.9F, provenance::metadata});
            }
        }
    };

    template <class Ops>
    [[nodiscard]] answers prepare(stemma::evidence_context<Ops, module_tree>& context) const {
        return {context.ops().graph(), context.modules()};
    }
};

struct without_category {
    [[nodiscard]] owner_fields::answers
    prepare(stemma::evidence_context<task_view, module_tree>&) const;
};

struct without_prepare {
    using policy_category = stemma::evidence_category;
};

struct without_claims {
    using policy_category = stemma::evidence_category;

    [[nodiscard]] int prepare(stemma::evidence_context<task_view, module_tree>&) const;
};

struct not_const {
    using policy_category = stemma::evidence_category;

    owner_fields::answers prepare(stemma::evidence_context<task_view, module_tree>&);
};

template <class P>
constexpr bool accepted = stemma::evidence_policy<P, task_view, module_tree>;

} // namespace

TEST_CASE("evidence_policy: accepts sources and rejects near misses", "[policy][evidence]") {
    STATIC_REQUIRE(accepted<owner_fields>);
    STATIC_REQUIRE(accepted<stemma::scope_names>);
    STATIC_REQUIRE(
        stemma::explain_policy<stemma::evidence_category, owner_fields, task_view, module_tree>());
    STATIC_REQUIRE_FALSE(accepted<without_category>);
    STATIC_REQUIRE_FALSE(accepted<without_prepare>);
    STATIC_REQUIRE_FALSE(accepted<without_claims>);
    STATIC_REQUIRE_FALSE(accepted<not_const>);
}

TEST_CASE("evidence_policy: a custom source is queried about every operator",
          "[policy][evidence]") {
    stemma::module_tree_builder builder;
    builder.at_path("a.b");
    const auto modules = builder.build();
    task_graph graph;
    for (const auto* owner : {"a.b", "elsewhere", "a", ""}) {
        add_vertex(task{"t", owner}, graph);
    }
    const auto names = get(&task::name, std::as_const(graph));
    const task_view ops(graph, names, names);
    stemma::evidence_context<task_view, module_tree> context(ops, modules);
    const auto resolved = stemma::resolve_evidence(context, owner_fields{});
    std::vector<id> claimed;
    for (const auto& one : resolved.of) {
        claimed.push_back(one.module);
    }
    CHECK(claimed == std::vector<id>{2, stemma::no_id, 1, 0});
}

} // namespace test::evidence_evidence
