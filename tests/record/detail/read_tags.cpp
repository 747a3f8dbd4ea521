// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/read_tags.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../operator_scene.hpp"
#include "../../tagged_bytes.hpp"
#include "../../tagged_fixture.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/tagging/selection.hpp>
#include <stemma/tagging/tagger.hpp>

#include <string>
#include <vector>

namespace test::record_detail_read_tags {

namespace {

using stemma::id;
using stemma::no_id;

using stemma::id;

} // namespace

TEST_CASE("read_tags: reads what was written to each carrier") {
    for (const auto* fixture : {"bert_micro", "control_flow", "shared_twice"}) {
        test::tagged_fixture original(fixture);
        for (unsigned i = 0; i < test::carrier_sets; ++i) {
            const auto carriers = test::carriers_of(i);
            const test::built_model model(original.write(carriers));
            for (id node = 0; node < model.node_count(); ++node) {
                const auto module = original.found.attributions[node].module;
                const auto tag = original.found.tags.text(module);
                const auto path = original.modules.path(module);
                const auto node_tags = stemma::detail::read_node_carriers(model, node);
                CHECK(node_tags.metadata.tag.value_or("none") ==
                      (carriers.metadata ? tag : "none"));
                CHECK(node_tags.metadata.module.value_or("none") ==
                      (carriers.metadata ? path : "none"));
                CHECK(node_tags.doc_string.tag.value_or("none") ==
                      (carriers.doc_string ? tag : "none"));
                CHECK(node_tags.doc_string.module.value_or("none") ==
                      (carriers.doc_string ? path : "none"));
                CHECK(node_tags.attribute.tag.value_or("none") ==
                      (carriers.attribute ? tag : "none"));
                CHECK(node_tags.name_space.has_value() == carriers.name_space);
                const auto first = stemma::detail::read_carried_tags(model, node);
                CHECK(first.tag.has_value() ==
                      (carriers.metadata || carriers.doc_string || carriers.attribute));
            }
        }
    }
}

TEST_CASE("read_tags: reads the modules written by any carrier that has them") {
    test::tagged_fixture original("bert_micro");
    for (unsigned i = 0; i < test::carrier_sets; ++i) {
        const auto carriers = test::carriers_of(i);
        const test::built_model model(original.write(carriers));
        const auto modules =
            stemma::detail::read_carried_modules(model, original.modules, original.found.tags).of;
        for (id node = 0; node < model.node_count(); ++node) {
            const auto module = original.found.attributions[node].module;
            const bool deepest = carriers.metadata || carriers.doc_string ||
                                 ((carriers.model || carriers.name_space) && !carriers.attribute);
            const auto expected = deepest              ? module
                                  : carriers.attribute ? original.found.tags.selected(module)
                                                       : stemma::no_id;
            REQUIRE(modules[node] == expected);
        }
    }
}

TEST_CASE("read_tags: a namespace counts only if stemma wrote it") {
    const auto bytes =
        test::model(test::graph({test::node("MatMul", {"x", "w"}, {"y"}, "/fc/MatMul")
                                     .inner(9, test::entry("namespace", "fc"))},
                                {"x"}, {"y"}, {"w"}))
            .bytes();
    const test::tagged_model original(bytes);
    const auto& modules = original.modules;
    const auto read = [&](const std::string& file) {
        return stemma::detail::read_carried_modules(stemma::wire_model(file), modules,
                                                    original.found.tags)
            .of;
    };
    CHECK(read(bytes).front() == stemma::no_id);
    CHECK(read(test::tag(bytes, {.metadata = false, .model = false})).front() == stemma::no_id);
    const auto tagged = test::tag(bytes, {.metadata = false, .name_space = true});
    CHECK(modules.path(read(tagged).front()) == "fc");
}

TEST_CASE("read_tags: an ambiguous namespace is ignored") {
    stemma::module_tree_builder builder("");
    const auto a = builder.child(0, "a");
    static_cast<void>(builder.child(a, "b"));
    static_cast<void>(builder.child(0, "a/b"));
    const auto modules = builder.build();
    const stemma::detail::namespace_lookup lookup(modules);
    CHECK(lookup.find("a") == a);
    CHECK(lookup.find("a/b") == stemma::no_id);
    CHECK(lookup.find("a/c") == stemma::no_id);
    CHECK(lookup.find("") == 0);
}

TEST_CASE("read_tags: every namespace that one module has leads to it") {
    const auto tree = test::read_capture(test::fixture("bert_micro/modules.json"));
    const stemma::detail::namespace_lookup lookup(tree);
    for (id m = 0; m < tree.size(); ++m) {
        CHECK(lookup.find(stemma::namespace_carrier::spell(tree.path(m))) == m);
    }
}

TEST_CASE("take_over_tags: a node's recorded module overrides the computed one") {
    auto moved = test::node("Relu", {"x"}, {"y"}, "/a/Relu");
    moved.inner(9, test::entry("pkg.stemma.source_module", "/model/b"))
        .inner(9, test::entry("pkg.stemma.module", "b"));
    const test::built_model model({moved, test::node("Relu", {"y"}, {"z"}, "/a/Relu_1")}, {"x"},
                                  {"z"});
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    const auto modules = test::tree_of({"a", "b"});
    auto tagged = stemma::tag_operators(ops, modules, stemma::policies{stemma::all_modules{}});
    REQUIRE(modules.path(tagged.attributions[0].module) == "a");
    const auto edited = stemma::detail::find_edited_tags(model, modules, tagged);
    CHECK(edited.modules.size() == 1);
    std::vector<std::string> problems;
    stemma::detail::take_over_tags(edited, tagged, problems);
    CHECK(problems.empty());
    CHECK(modules.path(tagged.attributions[0].module) == "b");
    CHECK(tagged.attributions[0].confidence == 1);
    CHECK(tagged.attributions[0].source == stemma::provenance::recorded);
    CHECK(tagged.tag_sets[0] == tagged.tags.selected(test::module_at(modules, "b")));
    CHECK(modules.path(tagged.attributions[1].module) == "a");
}

TEST_CASE("take_over_tags: an unreadable table is reported, and the rest is taken over") {
    auto moved = test::node("Relu", {"x"}, {"y"}, "/a/Relu");
    moved.inner(9, test::entry("pkg.stemma.module", "b"));
    const test::built_model model(test::model(test::graph({moved}, {"x"}, {"y"}))
                                      .inner(14, test::entry("pkg.stemma.tags", "[no table]")));
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    const auto modules = test::tree_of({"a", "b"});
    auto tagged = stemma::tag_operators(ops, modules, stemma::policies{stemma::all_modules{}});
    const auto edited = stemma::detail::find_edited_tags(model, modules, tagged);
    std::vector<std::string> problems;
    stemma::detail::take_over_tags(edited, tagged, problems);
    CHECK(problems.size() == 1);
    CHECK(modules.path(tagged.attributions[0].module) == "b");
}

} // namespace test::record_detail_read_tags
