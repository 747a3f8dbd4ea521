// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/wire/fold_model.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;

/// How many operators a call of every function comes to, by opening them all.
std::map<std::string, std::size_t> opened_sizes(const stemma::wire_model& model) {
    const stemma::graph_contents contents(model);
    std::map<std::string, std::size_t> sizes;
    for (const auto& function : model.functions()) { // callees stand first
        std::size_t size = 0;
        for (auto node : contents.nodes(function.graph)) {
            const auto callee = model.callee(node);
            size += callee == no_id
                        ? 1
                        : sizes.at(std::string(model.text(model.functions()[callee].name)));
        }
        sizes.emplace(model.text(function.name), size);
    }
    return sizes;
}

std::map<std::string, std::string> metadata_of(const stemma::wire_model& model, id node) {
    std::map<std::string, std::string> entries;
    model.for_each_metadata(
        node, [&](std::string_view key, std::string_view value) { entries.emplace(key, value); });
    return entries;
}

} // namespace

TEST_CASE("fold_writer: functions call functions, and opened they hold all nodes") {
    auto scene = test::layered_model(4);
    const auto folded = scene.fold();
    const stemma::wire_model model(folded, "folded");
    REQUIRE(model.functions().size() == 2);
    CHECK(opened_sizes(model) == std::map<std::string, std::size_t>{{"Linear", 2}, {"Layer", 3}});
    CHECK(model.node_count() == 4 + 2 + 2); // calls, and what the bodies hold
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.graph_of(node) != 0) {
            continue;
        }
        const auto f = model.callee(node);
        REQUIRE(f != no_id);
        const auto& body = model.graph(model.functions()[f].graph);
        CHECK(model.inputs(node).size() == body.inputs.size());
        CHECK(model.output_count(node) == body.outputs.size());
        const auto number = std::to_string(model.position(node));
        const auto entries = metadata_of(model, node);
        CHECK(model.name(node) == "layer." + number);
        CHECK(entries.at("pkg.stemma.fold.module") == "layer." + number);
        CHECK(entries.at("pkg.stemma.fold.call") == "0");
        CHECK(entries.at("pkg.stemma.fold.scope") == "/layer/layer." + number);
        CHECK(entries.at("pkg.stemma.fold.tag").ends_with("Layer." + number));
    }
    CHECK(model.opset_imports().back().domain == "net");
}

TEST_CASE("fold_writer: operators of modules that are no functions say the way to their module") {
    auto scene = test::layered_model(2);
    scene.policy.selection.patterns = {"Layer"};
    const auto folded = scene.fold();
    const stemma::wire_model model(folded, "folded");
    REQUIRE(model.functions().size() == 1);
    std::size_t found = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.graph_of(node) != 0) {
            const auto entries = metadata_of(model, node);
            const auto way = entries.find("pkg.stemma.fold.module");
            CHECK((way != entries.end()) == (model.op_type(node) != "Relu"));
            found += way != entries.end() && way->second == "fc" ? 1U : 0U;
        }
    }
    CHECK(found == 2);
}

TEST_CASE("fold_writer: a model of an old version is lifted, a newer one keeps its own") {
    for (const std::uint64_t version : {3U, 7U, 8U, 11U}) {
        auto scene = test::layered_model(2, version);
        const auto folded = scene.fold();
        const stemma::wire_model model(folded, "folded");
        CHECK(model.ir_version() == static_cast<std::int64_t>(std::max<std::uint64_t>(version, 8)));
        CHECK(test::unfold(folded) == scene.bytes);
    }
}

TEST_CASE("fold_writer: a function imports what its body uses") {
    test::fold_scene scene{test::message()
                               .number(1, 8)
                               .inner(8, test::opset("", 17))
                               .inner(8, test::opset("extra", 3))
                               .inner(7, test::graph({test::node("Relu", {"x"}, {"a"}),
                                                      test::node("Odd", {"a"}, {"y"}, "", "extra")},
                                                     {"x"}, {"y"}))
                               .bytes(),
                           test::layers(1),
                           {{2, no_id, 1}, {2, no_id, 1}}};
    const auto folded = scene.fold();
    const auto import = test::opset("extra", 3).bytes();
    std::size_t imports = 0;
    for (auto at = folded.find(import); at != folded.npos; at = folded.find(import, at + 1)) {
        ++imports;
    }
    CHECK(imports == 2);
    CHECK(test::unfold(folded) == scene.bytes);
}
