// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/structure_digest.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../random_model.hpp"
#include "../../tagged_bytes.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace test::onnx_detail_structure_digest {

namespace {

std::uint64_t digest_of(const std::string& bytes) {
    const stemma::wire_model model(bytes);
    return stemma::detail::find_digests(model).structure;
}

/// A small model, in which a test changes one thing.
struct parts {
    std::string first = "MatMul";
    std::string domain;
    test::names inputs{"x", "w"};
    test::names results{"h"};
    std::string branch_op = "Relu";
    test::names branch_results{"b"};
    bool another_node = false;

    [[nodiscard]] test::message graph() const {
        const auto branch =
            test::graph({test::node(branch_op, {"h"}, {"b"}), test::node("Abs", {"b"}, {"a"})}, {},
                        branch_results);
        auto graph = test::graph(
            {test::node(first, inputs, results, "/fc/MatMul", domain),
             test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", branch)})},
            {"x", "c"}, {"y"}, {"w"});
        if (another_node) {
            graph.inner(1, test::node("Identity", {"y"}, {"z"}));
        }
        return graph;
    }
    [[nodiscard]] std::uint64_t digest() const { return digest_of(test::model(graph()).bytes()); }
};

} // namespace

TEST_CASE("structure_digest: names, weights, attributes and metadata do not matter") {
    const auto message = [](const std::string& p, const test::message& weights,
                            const test::message& more) {
        auto graph = test::graph({test::node("MatMul", {p + "x", p + "w"}, {p + "h"}, p + "n"),
                                  test::node("Relu", {p + "h"}, {p + "y"}).append(more)},
                                 {p + "x"}, {p + "y"});
        return test::model(graph.inner(5, weights)).bytes();
    };
    const auto plain = message("", test::tensor("w"), {});
    const auto expected = digest_of(plain);
    CHECK(digest_of(message("renamed", test::tensor("renamedw"), {})) == expected);
    CHECK(digest_of(message("", test::tensor("w", {7, 7}, "other weights"), {})) == expected);
    CHECK(digest_of(message("", test::tensor("w"),
                            test::message().inner(5, test::text_attribute("axis", "1")))) ==
          expected);
    CHECK(digest_of(message("", test::tensor("w"),
                            test::message().text(6, "doc").inner(9, test::entry("k", "v")))) ==
          expected);
    CHECK(digest_of(plain + test::message().inner(14, test::entry("k", "v")).bytes()) == expected);
}

TEST_CASE("structure_digest: renamed copies of the fixtures have the digest of the original") {
    for (const auto* name : {"bert_micro", "control_flow", "scripted_children", "two_tower"}) {
        const auto digest = [&](const char* file) {
            return digest_of(test::read_bytes(test::fixture(std::string(name) + file)));
        };
        CAPTURE(name);
        CHECK(digest("/model.onnx") == digest("/unnamed.onnx"));
        CHECK(digest("/model.onnx") == digest("/anonymous.onnx"));
    }
}

TEST_CASE("structure_digest: tagging does not change it") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto bytes = test::random_model(seed, true).bytes();
        CHECK(digest_of(test::tag(bytes, test::carriers_of(31))) == digest_of(bytes));
    }
}

TEST_CASE("structure_digest: operators and wiring matter") {
    const parts original;
    std::set<std::uint64_t> digests{original.digest()};
    std::size_t changes = 1;
    const auto change = [&](auto edit) {
        auto changed = original;
        edit(changed);
        digests.insert(changed.digest());
        CHECK(digests.size() == ++changes);
    };
    change([](parts& p) { p.first = "Gemm"; });
    change([](parts& p) { p.domain = "other"; });
    change([](parts& p) { p.inputs = {"x", "c"}; });
    change([](parts& p) { p.inputs = {"x", "w", ""}; });
    change([](parts& p) { p.inputs = {"x"}; });
    change([](parts& p) { p.results = {"h", "unread"}; });
    change([](parts& p) { p.branch_op = "Tanh"; });
    change([](parts& p) { p.another_node = true; });
    change([](parts& p) { p.branch_results = {"a"}; });
    change([](parts& p) { p.branch_results = {"b", "a"}; });
    change([](parts& p) { p.branch_results = {}; });
}

TEST_CASE("find_digests: names of what nodes compute count apart") {
    const auto digests = [](const std::string& first, const std::string& second,
                            const std::string& input) {
        const auto bytes = test::model(test::graph({test::node("Relu", {input}, {first}),
                                                    test::node("Relu", {input}, {second}),
                                                    test::node("Add", {first, second}, {"c"})}))
                               .bytes();
        return stemma::detail::find_digests(stemma::wire_model(bytes));
    };
    const auto original = digests("a", "b", "x");
    CHECK(digests("a", "b", "y") == original);
    for (const auto& changed : {digests("b", "a", "x"), digests("a", "d", "x")}) {
        CHECK(changed.structure == original.structure);
        CHECK(changed.names != original.names);
    }
}

TEST_CASE("find_digests: names of nodes count apart, those that stemma gave as none") {
    const auto digests = [](const test::message& node) {
        const auto bytes = test::model(test::graph({node})).bytes();
        return stemma::detail::find_digests(stemma::wire_model(bytes));
    };
    const auto named = [&](const char* name, const char* given = nullptr) {
        auto node = test::node("Relu", {"x"}, {"y"}, name);
        if (given != nullptr) {
            node.inner(9, test::entry(stemma::detail::node_name_key, given));
        }
        return digests(node);
    };
    const auto original = named("a");
    CHECK(named("a", "b") == original);
    for (const auto& changed : {named("b"), named("")}) {
        CHECK(changed.structure == original.structure);
        CHECK(changed.names == original.names);
        CHECK(changed.node_names != original.node_names);
    }
    CHECK(named("Relu_0", "Relu_0") == named(""));
    CHECK_FALSE(named("Relu_0", "Relu_1") == named(""));
    CHECK_FALSE(named("Relu_0") == named(""));
}

TEST_CASE("structure_digest: a part has the digest of its nodes in the whole") {
    const auto whole =
        test::model(
            test::graph({test::node("Relu", {"x"}, {"a"}), test::node("MatMul", {"a", "w"}, {"b"}),
                         test::node("Add", {"b", "a"}, {"c"}), test::node("Tanh", {"c"}, {"d"})}))
            .bytes();
    const auto part = test::model(test::graph({test::node("MatMul", {"in", "w"}, {"b"}),
                                               test::node("Add", {"b", "in"}, {"c"})}))
                          .bytes();
    const stemma::wire_model model(whole);
    const std::vector<stemma::id> nodes{1, 2};
    stemma::detail::structure_digester digest(model);
    CHECK(digest(nodes) == digest_of(part));
    CHECK(digest(nodes) != digest_of(whole));
    CHECK(digest(nodes) == digest_of(part));
}

} // namespace test::onnx_detail_structure_digest
