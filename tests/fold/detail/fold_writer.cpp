// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_writer.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"
#include "../../model_files.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/core/policies.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/tagging/tagger.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::fold_detail_fold_writer {

namespace {

using stemma::id;
using stemma::no_id;

/// How many operators a call of every function comes to, by opening them all.
std::map<std::string, std::size_t> opened_sizes(const stemma::wire_model& model) {
    const stemma::graph_contents contents(model);
    std::map<std::string, std::size_t> sizes;
    for (const auto& function : model.functions()) { // callees come first
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

TEST_CASE("fold_writer: functions call functions, and contain all nodes when inlined") {
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

TEST_CASE("fold_writer: operators of modules without functions record the path to their module") {
    auto scene = test::layered_model(2);
    scene.options.selection = stemma::of_classes{{"Layer"}};
    const auto folded = scene.fold();
    const stemma::wire_model model(folded, "folded");
    REQUIRE(model.functions().size() == 1);
    std::size_t count = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.graph_of(node) != 0) {
            const auto entries = metadata_of(model, node);
            const auto way = entries.find("pkg.stemma.fold.module");
            CHECK((way != entries.end()) == (model.op_type(node) != "Relu"));
            count += way != entries.end() && way->second == "fc" ? 1U : 0U;
        }
    }
    CHECK(count == 2);
}

TEST_CASE("fold_writer: raises an old IR version, keeps a newer one") {
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

TEST_CASE("fold_writer: the contents of functions belong to the modules of all calls") {
    std::size_t compared = 0;
    std::size_t of_several = 0;
    for (const auto& file : test::model_files()) {
        const auto capture = test::capture_beside(file);
        if (!capture) {
            continue;
        }
        CAPTURE(file);
        stemma::attribution_options options;
        options.captures = stemma::captures(
            {(std::filesystem::path(file).parent_path() / "modules.json").string()});
        const stemma::attributed_model opened(file, options);
        const auto& model = opened.model();
        const auto& tags = opened.tags();
        const stemma::graph_contents contents(model);
        stemma::node_shapes shapes(model, contents);
        const auto plan =
            stemma::plan_fold(model, contents, opened.modules(), tags.attributions, shapes);
        stemma::detail::fold_writer writer(model, contents, opened.modules(), tags.tags,
                                           tags.attributions, plan);
        stemma::detail::string_splice splice(opened.file().bytes());
        writer.build().write(splice);

        // The contents of bodies from the plan, module by module.
        std::map<std::pair<std::string, id>, std::set<id>> expected; // function, position
        for (id r = 1; r < plan.regions.size(); ++r) {
            if (plan.is_graph(r)) {
                continue;
            }
            const auto& function = plan.functions[plan.function[r]];
            for (id i = 0; i < plan.regions[r].items.size(); ++i) {
                const auto& item = plan.regions[r].items[i];
                auto module = item.is_region ? plan.regions[item.index].module
                                             : tags.attributions[item.index].module;
                if (!opened.modules().index().is_ancestor(plan.regions[r].module, module)) {
                    REQUIRE(stemma::detail::is_constant_node(model, item.index));
                    module = plan.regions[r].module; // these are wherever they are read
                }
                expected[{function.domain + function.numbered(), i}].insert(module);
            }
        }
        const stemma::wire_model folded(splice.text, "folded");
        const stemma::onnx_operators ops(folded);
        const auto& tree = opened.modules();
        stemma::evidence_context context(ops, tree);
        const auto retagged = stemma::tag_operators(context, stemma::policies{});
        for (id node = 0; node < folded.node_count(); ++node) {
            const auto& graph = folded.graph(folded.graph_of(node));
            if (graph.kind != stemma::graph_kind::function || !ops.is_folded(node)) {
                continue;
            }
            const auto& function = folded.functions()[graph.function];
            const auto& modules = expected.at({std::string(folded.text(function.domain)) +
                                                   std::string(folded.text(function.name)),
                                               folded.position(node)});
            auto common = *modules.begin();
            std::set<id> selected;
            for (auto m : modules) {
                common = tree.index().lca(common, m);
                selected.insert(retagged.tags.selected(m));
            }
            CHECK(retagged.attributions[node].module == common);
            CHECK(retagged.attributions[node].source == stemma::provenance::function);
            std::set<id> tagged;
            retagged.pool.for_each(retagged.tag_sets[node], [&](id m) { tagged.insert(m); });
            CHECK(tagged == selected);
            ++compared;
            of_several += modules.size() > 1 ? 1U : 0U;
        }
    }
    CHECK(compared > 1000);
    CHECK(of_several > 100);
}

} // namespace test::fold_detail_fold_writer
