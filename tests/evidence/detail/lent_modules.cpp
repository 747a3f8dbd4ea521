// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/lent_modules.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::evidence_detail_lent_modules {

using stemma::id;
using stemma::no_id;

namespace {

/// The modules of scopes, some of which are known.
struct lent_scene {
    /// `names` are those of operators; `scopes` are modules shown for the scopes of some.
    lent_scene(const std::vector<std::string>& names,
               const std::vector<std::pair<std::string, std::string>>& scopes)
        : tree(test::tree_of({"block.conv", "block.norm", "block.net.fc", "block.ffn.w_1",
                              "block.ffn.w_2", "block.list.0.fc", "block.list.2", "other.conv",
                              "last.ffn.w_1", "last.ffn.w_2", "block.wrap.norm"})) {
        for (const auto& name : names) {
            ops.add({}, name, name.substr(name.rfind('/') + 1));
        }
        table = stemma::detail::collect_scopes(ops);
        modules.resize(table.scopes.size());
        modules[0].module = 0;
        for (const auto& [scope, path] : scopes) {
            modules[find(scope)].module = test::module_at(tree, path);
        }
    }

    [[nodiscard]] id find(const std::string& scope) const {
        id s = 0;
        for (std::size_t begin = 0; begin < scope.size();) {
            const auto end = std::min(scope.find('/', begin), scope.size());
            s = table.find(s, std::string_view(scope).substr(begin, end - begin));
            begin = end + 1;
        }
        return s;
    }

    /// @returns who owns what runs in a scope, "?" if that is the module around it.
    [[nodiscard]] std::string owner(const std::string& scope) const {
        const auto m = lent().owner(find(scope));
        return m == no_id ? "?" : tree.path(m);
    }

    [[nodiscard]] std::string elsewhere(const std::string& scope) const {
        const auto m = lent().elsewhere(find(scope));
        return m == no_id ? "?" : tree.path(m);
    }

    [[nodiscard]] std::string unprinted(const std::string& scope) const {
        const auto m = lent().unprinted(find(scope));
        return m == no_id ? "?" : tree.path(m);
    }

    [[nodiscard]] bool may_be_deeper(const std::string& scope) const {
        return lent().surest(find(scope)) < 1;
    }

    stemma::module_tree tree;
    test::operator_scene ops;
    stemma::detail::scope_table table;
    std::vector<stemma::detail::scope_module> modules;

private:
    [[nodiscard]] stemma::detail::lent_modules<stemma::module_tree> lent() const {
        return {table, tree, modules, [&] { return stemma::detail::find_computing(ops, table); }};
    }
};

} // namespace

TEST_CASE("lent_modules: what a container calls belongs to the module around") {
    const lent_scene one({"/block/net/conv/Conv", "/block/net/act/Relu"},
                         {{"block", "block"}, {"block/net/conv", "block.conv"}});
    CHECK(one.owner("block/net/act") == "block");
    CHECK(one.owner("block/net/conv") == "?");
    const lent_scene two(
        {"/block/net/conv/Conv", "/block/net/norm/Mul", "/block/net/act/Relu"},
        {{"block", "block"}, {"block/net/conv", "block.conv"}, {"block/net/norm", "block.norm"}});
    CHECK(two.owner("block/net/act") == "block");
}

TEST_CASE("lent_modules: weights computed in a scope do not count") {
    test::operator_scene ops;
    const auto constant = ops.add_constant();
    const auto norm = ops.add({constant}, "/a/ReduceL2", "ReduceL2");
    ops.read_parameter(norm, "a.conv.weight_v");
    const auto weight = ops.add({norm, constant}, "/a/Mul", "Mul");
    const auto input = ops.add({}, "/b/Add", "Add");
    const auto conv = ops.add({input, weight}, "/a/conv/Conv", "Conv");
    ops.add({conv, weight}, "/c/Add", "Add");
    const auto table = stemma::detail::collect_scopes(ops);
    const auto computing = stemma::detail::find_computing(ops, table);
    CHECK_FALSE(computing[table.find(0, "a")]);
    CHECK(computing[table.find(0, "b")]);
    CHECK(computing[table.find(0, "c")]);
}

TEST_CASE("lent_modules: not if the container computes, owns some, or another module does") {
    const lent_scene computes({"/block/net/conv/Conv", "/block/net/act/Relu", "/block/net/Add"},
                              {{"block", "block"}, {"block/net/conv", "block.conv"}});
    CHECK(computes.owner("block/net/act") == "?");
    const lent_scene owns(
        {"/block/net/conv/Conv", "/block/net/act/Relu", "/block/net/fc/Gemm"},
        {{"block", "block"}, {"block/net/conv", "block.conv"}, {"block/net/fc", "block.net.fc"}});
    CHECK(owns.owner("block/net/act") == "?");
    const lent_scene other({"/block/net/conv/Conv", "/block/net/act/Relu"},
                           {{"block", "block"}, {"block/net/conv", "other.conv"}});
    CHECK(other.owner("block/net/act") == "?");
    CHECK(lent_scene({"/block/net/act/Relu"}, {{"block", "block"}}).owner("block/net/act") == "?");
}

