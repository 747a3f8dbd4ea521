// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/policy_answer.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/tagging/tagger.hpp>

#include <span>
#include <string_view>

namespace test::core_detail_policy_answer {

using stemma::id;

namespace {

/// Names nothing.
struct silent {
    using policy_category = stemma::naming_category;
    static constexpr std::string_view name = "silent";

    template <class Modules>
    void name_modules(const Modules&, stemma::tag_table&) const {}
};

/// Writes nothing.
struct idle {
    using policy_category = stemma::propagation_category;

    template <class Problem>
    void propagate(const Problem&, std::span<stemma::attribution>) const {}
};

/// Claims a module that does not exist.
struct dreaming {
    using policy_category = stemma::resolution_category;

    [[nodiscard]] stemma::attribution resolve(const stemma::tree_index&,
                                              std::span<const stemma::claim>) const {
        return {77, stemma::no_id, 1, stemma::provenance::scope, false};
    }
};

/// Claims one.
struct inventing {
    using policy_category = stemma::evidence_category;

    struct claims {
        template <class Vertex, class Function>
        void for_each_claim(const Vertex&, Function f) const {
            f(stemma::claim{77, stemma::no_id, 1, stemma::provenance::scope});
        }
    };

    template <class Ops, class Modules>
    [[nodiscard]] claims prepare(stemma::evidence_context<Ops, Modules>&) const {
        return {};
    }
};

template <class Policy>
void tag(const Policy& policy) {
    test::operator_scene ops;
    const auto first = ops.add({}, "/head/MatMul", "MatMul");
    ops.add({first}, "", "Relu");
    const auto tree = test::tree_of({":zoo.Net", "head:zoo.Fc"});
    static_cast<void>(stemma::tag_operators(ops, tree, stemma::policies{policy}));
}

} // namespace

TEST_CASE("refuse_answer: an invalid answer is an error that names the policy", "[policy_answer]") {
    CHECK_THROWS_WITH(tag(silent{}), "naming policy 'silent': gives a selected module no segment");
    CHECK_THROWS_WITH(tag(idle{}),
                      "propagation policy: gives an operator without evidence no module");
    CHECK_THROWS_WITH(tag(dreaming{}), "resolution policy: names a module that is not in the tree");
    CHECK_THROWS_WITH(tag(inventing{}),
                      "evidence: a source claims a module that is not in the tree");
    CHECK_NOTHROW(tag(stemma::class_paths{}));
}

} // namespace test::core_detail_policy_answer
