// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/alike_calls.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/scope_modules.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_alike_calls {

using stemma::id;

namespace {

/// Operators in a line, over a tree of their parameters' owners.
struct line {
    void add(const std::string& name, const std::string& parameter = "") {
        const auto type = name.substr(name.rfind('/') + 1);
        last = ops.add(last == stemma::no_id ? std::vector<id>() : std::vector<id>{last}, name,
                       type.substr(0, type.find('_')));
        if (!parameter.empty()) {
            ops.read_parameter(last, parameter);
            builder.at_path(parameter.substr(0, parameter.rfind('.')));
        }
    }

    void grow() {
        const auto before = builder.build();
        table = stemma::detail::collect_scopes(ops);
        bound = stemma::detail::grow_scopes(
            ops, table, before, stemma::detail::find_parameter_owners(ops, before), builder);
        tree = builder.build();
    }

    /// Binds to a tree that has all modules.
    void bind(const std::vector<std::string>& others) {
        for (const auto& path : others) {
            builder.at_path(path);
        }
        tree = builder.build();
        table = stemma::detail::collect_scopes(ops);
        bound = stemma::detail::bind_scopes(ops, table, tree,
                                            stemma::detail::find_parameter_owners(ops, tree));
        is_bound = true;
    }

    [[nodiscard]] const stemma::detail::scope_module& of(id v) const {
        return bound.of(v, table.scope_of[v]);
    }
    [[nodiscard]] std::string path(id v) const {
        return tree.path(is_bound ? of(v).module : builder.rank_of(of(v).module));
    }

    stemma::module_tree_builder builder;
    test::operator_scene ops;
    id last = stemma::no_id;
    bool is_bound = false;
    stemma::detail::scope_table table;
    stemma::detail::scope_modules bound;
    stemma::module_tree tree;
};

/// The members of two lists, the second list first.
line reversed() {
    line all;
    all.builder.at_path("a.block.0");                   // defined first
    all.add("/block.0/Mul");                            // 0
    all.add("/block.0/fc/Gemm", "b.block.0.fc.weight"); // 1
    all.add("/block.0/act/Relu");                       // 2
    all.add("/block.0/Add");                            // 3
    all.add("/block.1/fc/Gemm", "b.block.1.fc.weight"); // 4
    all.add("/block.0_1/Mul");                          // 5
    all.add("/block.0/fc_1/Gemm", "a.block.0.fc.weight");
    all.add("/block.0/act_1/Relu"); // 7
    all.add("/block.0_1/Add");      // 8
    all.add("/block.1/fc_1/Gemm", "a.block.1.fc.weight");
    return all;
}

void check_reversed(const line& all) {
    CHECK(all.path(0) == "b.block.0");
    CHECK(all.path(1) == "b.block.0.fc");
    CHECK(all.of(1).caller == stemma::no_id);
    CHECK(all.path(2) == "b.block.0.act");
    CHECK(all.path(3) == "b.block.0");
    CHECK(all.path(5) == "a.block.0");
    CHECK(all.path(7) == "a.block.0.act");
    CHECK(all.path(8) == "a.block.0");
    CHECK(all.of(0).confidence < 0.9F);
}

} // namespace

TEST_CASE("alike_calls: modules that print alike are told apart by what they call") {
    auto all = reversed();
    all.grow();
    check_reversed(all);
}

TEST_CASE("alike_calls: the same where all modules are known") {
    auto all = reversed();
    all.bind({"a.block.0.act", "b.block.0.act"});
    check_reversed(all);
}

TEST_CASE("alike_calls: what does not exist in the other module stays") {
    auto all = reversed();
    all.bind({"a.block.0.act"});
    CHECK(all.path(2) == "a.block.0.act");
    CHECK(all.path(3) == "b.block.0");
}

TEST_CASE("alike_calls: in calls next to each other, each module has as many scopes") {
    line all;
    all.builder.at_path("list.0.block");
    all.add("/fc/Gemm", "head.weight");
    for (const std::string number : {"2", "0", "1"}) {
        const std::string suffix = number == "2" ? "" : number == "0" ? "_1" : "_2";
        all.add("/block/fc" + suffix + "/Gemm", "list." + number + ".block.fc.weight");
        all.add("/block" + suffix + "/Add"); // also read by the next one's
    }
    all.grow();
    CHECK(all.path(2) == "list.2.block");
    CHECK(all.path(4) == "list.0.block");
    CHECK(all.path(6) == "list.1.block");
}

TEST_CASE("alike_calls: what runs last in a call is not in the next one that reads it") {
    line all;
    for (const std::string number : {"0", "1", "2"}) {
        const std::string suffix = number == "0" ? "" : "_" + number;
        all.add("/block/fc" + suffix + "/Gemm", "list." + number + ".block.fc.weight");
        all.add("/block/act" + suffix + "/Relu");
        all.add("/block" + suffix + "/Add");
    }
    all.grow();
    for (id call = 0; call < 3; ++call) {
        const auto module = "list." + std::to_string(call) + ".block";
        CHECK(all.path(3 * call + 1) == module + ".act");
        CHECK(all.path(3 * call + 2) == module);
    }
}

TEST_CASE("alike_calls: further calls of one module are no other modules") {
    line all;
    all.add("/block/fc/Gemm", "block.fc.weight");
    all.add("/block/Add");
    all.add("/block/fc_1/Gemm", "block.fc.weight");
    all.add("/block_1/Add");
    all.grow();
    CHECK(all.path(1) == "block");
    CHECK(all.path(3) == "block");
}

} // namespace test::evidence_detail_alike_calls
