// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/part_repeated.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace test::evidence_detail_part_repeated {

using stemma::id;
using stemma::no_id;
using parted_operators = std::vector<std::string>;

namespace {

/// Operators in a line, with scopes in their names. Scopes called `act` are module 1, `act_1` and
/// its calls module 2, `act_2` module 3.
struct scene {
    explicit scene(const std::vector<std::string>& names) {
        std::vector<id> before;
        for (const auto& name : names) {
            const auto type = name.substr(name.rfind('/') + 1);
            before.assign(1, ops.add(before, name, type.substr(0, type.find('_'))));
        }
    }

    /// Returns: the names of the operators given to module 1, which ran so often.
    [[nodiscard]] parted_operators part(id calls) {
        table = stemma::detail::collect_scopes(ops);
        std::vector<stemma::detail::scope_module> of_scope(table.scopes.size());
        for (id s = 0; s < of_scope.size(); ++s) {
            const std::string name(table.scopes[s].instance());
            of_scope[s].module = name.empty() || name == "fc"   ? 0
                                 : name == "act"                ? 1
                                 : name.substr(0, 5) == "act_1" ? 2
                                                                : 3;
        }
        std::unordered_map<id, stemma::detail::scope_module> of_operator;
        stemma::detail::repeated_parter(ops, table, of_scope)
            .run([&](id m) { return m == 1           ? calls
                                    : calls == no_id ? no_id
                                                     : id{1}; },
                 of_operator);
        parted_operators names;
        for (const auto& [v, place] : of_operator) {
            CHECK(place.module == 1);
            names.emplace_back(ops.name(v));
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    test::operator_scene ops;
    stemma::detail::scope_table table;
};

} // namespace

TEST_CASE("repeated_parter: a scope holds a further call of one module and the first of another") {
    scene alone({"/act/Relu", "/act_1/Relu", "/act_1/Sigmoid"});
    CHECK(alone.part(2) == parted_operators{"/act_1/Relu"});
    CHECK(alone.part(1).empty()); // it has as many scopes
    CHECK(alone.part(no_id).empty());
    scene again({"/act/Relu", "/act_1/Relu", "/act_1/Sigmoid", "/act_1_1/Sigmoid"});
    CHECK(again.part(2) == parted_operators{"/act_1/Relu"});
    CHECK(again.part(no_id) == parted_operators{"/act_1/Relu"});
    CHECK(again.part(1).empty());
    scene other({"/act/Relu", "/act_1/Relu", "/act_1/Sigmoid", "/act_1_1/Tanh"});
    CHECK(other.part(no_id).empty());
    scene second({"/act/Relu", "/act_2/Relu", "/act_2/Sigmoid"});
    CHECK(second.part(3) == parted_operators{"/act_2/Relu"});
    CHECK(second.part(2).empty()); // its number is not that of a call
}

TEST_CASE("repeated_parter: what only the operators of a further call read goes with them") {
    scene clipped({"/act/Relu", "/act_1/Constant", "/act_1/Relu", "/act_1/Sigmoid"});
    CHECK(clipped.part(2) == parted_operators{"/act_1/Constant", "/act_1/Relu"});
}

TEST_CASE("repeated_parter: not if operators cannot be told apart, read parameters, or are all") {
    CHECK(scene({"/act/Relu", "/act_1/Relu_1", "/act_1/Relu_2"}).part(2).empty());
    CHECK(scene({"/act/Relu", "/act/Mul", "/act_1/Relu", "/act_1/Sigmoid"}).part(2).empty());
    CHECK(scene({"/act/Relu", "/act_1/Relu"}).part(2).empty());
    CHECK(scene({"/act/Relu", "/act/fc/Mul", "/act_1/Relu", "/act_1/Sigmoid"}).part(2).empty());
    scene weighted({"/act/PRelu", "/act_1/PRelu", "/act_1/Sigmoid"});
    weighted.ops.read_parameter(1, "act.weight");
    CHECK(weighted.part(2).empty());
}

TEST_CASE("part_beginnings: what only another module's operators read belongs to that") {
    test::operator_scene ops;
    const auto data = ops.add({}, "/pre/Relu", "Relu");
    const auto mean = ops.add({data}, "/a/ReduceMean", "ReduceMean");
    const auto sub = ops.add({data, mean}, "/a/Sub", "Sub");
    const auto own = ops.add({sub}, "/a/Gemm", "Gemm");
    const auto act = ops.add({own}, "/a/Tanh", "Tanh");
    const auto shared = ops.add({data}, "/a/Neg", "Neg");
    const auto mul = ops.add({sub, act, shared}, "/a/Mul", "Mul");
    ops.add({shared}, "/a/Abs", "Abs");
    const auto table = stemma::detail::collect_scopes(ops);
    std::vector<bool> reads_own(ops.size());
    reads_own[act] = true;
    std::unordered_map<stemma::id, stemma::detail::scope_module> parted;
    parted[mul].module = 7;
    parted[own].module = 7;
    stemma::detail::part_beginnings(ops, table, reads_own, parted);
    CHECK(parted.size() == 4);
    CHECK(parted.at(mean).module == 7);
    CHECK(parted.at(sub).module == 7);
}

} // namespace test::evidence_detail_part_repeated
