// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/type_pairs.hpp>

#include "../../catch.hpp"

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/align/rewritten_operators.hpp>
#include <stemma/core/id.hpp>

#include <initializer_list>
#include <vector>

namespace test::align_detail_type_pairs {

using stemma::comparable_graph;
using stemma::correspondence;
using stemma::id;

namespace {

/// A chain of operators, each with a type of its own.
comparable_graph chain(std::initializer_list<const char*> types) {
    comparable_graph graph;
    auto value = graph.add_value(stemma::comparable_graph::value_role::given, "x");
    for (const auto* const type : types) {
        const auto next = graph.add_value(stemma::comparable_graph::value_role::made, "");
        graph.add_operator({.type = type}, std::vector<id>{value}, std::vector<id>{next});
        value = next;
    }
    return graph;
}

} // namespace

TEST_CASE("type_pairs: has the lexicon's answer for each pair") {
    const auto before = chain({"MatMul", "Add", "Relu"});
    const auto after = chain({"Gemm", "Relu"});
    const stemma::detail::type_pairs types(before, after, stemma::rewritten_operators{});
    const auto type_before = [&](id op) { return before.type(op); };
    const auto type_after = [&](id op) { return after.type(op); };
    const stemma::rewritten_operators lexicon;
    for (id a = 0; a < 3; ++a) {
        for (id b = 0; b < 2; ++b) {
            CHECK(types.fit(type_before(a), type_after(b)) ==
                  lexicon.correspond(before.type_text(type_before(a)),
                                     after.type_text(type_after(b))));
        }
    }
    CHECK(types.fit(type_before(0), type_after(0)) == correspondence::head);
    CHECK(types.fit(type_before(2), type_after(0)) == correspondence::none);
    CHECK(types.equal(type_before(2), type_after(1)));
    CHECK_FALSE(types.equal(type_before(0), type_after(0)));
    CHECK(types.had(type_after(1)));
    CHECK_FALSE(types.had(type_after(0)));
}

TEST_CASE("type_pairs: knows what operators of the changed graph do") {
    const auto after = chain({"Gemm", "Cast", "Reshape", "com.microsoft.nchwc::ReorderInput"});
    const stemma::detail::type_pairs types(chain({"Relu"}), after, stemma::rewritten_operators{});
    const auto of = [&](auto ask) {
        std::vector<bool> answers;
        for (id op = 0; op < after.operator_count(); ++op) {
            answers.push_back(ask(after.type(op)));
        }
        return answers;
    };
    CHECK(of([&](id t) { return types.takes_matrices(t); }) ==
          std::vector<bool>{true, false, false, false});
    CHECK(of([&](id t) { return types.passes(t); }) == std::vector<bool>{false, true, false, true});
    CHECK(of([&](id t) { return types.lays_out(t); }) ==
          std::vector<bool>{false, false, true, false});
    CHECK(types.hash(after.type(0)) != types.hash(after.type(1)));
}

} // namespace test::align_detail_type_pairs
