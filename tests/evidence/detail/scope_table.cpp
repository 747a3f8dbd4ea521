// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/scope_table.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::evidence_detail_scope_table {

using stemma::id;
using stemma::no_id;
using stemma::detail::scope_style;
using stemma::detail::split_scoped_name;

namespace {

using texts = std::vector<std::string>;

/// The segments of a scope, from its root.
texts segments_of(const stemma::detail::scope_table& table, id scope) {
    texts segments;
    for (auto s = scope; table.scopes[s].parent != no_id; s = table.scopes[s].parent) {
        segments.insert(segments.begin(), std::string(table.scopes[s].segment));
    }
    return segments;
}

/// The parts between the slashes of a scope; none for the root's, which is "".
texts parts_of(std::string_view scope) {
    texts parts;
    while (!scope.empty()) {
        const auto slash = scope.find('/');
        parts.emplace_back(scope.substr(0, slash));
        if (slash == scope.size() - 1) {
            parts.emplace_back();
        }
        scope.remove_prefix(slash == scope.npos ? scope.size() : slash + 1);
    }
    return parts;
}

} // namespace

TEST_CASE("split_count: splits a stem from a number after an underscore") {
    REQUIRE(stemma::detail::split_count("fc_12"));
    CHECK(stemma::detail::split_count("fc_12")->first == "fc");
    CHECK(stemma::detail::split_count("fc_12")->second == 12);
    CHECK(stemma::detail::split_count("conv_1_2")->first == "conv_1");
    for (const auto* text : {"fc", "_1", "fc_", "fc_x", "fc_1x", "", "fc_12345678901"}) {
        CHECK_FALSE(stemma::detail::split_count(text));
    }
}

TEST_CASE("collect_scopes: one scope for each distinct path, with its contents") {
    test::operator_scene ops;
    ops.add({}, "/enc/fc/MatMul", "MatMul");
    ops.add({}, "/enc/fc/Add", "Add");
    ops.add({}, "/enc/Relu", "Relu");
    ops.add({}, "/dec/fc/Add", "Add");
    ops.add({}, "/dec/fc/MatMul", "MatMul");
    ops.add({}, "/enc/fc/Add_1", "Add");
    ops.add({}, "nothing", "Add");
    const auto table = stemma::detail::collect_scopes(ops);
    CHECK(table.scopes.size() == stemma::detail::scope_style_count + 4);
    REQUIRE(table.scope_of.size() == ops.size());
    CHECK(segments_of(table, table.scope_of[0]) == texts{"enc", "fc"});
    CHECK(table.scope_of[1] == table.scope_of[0]);
    CHECK(table.scope_of[5] == table.scope_of[0]);
    CHECK(segments_of(table, table.scope_of[2]) == texts{"enc"});
    CHECK(segments_of(table, table.scope_of[3]) == texts{"dec", "fc"});
    CHECK(table.scope_of[6] == no_id);
    const auto& enc_fc = table.scopes[table.scope_of[0]];
    const auto& dec_fc = table.scopes[table.scope_of[3]];
    CHECK(enc_fc.operators == 3);
    CHECK(enc_fc.first_operator == 0);
    CHECK(dec_fc.operators == 2);
    CHECK(dec_fc.first_operator == 3);
    CHECK(enc_fc.kinds != dec_fc.kinds);
    CHECK(table.find(table.scope_of[2], "fc") == table.scope_of[0]);
    CHECK(table.find(table.scope_of[2], "gone") == no_id);
}

TEST_CASE("collect_scopes: scopes with equal operators are alike, in any order") {
    test::operator_scene ops;
    ops.add({}, "/fc/MatMul", "MatMul");
    ops.add({}, "/fc/Add", "Add");
    ops.add({}, "/fc_1/Add", "Add");
    ops.add({}, "/fc_1/MatMul", "MatMul");
    const auto table = stemma::detail::collect_scopes(ops);
    CHECK(table.scopes[table.scope_of[0]].kinds == table.scopes[table.scope_of[2]].kinds);
}

TEST_CASE("collect_scopes: each style has its own root") {
    test::operator_scene ops;
    ops.add({}, "/a/Add", "Add");
    ops.add({}, "a/Add_node_1", "Add");
    ops.add({}, "app.Net::/app.Block::a/Add", "Add");
    const auto table = stemma::detail::collect_scopes(ops);
    for (id v = 0; v < 3; ++v) {
        CHECK(table.scopes[table.scope_of[v]].style == static_cast<scope_style>(v));
        CHECK(table.scopes[table.scope_of[v]].instance() == "a");
    }
    CHECK(table.scopes[table.scope_of[2]].qualified_class() == "app.Block");
    CHECK(table.scopes[table.scope_of[0]].qualified_class().empty());
}