TEST_CASE("lent_modules: what runs between two modules of another one is that one's, too") {
    const std::vector<std::string> names{"/wrap/norm/Add", "/wrap/w_1/Gemm", "/wrap/act/Relu",
                                         "/wrap/w_2/Gemm", "/wrap/drop/Mul"};
    const lent_scene scene(names, {{"wrap", "block.wrap"},
                                   {"wrap/norm", "block.wrap.norm"},
                                   {"wrap/w_1", "block.ffn.w_1"},
                                   {"wrap/w_2", "block.ffn.w_2"}});
    CHECK(scene.owner("wrap/act") == "block.ffn");
    CHECK(scene.owner("wrap/drop") == "?");
    CHECK(scene.elsewhere("wrap") == "?");
    const lent_scene inside(
        names, {{"wrap", "block"}, {"wrap/w_1", "block.ffn.w_1"}, {"wrap/w_2", "block.ffn.w_2"}});
    CHECK(inside.owner("wrap/act") == "?");
    const lent_scene two(
        names,
        {{"wrap", "block.wrap"}, {"wrap/w_1", "block.ffn.w_1"}, {"wrap/w_2", "last.ffn.w_2"}});
    CHECK(two.owner("wrap/act") == "?");
}

TEST_CASE("lent_modules: calls of one module say nothing about what runs between them") {
    const lent_scene scene(
        {"/wrap/norm/Mul", "/wrap/act/Relu", "/wrap/norm_1/Mul"},
        {{"wrap", "other"}, {"wrap/norm", "block.norm"}, {"wrap/norm_1", "block.norm"}});
    CHECK(scene.owner("wrap/act") == "?");
}

TEST_CASE("lent_modules: a scope is the module elsewhere that owns what runs in it, by its name") {
    const std::vector<std::string> names{"/wrap/ffn/w_1/Gemm",   "/wrap/ffn/act/Relu",
                                         "/wrap/ffn/w_2/Gemm",   "/wrap/ffn/w_1_1/Gemm",
                                         "/wrap/ffn/act_1/Relu", "/wrap/ffn/w_2_1/Gemm"};
    const lent_scene scene(names, {{"wrap", "block.wrap"},
                                   {"wrap/ffn/w_1", "block.ffn.w_1"},
                                   {"wrap/ffn/w_2", "block.ffn.w_2"},
                                   {"wrap/ffn/w_1_1", "last.ffn.w_1"},
                                   {"wrap/ffn/w_2_1", "last.ffn.w_2"}});
    CHECK(scene.elsewhere("wrap/ffn") == "block.ffn");
    CHECK(scene.owner("wrap/ffn/act") == "block.ffn");
    CHECK(scene.owner("wrap/ffn/act_1") == "last.ffn");
    const lent_scene renamed(names, {{"wrap", "block.wrap"},
                                     {"wrap/ffn/w_1", "block.ffn.w_1"},
                                     {"wrap/ffn/w_2", "block.conv"}});
    CHECK(renamed.elsewhere("wrap/ffn") == "?");
}

TEST_CASE("lent_modules: members of a list belong to the owner of the list") {
    const lent_scene scene(
        {"/wrap/list.0/Gemm", "/wrap/act/Relu", "/wrap/conv/Conv"},
        {{"wrap", "other"}, {"wrap/list.0", "block.list.0"}, {"wrap/conv", "block.conv"}});
    CHECK(scene.owner("wrap/act") == "block");
}

TEST_CASE("lent_modules: members that are called in the scope of their list are not lent") {
    const lent_scene scene(
        {"/list/list.0/Gemm", "/list/list.1/Relu", "/list/list.2/Gemm"},
        {{"list", "block.list"}, {"list/list.0", "block.list.0"}, {"list/list.2", "block.list.2"}});
    CHECK(scene.owner("list/list.1") == "?");
}

TEST_CASE("lent_modules: a model that calls a method of a module calls what that owns") {
    const std::vector<std::string> names{"/act/Relu", "/w_0/Gemm", "/w_1/w_3/Gemm",
                                         "/w_2/Gemm", "/w2/Gemm",  "/w3/Gemm"};
    const auto owner_in = [&](const std::vector<std::pair<std::string, std::string>>& scopes,
                              const char* scope) {
        return lent_scene(names, scopes).unprinted(scope);
    };
    CHECK(owner_in({{"w2", "block.ffn.w_2"}}, "act") == "block.ffn"); // w3 is where w2 is
    CHECK(owner_in({{"w2", "block.ffn.w_2"}}, "w3") == "block.ffn");
    CHECK(owner_in({{"w_2", "block.ffn.w_2"}}, "act") == "?"); // may be calls
    CHECK(owner_in({{"w2", "block.ffn.w_2"}, {"w3", "block.ffn.w_1"}}, "act") == "?");
    CHECK(owner_in({{"w2", "block.ffn.w_2"}, {"w_0", "block.conv"}}, "act") == "?");
    CHECK(owner_in({{"w2", "block.ffn.w_2"}, {"w_0", "block.conv"}}, "w3") == "block.ffn");
    CHECK(owner_in({{"w2", "block"}}, "act") == "?"); // the model's own
    const lent_scene members({"/list.0/Gemm", "/list.1/Relu"}, {{"list.0", "block.list.0"}});
    CHECK(members.unprinted("list.1") == "?"); // may be of another list with that name
    CHECK(owner_in({}, "act") == "?");
}

TEST_CASE("lent_modules: what runs between calls of a deeper module may be deeper") {
    const lent_scene scene({"/w_1/Gemm", "/act/Relu", "/w_2/Gemm", "/end/Relu"},
                           {{"w_1", "block.ffn.w_1"}, {"w_2", "block.ffn.w_2"}});
    CHECK(scene.may_be_deeper("act"));
    CHECK_FALSE(scene.may_be_deeper("end"));
    CHECK_FALSE(scene.may_be_deeper("w_1"));
    const lent_scene own({"/block/Gemm", "/act/Relu", "/other/Gemm"},
                         {{"block", "block"}, {"other", "other"}});
    CHECK_FALSE(own.may_be_deeper("act"));
}

} // namespace test::evidence_detail_lent_modules
