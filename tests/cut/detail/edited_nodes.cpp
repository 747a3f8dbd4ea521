// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/edited_nodes.hpp>

#include "../../catch.hpp"
#include "../../edited_split.hpp"
#include "../../refusal.hpp"

#include <stemma/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace test::cut_detail_edited_nodes {

namespace {

std::vector<std::string> names_in_order(const test::edited_split& split) {
    const auto folder = split.open();
    const stemma::detail::edited_tensors tensors(*folder);
    const stemma::detail::edited_nodes nodes(*folder, tensors);
    std::vector<std::string> names;
    for (const auto& at : nodes.in_order()) {
        names.emplace_back(folder->parts()[at.part].model->name(at.node));
    }
    return names;
}

bool is_refused(const test::edited_split& split, std::string_view reason) {
    const std::string text = test::refusal([&] { return names_in_order(split); }).what();
    return text.find(reason) != text.npos;
}

} // namespace

TEST_CASE("edited_nodes: without changes, the nodes are the original ones",
          "[onnx][edited_nodes]") {
    CHECK(names_in_order(test::edited_split()) ==
          std::vector<std::string>{"k", "n1", "n2", "n3", "n4", "n5"});
}

TEST_CASE("edited_nodes: nodes of an edited part follow their producers", "[onnx][edited_nodes]") {
    test::edited_split split;
    // The part's last result is read by its earlier nodes.
    split.add_to_graph(0, test::message().inner(1, test::node("Neg", {"x"}, {"n"}, "new")));
    split.replace(0, "\x0a\x01x\x0a\x01w", "\x0a\x01n\x0a\x01w");
    const auto names = names_in_order(split);
    const auto at = [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) - names.begin();
    };
    REQUIRE(names.size() == 7);
    CHECK(at("new") < at("n1"));
    CHECK(at("n1") < at("n2"));
    CHECK(at("n2") < at("n3"));
}

TEST_CASE("edited_nodes: parts that no longer fit together are refused", "[onnx][edited_nodes]") {
    CHECK(is_refused(test::edited_split().add_to_graph(
                         1, test::message().inner(1, test::node("Neg", {"gone"}, {"n"}))),
                     "reads 'gone', which no part produces"));
    CHECK(is_refused(test::edited_split().add_to_graph(
                         1, test::message().inner(1, test::node("Neg", {"d"}, {"a"}))),
                     "produces 'a'"));
    CHECK(is_refused(test::edited_split().add_to_graph(
                         0, test::message().inner(1, test::node("Neg", {"o"}, {"o"}))),
                     "in a cycle"));
    // Removes what another part reads.
    CHECK(is_refused(test::edited_split().replace(0,
                                                  "\x12\x01"
                                                  "a",
                                                  "\x12\x01"
                                                  "z"),
                     "reads 'a', which no part produces"));
    CHECK(is_refused(test::edited_split().replace(1, "\x12\x01y", "\x12\x01z"),
                     "no part produces the model's output 'y'"));
    CHECK(is_refused(test::edited_split().add_to_graph(
                         1, test::message().inner(5, test::tensor("a", {}, "1234"))),
                     "its initializer 'a' is a value that"));
    CHECK(is_refused(test::edited_split().add_to_graph(
                         0, test::message().inner(5, test::tensor("x", {}, "1234"))),
                     "0.onnx: its initializer 'x' is an input of the model"));
    CHECK(is_refused(test::edited_split().add_to_graph(
                         1, test::message().inner(1, test::node("Neg", {"d"}, {"w"}))),
                     "produces 'w', which is an initializer"));
    CHECK(is_refused(test::edited_split().replace(1, "kkkk", "KKKK"),
                     "changes the constant 'k', which it shares with other parts"));
}

TEST_CASE("edited_nodes: a shared constant is changed in all parts or in none",
          "[onnx][edited_nodes]") {
    const std::string reason = "0.onnx: changes the constant 'k', which it shares";
    test::edited_split split;
    split.replace(0, "kkkk", "KKKK");
    CHECK(is_refused(split, reason));
    split.replace(1, "kkkk", "KKKK");
    CHECK(names_in_order(split).size() == 6);
    CHECK(names_in_order(test::edited_split().replace(0, "\x1a\x01k", "\x32\x01k")).size() == 6);

    // Stored differently.
    CHECK(names_in_order(test::edited_split().replace(1, "\x4a\x04kkkk", "\x22\x04kkkk")).size() ==
          6);
    CHECK(is_refused(test::edited_split().replace(1, "\x4a\x04kkkk", "\x22\x04KKKK"),
                     "changes the constant 'k', which it shares"));

    // Under another name in the part that had it.
    test::edited_split renamed;
    renamed.replace(0, "\x12\x01k", "\x12\x01q").replace(0, "\x0a\x01k", "\x0a\x01q");
    CHECK(names_in_order(renamed) ==
          std::vector<std::string>{"k", "k", "n1", "n2", "n3", "n4", "n5"});
    // As an initializer.
    const auto first = renamed.part(0);
    const auto add = [&](const std::string& data) -> const test::edited_split& {
        return renamed.put(0, first).add_to_graph(
            0, test::message().inner(5, test::tensor("k", {}, data)));
    };
    CHECK(names_in_order(add("kkkk")).size() == 6);
    CHECK(is_refused(add("KKKK"), reason));
    // As an initializer in the part that has a copy.
    const auto store = [](const std::string& data) {
        test::edited_split stored;
        stored.replace(1, "\x12\x01k", "\x12\x01q");
        stored.add_to_graph(1, test::message().inner(5, test::tensor("k", {}, data)));
        return stored.open();
    };
    const auto same = store("kkkk");
    const stemma::detail::edited_tensors tensors(*same);
    CHECK(tensors.is_added("k"));
    const stemma::detail::edited_nodes nodes(*same, tensors);
    for (const auto& at : nodes.in_order()) {
        const auto& model = *same->parts()[at.part].model;
        CHECK(model.value_name(model.first_output(at.node)) != "k");
    }
    const auto other = store("KKKK");
    const stemma::detail::edited_tensors changed(*other);
    CHECK_THROWS_AS(stemma::detail::edited_nodes(*other, changed), stemma::error);
}

} // namespace test::cut_detail_edited_nodes
