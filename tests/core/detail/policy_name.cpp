// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/policy_name.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/tagging/tagger.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace test::core_detail_policy_name {

using stemma::id;

namespace {

struct unnamed {};
struct named {
    static constexpr std::string_view name = "named";
};
struct called {
    std::string name;
};
struct counting {
    int count = 0;
    [[nodiscard]] std::string name() const { return "count:" + std::to_string(count); }
};

} // namespace

TEST_CASE("name_of_policy: from a class, an object or a function", "[policy_name]") {
    using stemma::detail::name_of_policy;
    CHECK(name_of_policy(unnamed{}).empty());
    CHECK(name_of_policy(named{}) == "named");
    CHECK(name_of_policy(called{"me"}) == "me");
    CHECK(name_of_policy(counting{7}) == "count:7");
    STATIC_REQUIRE_FALSE(stemma::detail::named_policy<unnamed>);
    STATIC_REQUIRE(stemma::detail::named_policy<called>);
}

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

/// Places all others in the root.
struct careless {
    using policy_category = stemma::propagation_category;

    template <class Problem>
    void propagate(const Problem&, std::span<stemma::attribution> result) const {
        for (auto& one : result) {
            if (one.module == stemma::no_id) {
                one = {0, stemma::no_id, confidence, stemma::provenance::between, false};
            }
        }
    }

    float confidence;
};

struct fixed_answer {
    using policy_category = stemma::resolution_category;

    [[nodiscard]] stemma::attribution resolve(const stemma::tree_index&,
                                              std::span<const stemma::claim>) const {
        return {module, call, confidence, source, false};
    }

    id module;
    float confidence;
    stemma::provenance source = stemma::provenance::scope;
    id call = stemma::no_id;
};

/// The same attribution for all operators, with and without evidence.
struct sweeping {
    using policy_category = stemma::propagation_category;

    template <class Problem>
    void propagate(const Problem&, std::span<stemma::attribution> result) const {
        std::fill(result.begin(), result.end(),
                  stemma::attribution{module, stemma::no_id, 0.5F, source, false});
    }

    id module;
    stemma::provenance source;
};

struct fixed_claim {
    using policy_category = stemma::evidence_category;

    template <class Ops, class Modules>
    [[nodiscard]] fixed_claim prepare(stemma::evidence_context<Ops, Modules>&) const {
        return *this;
    }

    template <class Vertex, class Function>
    void for_each_claim(const Vertex&, Function f) const {
        f(stemma::claim{module, stemma::no_id, confidence, stemma::provenance::scope});
    }

    id module;
    float confidence;
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
    CHECK_THROWS_WITH(tag(fixed_answer{77, 1}),
                      "resolution policy: names a module that is not in the tree");
    CHECK_THROWS_WITH(tag(fixed_claim{77, 1}),
                      "evidence 'scope': claims a module that is not in the tree");
    CHECK_NOTHROW(tag(stemma::class_paths{}));
}

TEST_CASE("refuse_answer: what is inferred does not pass as evidence", "[policy_answer]") {
    using stemma::provenance;
    CHECK_NOTHROW(tag(sweeping{1, provenance::between}));
    CHECK_THROWS_WITH(tag(sweeping{0, provenance::between}),
                      "propagation policy: changes the module of an operator with evidence");
    for (const auto source : {provenance::scope, static_cast<provenance>(250)}) {
        CHECK_THROWS_WITH(tag(sweeping{1, source}), "propagation policy: names a source of "
                                                    "evidence for an operator without any");
    }
    for (const auto source :
         {provenance::between, provenance::trace, static_cast<provenance>(250)}) {
        CHECK_THROWS_WITH(tag(fixed_answer{1, 1, source}),
                          "resolution policy: names a source that makes no claim");
    }
    CHECK_THROWS_WITH(tag(fixed_answer{1, 1, provenance::scope, 7}),
                      "resolution policy: names a call that no source claims");
}

TEST_CASE("refuse_answer: a confidence is between 0 and 1", "[policy_answer]") {
    const std::string reason = "gives a confidence that is not between 0 and 1";
    for (const float confidence : {-0.1F, 1.5F, std::numeric_limits<float>::quiet_NaN()}) {
        CHECK_THROWS_WITH(tag(careless{confidence}), "propagation policy: " + reason);
        CHECK_THROWS_WITH(tag(fixed_answer{0, confidence}), "resolution policy: " + reason);
        CHECK_THROWS_WITH(tag(fixed_claim{0, confidence}), "evidence 'scope': " + reason);
    }
    for (const float confidence : {0.F, 1.F}) {
        CHECK_NOTHROW(tag(careless{confidence}));
        CHECK_NOTHROW(tag(fixed_answer{0, confidence}));
        CHECK_NOTHROW(tag(fixed_claim{0, confidence}));
    }
}

} // namespace test::core_detail_policy_name
