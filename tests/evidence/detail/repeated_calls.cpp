// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/repeated_calls.hpp>

#include "../../catch.hpp"
#include "../../weighted_operators.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scope_weights.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::evidence_detail_repeated_calls {

using stemma::id;
using stemma::no_id;

namespace {

/// @returns how the numbered scopes in `/a` compare for `/a_1`: alike, others, unknown.
std::vector<std::size_t> compared(const std::vector<std::pair<std::string, std::string>>& reads) {
    test::weighted_operators ops;
    for (const auto& [name, weight] : reads) {
        const auto v = ops.add({}, name + "/MatMul", "MatMul");
        if (!weight.empty()) {
            ops.read_parameter(v, weight);
        }
    }
    ops.add({}, "/a_1/Add", "Add");
    const auto table = stemma::detail::collect_scopes(ops);
    const stemma::detail::scope_weights weights(ops, table);
    const auto inside = stemma::detail::scopes_inside(table);
    const auto s = table.scope_of.back();
    const auto result = stemma::detail::inner_calls(table, inside)
                            .compare(
                                stemma::detail::unnumbered_scope(table, s), s, weights,
                                [&](id t) { return stemma::detail::unnumbered_scope(table, t); },
                                [&](id t) {
                                    const auto name = std::string(table.scopes[t].instance());
                                    return table.find(table.scopes[t].parent, name + "_1") != no_id;
                                },
                                [](id) { return no_id; });
    return {result.alike, result.others, result.unknown};
}

using counts = std::vector<std::size_t>;
using names = std::vector<std::string>;

} // namespace

TEST_CASE("inner_calls: compares scopes with the number of the further call") {
    CHECK(compared({{"/a/q", "w"}, {"/a/q_1", "w"}, {"/a/q_2", "w"}}) == counts{1, 0, 0});
    CHECK(compared({{"/a/q", "w"}, {"/a/q_1", "v"}}) == counts{0, 1, 0});
    CHECK(compared({{"/a/q", "w"}, {"/a/q_1", ""}}) == counts{0, 0, 1});
}

TEST_CASE("inner_calls: also in scopes that are not repeated themselves") {
    CHECK(compared({{"/a/b/q", "w"}, {"/a/b/q_1", "w"}}) == counts{1, 0, 0});
    CHECK(compared({{"/a/b/q", "w"}, {"/a/b/q_1", "w"}, {"/a/b_1", ""}}) == counts{0, 0, 1});
}

namespace {

/// @returns the instances of other calls found for the scopes of operators that read weights.
std::vector<std::string> found(const std::vector<std::pair<std::string, std::string>>& reads) {
    test::weighted_operators ops;
    for (const auto& [name, weight] : reads) {
        ops.read_parameter(ops.add({}, name + "/MatMul", "MatMul"), weight);
    }
    const auto table = stemma::detail::collect_scopes(ops);
    const stemma::detail::scope_weights weights(ops, table);
    const stemma::detail::headless_calls calls(table, weights);
    std::vector<std::string> result;
    for (const auto s : table.scope_of) {
        const auto other = calls.other_call(s);
        result.emplace_back(other == stemma::no_id ? "" : table.scopes[other].instance());
    }
    return result;
}

} // namespace

TEST_CASE("headless_calls: finds calls without a first that read the same weight") {
    CHECK(found({{"/fc_1", "w"}, {"/fc_2", "w"}, {"/fc_3", "w"}}) == names{"fc_2", "fc_1", "fc_1"});
    CHECK(found({{"/fc_2", "w"}, {"/fc_1", "w"}}) == names{"fc_1", "fc_2"});
}

TEST_CASE("headless_calls: not others, those of another module, or if the first is there") {
    CHECK(found({{"/fc_1", "w"}, {"/fc_2", "v"}}) == names{"", ""});
    CHECK(found({{"/fc_1", "w"}, {"/up_2", "w"}}) == names{"", ""});
    CHECK(found({{"/a/fc_1", "w"}, {"/b/fc_2", "w"}}) == names{"", ""});
    CHECK(found({{"/fc", "w"}, {"/fc_1", "w"}, {"/fc_2", "w"}}) == names{"", "", ""});
}

} // namespace test::evidence_detail_repeated_calls
