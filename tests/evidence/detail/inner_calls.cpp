// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/inner_calls.hpp>

#include "../../catch.hpp"
#include "../../weighted_operators.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scope_weights.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace test::evidence_detail_inner_calls {

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

} // namespace test::evidence_detail_inner_calls
