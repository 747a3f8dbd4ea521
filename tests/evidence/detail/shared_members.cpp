// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/shared_members.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_shared_members {

using stemma::id;

namespace {

/// @returns what `find` returns for the scope of the last operator.
template <class Find>
std::string found(const std::vector<std::string>& names, Find find) {
    test::operator_scene ops;
    for (const auto& name : names) {
        ops.add({}, name, name.substr(name.rfind('/') + 1));
    }
    const auto table = stemma::detail::collect_scopes(ops);
    auto s = find(stemma::detail::shared_members(table), table.scope_of.back());
    if (s == stemma::no_id) {
        return "none";
    }
    std::string path;
    for (; s >= stemma::detail::scope_style_count; s = table.scopes[s].parent) {
        path = "/" + std::string(table.scopes[s].instance()) + path;
    }
    return path;
}

/// @returns the scope in which the module of the last operator's scope ran outside a sequence.
std::string outside(const std::vector<std::string>& names) {
    return found(names, [](const auto& members, id s) { return members.outside(s); });
}

/// @returns the scope of the module that holds that of the last operator's scope.
std::string holder(const std::vector<std::string>& names) {
    return found(names, [](const auto& members, id s) { return members.holder(s); });
}

} // namespace

TEST_CASE("shared_members: what has no number in a sequence is a module around it") {
    CHECK(outside({"/act/Relu", "/body/body.0/Gemm", "/body/act/Relu"}) == "/act");
    CHECK(outside({"/m/act/Relu", "/m/body/body.0/body.0.1/Gemm", "/m/body/body.0/act/Relu"}) ==
          "/m/act");
}

TEST_CASE("shared_members: not what has a number, another operator or no sequence around it") {
    CHECK(outside({"/act/Relu", "/body/act/Relu", "/body/body.0/Relu"}) == "none");
    CHECK(outside({"/act/Tanh", "/body/body.0/Gemm", "/body/act/Relu"}) == "none");
    CHECK(outside({"/act/Relu", "/body/fc/Gemm", "/body/act/Relu"}) == "none");
    CHECK(outside({"/act/Relu", "/body/body.0/Gemm", "/body/Add", "/body/act/Relu"}) == "none");
    CHECK(outside({"/body/body.0/Gemm", "/body/act/Relu"}) == "none");
}

TEST_CASE("shared_members: a number may tell who holds what runs in a sequence alone") {
    CHECK(holder({"/m/norm1/Mul", "/m/down/down.0/Conv", "/m/down/norm2/Mul"}) == "/m");
    CHECK(holder({"/norm1/Mul", "/m/down/down.0/Conv", "/m/down/norm2/Mul"}).empty());
    CHECK(holder({"/m/norm1/Add", "/m/down/down.0/Conv", "/m/down/norm2/Mul"}) == "none");
    CHECK(holder({"/m/act1/Mul", "/m/down/down.0/Conv", "/m/down/norm2/Mul"}) == "none");
    CHECK(holder({"/m/norm/Mul", "/m/down/down.0/Conv", "/m/down/norm_1/Mul"}) == "none");
    CHECK(holder({"/m/norm1/Mul", "/m/down/conv/Conv", "/m/down/norm2/Mul"}) == "none");
}

TEST_CASE("shared_members: a missing number shows that a sequence runs a module around it") {
    CHECK(holder({"/m/Add", "/m/body/body.0/Conv", "/m/body/act/Relu", "/m/body/body.2/Conv",
                  "/m/body/act_1/Relu"}) == "/m");
    // One of that name and type elsewhere is enough, and sequences in sequences hold nothing.
    CHECK(holder({"/body/body.0/Conv", "/body/act/Relu", "/body/body.2/Conv", "/m/m.0/m.0.0/Conv",
                  "/m/m.0/act/Relu"})
              .empty());
    CHECK(holder({"/body/body.0/Conv", "/body/act/Tanh", "/body/body.2/Conv", "/m/m.0/Conv",
                  "/m/act/Relu"}) == "none");
    CHECK(holder({"/body/body.1/Conv", "/body/body.0/Conv", "/body/act/Relu"}) == "none");
    CHECK(holder({"/body/body.1/Conv", "/body/act/Relu", "/body/body.2/Conv", "/m/m.0/Conv",
                  "/m/act/Relu"}) == "none");
}

TEST_CASE("shared_members: the members of a list may each run in another module") {
    CHECK(holder({"/m/a/list.0/MatMul", "/m/b/list.1/MatMul"}) == "/m");
    CHECK(holder({"/m/b/list.1/MatMul", "/m/a/list.0/MatMul"}) == "/m");
    CHECK(holder({"/m/a/list.1/MatMul", "/m/b/list.2/MatMul"}) == "none"); // one is missing
    CHECK(holder({"/m/a/list.0/MatMul", "/m/b/list.0/MatMul", "/m/b/list.1/MatMul"}) == "none");
    CHECK(holder({"/m/a/list.0/MatMul", "/m/a/list.1/MatMul"}) == "none");
    CHECK(holder({"/m/list/list.0/MatMul", "/m/b/list.1/MatMul"}) == "none");
    CHECK(holder({"/a/list.0/MatMul", "/m/b/list.1/MatMul"}) == "none");
}

} // namespace test::evidence_detail_shared_members