TEST_CASE("collect_scopes: constants do not distinguish calls") {
    test::operator_scene ops;
    ops.add({}, "/rnn/Constant", "Constant");
    ops.add({}, "/rnn/LSTM", "LSTM");
    ops.add({}, "/rnn_1/LSTM", "LSTM");
    const auto table = stemma::detail::collect_scopes(ops);
    CHECK(table.scopes[table.scope_of[0]].kinds == table.scopes[table.scope_of[2]].kinds);
}

TEST_CASE("collect_scopes: remains of a replaced operator's name count for no module") {
    test::operator_scene ops;
    ops.add({}, "/enc/fc/MatMul/MatMulAddFusion", "Gemm");
    ops.add({}, "/enc/fc/Relu", "Relu");
    const auto table = stemma::detail::collect_scopes(ops);
    CHECK(table.scope_of[0] == table.scope_of[1]);
    CHECK(table.leftover == std::vector<id>{0});
    CHECK(table.scopes[table.scope_of[0]].operators == 1);
    CHECK(table.scopes[table.scope_of[0]].first_operator == 1);
}

TEST_CASE("collect_scopes: is independent of the number of threads") {
    test::random_numbers random(8);
    const std::vector<std::string> parts{"a", "b", "ab", "a.0", "a_1", "c/", "x::y"};
    for (int round = 0; round < 200; ++round) {
        test::operator_scene ops;
        for (auto n = random(40); n > 0; --n) {
            std::string name = random.one_in(4) ? "m" : random.one_in(8) ? "fused " : "";
            for (auto i = random(4); i > 0; --i) {
                name += "/" + parts[random(parts.size())];
            }
            ops.add({}, name + "/Add_" + std::to_string(random(3)),
                    random.one_in(3) ? "Mul" : "Add");
        }
        const auto one = stemma::detail::collect_scopes(ops);
        for (const unsigned most : {2U, 5U}) {
            const stemma::thread_scope threads({most, 1});
            const auto several = stemma::detail::collect_scopes(ops);
            REQUIRE(several.scope_of == one.scope_of);
            REQUIRE(several.leftover == one.leftover);
            REQUIRE(several.problems.size() == one.problems.size());
            for (std::size_t i = 0; i < one.problems.size(); ++i) {
                CHECK(several.problems[i].node == one.problems[i].node);
            }
            REQUIRE(several.scopes.size() == one.scopes.size());
            for (id s = 0; s < one.scopes.size(); ++s) {
                const auto& a = one.scopes[s];
                const auto& b = several.scopes[s];
                REQUIRE(a.parent == b.parent);
                REQUIRE(a.segment == b.segment);
                REQUIRE(a.first_operator == b.first_operator);
                REQUIRE(a.operators == b.operators);
                REQUIRE(a.kinds == b.kinds);
                REQUIRE(a.style == b.style);
                REQUIRE((a.parent == no_id || several.find(a.parent, a.segment) == s));
            }
        }
    }
}

TEST_CASE("collect_scopes: agrees with splitting every name separately, in any order") {
    test::random_numbers random(31);
    const std::vector<std::string> parts{"a", "b", "ab", "a.0", "", "a_1"};
    for (int round = 0; round < 200; ++round) {
        test::operator_scene ops;
        for (auto n = 1 + random(30); n > 0; --n) {
            std::string name = random.one_in(4) ? "m" : "";
            for (auto i = random(4); i > 0; --i) {
                name += "/" + parts[random(parts.size())];
            }
            ops.add({}, name + "/Add_" + std::to_string(random(3)), "Add");
        }
        const auto table = stemma::detail::collect_scopes(ops);
        std::map<std::pair<scope_style, std::string>, id> numbers;
        for (id v = 0; v < ops.size(); ++v) {
            const auto split = split_scoped_name(ops.name(v), "Add");
            REQUIRE(split);
            const auto s = table.scope_of[v];
            REQUIRE(segments_of(table, s) == parts_of(split->scope));
            REQUIRE(table.scopes[s].style == split->style);
            const auto [entry, added] =
                numbers.emplace(std::pair(split->style, std::string(split->scope)), s);
            REQUIRE(entry->second == s);
        }
        for (id s = stemma::detail::scope_style_count; s < table.scopes.size(); ++s) {
            REQUIRE(table.scopes[s].parent < s);
        }
    }
}

TEST_CASE("scope_table: knows which scopes have others inside") {
    test::operator_scene ops;
    ops.add({}, "/enc/fc/Add", "Add");
    const auto table = stemma::detail::collect_scopes(ops);
    const auto encloses = stemma::detail::find_enclosing(table);
    const auto outer = table.find(0, "enc");
    CHECK(encloses[0]);
    CHECK(encloses[outer]);
    CHECK_FALSE(encloses[table.find(outer, "fc")]);
}

} // namespace test::evidence_detail_scope_table
