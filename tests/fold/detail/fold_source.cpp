// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_source.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/splices.hpp>

#include <string>
#include <vector>

namespace test::fold_detail_fold_source {

namespace {

std::string edited(test::fold_scene scene, bool is_needed) {
    const auto plan = scene.plan();
    stemma::detail::fold_source_editor editor(scene.model, scene.contents, plan);
    CHECK(editor.is_needed() == is_needed);
    stemma::detail::rewrite rewriting(scene.model, editor);
    stemma::detail::string_splice splice(scene.bytes);
    rewriting.write(splice);
    return splice.text;
}

test::message entry(const char* key) {
    return test::message().text(1, key).text(2, "text");
}

/// A layer of three nodes of a domain, and one node outside, with entries of `keys`.
test::fold_scene layer(const char* domain, const std::vector<const char*>& keys,
                       const char* outside, const std::vector<const char*>& outside_keys) {
    test::placed_nodes placed;
    const auto add = [&](const char* type, const test::names& in, const char* out,
                         stemma::id module, const char* of, const auto& entries) {
        auto fields = test::node(type, in, {out}).text(7, of);
        for (const auto* key : entries) {
            fields.inner(9, entry(key));
        }
        placed.add(fields, module);
    };
    add("MatMul", {"x", "layer.0.fc.weight"}, "m", 3, domain, keys);
    add("Add", {"m", "layer.0.fc.bias"}, "a", 3, domain, keys);
    add("Relu", {"a"}, "r", 2, domain, keys);
    add("Neg", {"r"}, "y", 0, outside, outside_keys);
    return placed.scene(1, "y");
}

} // namespace

TEST_CASE("fold_source_editor: nodes that move lose entries of folding and `ai.onnx`") {
    constexpr auto* fold = "pkg.stemma.fold.module";
    constexpr auto* tag = "pkg.stemma.module";
    const auto bytes = edited(layer("ai.onnx", {fold, tag, "other"}, "ai.onnx", {fold, tag}), true);
    CHECK(bytes == layer("", {"other"}, "ai.onnx", {fold}).bytes);
    CHECK(edited(layer("", {"other"}, "ai.onnx", {fold, tag}), false) ==
          layer("", {"other"}, "ai.onnx", {fold}).bytes);
}

TEST_CASE("fold_source_editor: bodies and the model lose them, too") {
    const auto scene = [](const char* domain, bool has_entry) {
        test::placed_nodes body;
        body.add(test::node("Relu", {"x"}, {"e"}).text(7, domain), 0);
        test::placed_nodes placed;
        placed.add_branches(body, "e", "y", 0);
        auto message = test::model(test::graph(placed.nodes, {"x", "cond"}, {"y"}));
        if (has_entry) {
            message.inner(14, entry("pkg.stemma.fold.modules"));
        }
        return test::fold_scene{message.bytes(), test::layers(1), placed.where};
    };
    CHECK(edited(scene("ai.onnx", true), true) == scene("", false).bytes);
    CHECK(edited(scene("", true), true) == scene("", false).bytes);
    CHECK(edited(scene("", false), false) == scene("", false).bytes);
}

} // namespace test::fold_detail_fold_source
