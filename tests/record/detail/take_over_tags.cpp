// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/take_over_tags.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/tagging/selection.hpp>
#include <stemma/tagging/tagger.hpp>

#include <string>
#include <vector>

namespace test::record_detail_take_over_tags {

using stemma::no_id;

TEST_CASE("take_over_tags: a node's recorded module overrides the computed one") {
    auto moved = test::node("Relu", {"x"}, {"y"}, "/a/Relu");
    moved.inner(9, test::entry("pkg.stemma.source_module", "/model/b"))
        .inner(9, test::entry("pkg.stemma.module", "b"));
    const auto bytes =
        test::model(
            test::graph({moved, test::node("Relu", {"y"}, {"z"}, "/a/Relu_1")}, {"x"}, {"z"}))
            .bytes();
    const stemma::wire_model model(bytes);
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
    const auto bytes = test::model(test::graph({moved}, {"x"}, {"y"}))
                           .inner(14, test::entry("pkg.stemma.tags", "[no table]"))
                           .bytes();
    const stemma::wire_model model(bytes);
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    const auto modules = test::tree_of({"a", "b"});
    auto tagged = stemma::tag_operators(ops, modules, stemma::policies{stemma::all_modules{}});
    const auto edited = stemma::detail::find_edited_tags(model, modules, tagged);
    std::vector<std::string> problems;
    stemma::detail::take_over_tags(edited, tagged, problems);
    CHECK(problems.size() == 1);
    CHECK(modules.path(tagged.attributions[0].module) == "b");
}

} // namespace test::record_detail_take_over_tags
