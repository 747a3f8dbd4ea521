// SPDX-License-Identifier: Apache-2.0
// What is left of tags in files changed after they were tagged.
#include <stemma/record/detail/find_recorded.hpp>

#include "../../catch.hpp"
#include "../../count_of.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"
#include "../../tagged_bytes.hpp"
#include "../../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/record/detail/graph_sketch.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/recorded_claims.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace test::record_detail_find_recorded {

using stemma::id;
using stemma::provenance;
using test::message;
using test::node;

namespace {

const std::vector<std::string> paths{"a", "a.conv", "a.relu", "b", "b.fc"};

stemma::module_tree tree() {
    stemma::module_tree_builder builder("Net");
    builder.set_class(0, "Net", "pkg.Net");
    for (const auto& path : paths) {
        const auto m = builder.at_path(path);
        builder.set_class(m, "Of" + path.substr(path.rfind('.') + 1), "");
    }
    return builder.build();
}

/// A record with these modules that fits no graph, as if the graph had changed.
std::string record() {
    stemma::detail::model_record about;
    about.nodes = 1000;
    about.digest = 7;
    return stemma::detail::to_json(about, tree());
}

message in_module(message fields, std::string_view path) {
    return fields.inner(9, test::entry("pkg.stemma.module", path));
}

std::string model_of(const std::vector<message>& nodes, const std::string& output,
                     const std::string& said) {
    return test::model(test::graph(nodes, {"x"}, {output}, {"b.fc.weight", "w"}), 10)
        .inner(14, test::entry("pkg.stemma.model", said))
        .bytes();
}

std::string path_of(const stemma::attributed_model& opened, id node) {
    return std::string(opened.modules().path(opened.tags().attributions[node].module));
}

/// The nodes of an unnamed chain after the middle one was fused away.
std::vector<message> changed() {
    return {in_module(node("FusedConv", {"x", "w"}, {"1"}, "", "com.microsoft"), "a.conv"),
            node("Abs", {"1"}, {"2"}), in_module(node("Gemm", {"2", "w"}, {"3"}), "b.fc")};
}

} // namespace

TEST_CASE("find_recorded: the record's tree is used, whatever happened to the graph") {
    const test::scratch_folder folder;
    const auto path = folder.make("changed.onnx", model_of(changed(), "3", record()));
    const stemma::attributed_model opened(path, {});
    CHECK(opened.was_tagged());
    CHECK_FALSE(opened.is_fresh());
    CHECK(opened.uses_record());
    CHECK(opened.lost_classes() == 0);
    REQUIRE(opened.modules().size() == paths.size() + 1);
    CHECK(opened.modules().class_name(0) == "Net");
    CHECK(path_of(opened, 0) == "a.conv");
    CHECK(path_of(opened, 2) == "b.fc");
    CHECK(opened.tags().attributions[0].source == provenance::recorded);
    CHECK(opened.tags().attributions[1].source == provenance::between);

    stemma::attribution_options anew;
    anew.recompute = true;
    const stemma::attributed_model without(path, anew);
    CHECK_FALSE(without.uses_record());
    CHECK(without.modules().class_name(0).empty());
    CHECK(without.lost_classes() == paths.size() + 1);
}

TEST_CASE("find_recorded: a module copied to an unrelated node does not count") {
    const test::scratch_folder folder;
    auto nodes = changed();
    nodes[2] = in_module(node("Gemm", {"2", "b.fc.weight"}, {"3"}), "a.relu");
    const stemma::attributed_model opened(
        folder.make("copied.onnx", model_of(nodes, "3", record())), {});
    CHECK(path_of(opened, 0) == "a.conv");
    CHECK(path_of(opened, 2) == "b.fc");
    // If a neighbour agrees, the parameter is the one shared.
    nodes[1] = in_module(nodes[1], "a.relu");
    const stemma::attributed_model agreed(
        folder.make("agreed.onnx", model_of(nodes, "3", record())), {});
    CHECK(path_of(agreed, 2) == "a.relu");
}

TEST_CASE("find_recorded: repeated keys on a node are several origins") {
    const test::scratch_folder folder;
    auto nodes = changed();
    nodes[0] = in_module(nodes[0], "a.relu");
    const auto bytes = model_of(nodes, "3", record());
    stemma::attributed_model opened(folder.make("merged.onnx", bytes), {});
    CHECK(path_of(opened, 0) == "a");
    const auto claims = opened.claims_about(0);
    REQUIRE(claims.size() == 2);
    CHECK(opened.modules().path(claims[0].module) == "a.conv");
    CHECK(opened.modules().path(claims[1].module) == "a.relu");

    // Output has each key once, and stripped files none.
    CHECK(test::count_of(bytes, "pkg.stemma.module") == 3);
    const auto tagged = stemma::tagged_bytes(opened, stemma::carrier_set{.mark = true});
    CHECK(test::count_of(tagged, "pkg.stemma.module") == nodes.size());
    CHECK(test::count_of(test::strip(bytes), "pkg.stemma.") == 0);
    // Tagging again keeps the origins.
    const stemma::attributed_model again(folder.make("again.onnx", tagged), {});
    CHECK(again.is_fresh());
    CHECK(path_of(again, 0) == "a");
}

TEST_CASE("find_recorded: a node has a limited number of origins, each a table of all nodes") {
    stemma::module_tree_builder builder("Net");
    auto merged = node("FusedConv", {"x", "w"}, {"1"});
    for (std::size_t i = 0; i < 3 * stemma::detail::max_claim_tables; ++i) {
        const auto path = "layer." + std::to_string(i);
        builder.at_path(path);
        merged = in_module(merged, path);
    }
    const auto bytes = model_of({merged}, "1", record());
    const auto modules = builder.build();
    const auto evidence = stemma::detail::find_recorded(stemma::wire_model(bytes), modules,
                                                        stemma::name_modules(modules));
    CHECK(evidence.claims.size() == stemma::detail::max_claim_tables);
}

TEST_CASE("find_recorded: an unreadable record is ignored, and reported") {
    const test::scratch_folder folder;
    for (const bool recompute : {false, true}) {
        stemma::attribution_options options;
        options.recompute = recompute;
        const stemma::attributed_model opened(
            folder.make("damaged.onnx", model_of(changed(), "3", "{\"schema\"")), options);
        CHECK_FALSE(opened.was_tagged());
        REQUIRE(opened.record_notes().size() == 1);
        CHECK(opened.record_notes()[0].find("pkg.stemma.model") != std::string::npos);
    }
    const auto bytes = test::model(test::graph(changed(), {"x"}, {"3"}, {"w"}), 10)
                           .inner(14, test::entry("pkg.stemma.model", record()))
                           .inner(14, test::entry("pkg.stemma.graph", "no sketch"))
                           .bytes();
    const stemma::attributed_model opened(folder.make("sketch.onnx", bytes), {});
    CHECK(opened.uses_record());
    REQUIRE(opened.record_notes().size() == 1);
    CHECK(path_of(opened, 0) == "a.conv");

    const auto folded = test::model(test::graph(changed(), {"x"}, {"3"}, {"b.fc.weight"}), 10)
                            .inner(14, test::entry("pkg.stemma.fold.modules", "{}"))
                            .bytes();
    const stemma::attributed_model unknown(folder.make("folded.onnx", folded), {});
    REQUIRE(unknown.record_notes().size() == 1);
    CHECK(unknown.record_notes()[0].find("pkg.stemma.fold.modules") != std::string::npos);
    CHECK(unknown.tree_from_model());
    CHECK(unknown.modules().size() == 3);

    const auto tagged = test::tag(
        test::model(test::graph({node("Relu", {"x"}, {"y"}, "/a/Relu")}, {"x"}, {"y"})).bytes(),
        {.metadata = false, .model = true});
    const auto at = tagged.find("{", tagged.find("pkg.stemma.tags"));
    REQUIRE(at != tagged.npos);
    auto damaged = tagged;
    damaged[at] = '[';
    const stemma::attributed_model without(folder.make("table.onnx", damaged), {});
    REQUIRE(without.record_notes().size() == 1);
    CHECK(without.record_notes()[0].find("pkg.stemma.tags") != std::string::npos);
    CHECK(path_of(without, 0) == "a");
}

TEST_CASE("find_recorded: retagging uses the record's tree and evidence, not the tags") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const auto capture = test::read_capture(test::fixture("bert_micro/modules.json"));
    const test::scratch_folder folder;
    const auto tagged = folder.make("tagged.onnx", test::tag(bytes, {.mark = true}, &capture));
    stemma::attribution_options options;
    options.retag = true;
    const stemma::attributed_model again(tagged, options);
    REQUIRE(again.modules().size() == capture.size());
    for (id m = 0; m < capture.size(); ++m) {
        CHECK(again.modules().class_name(m) == capture.class_name(m));
    }
    CHECK_FALSE(again.tree_from_model());
    CHECK(again.lost_classes() == 0);
    options.recompute = true;
    CHECK(stemma::attributed_model(tagged, options).lost_classes() > 10);
}

TEST_CASE("find_recorded: the record counts if the capture is of another model") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const auto capture = test::read_capture(test::fixture("bert_micro/modules.json"));
    const test::scratch_folder folder;
    const auto tagged = folder.make("tagged.onnx", test::tag(bytes, {.mark = true}, &capture));
    stemma::attribution_options options;
    options.captures = stemma::captures({test::fixture("resnet18/modules.json")});
    for (const bool retag : {false, true}) {
        options.retag = retag;
        const stemma::attributed_model opened(tagged, options);
        CHECK(opened.capture_notes().size() == 1);
        CHECK(opened.uses_record());
        CHECK(opened.modules().size() == capture.size());
        CHECK(opened.modules().class_name(0) == capture.class_name(0));
    }
    options.recompute = true;
    const stemma::attributed_model anew(tagged, options);
    CHECK_FALSE(anew.uses_record());
    CHECK(anew.lost_classes() > 10);
}

TEST_CASE("find_recorded: modules whose names are gone from the file are those of its record") {
    const auto model_with = [](const std::string& weight, const std::string& name) {
        return test::model(
            test::graph({node("Gemm", {"x", weight}, {"1"}, name)}, {"x"}, {"1"}, {weight}));
    };
    const auto named = model_with("block.fc.weight", "/block/fc/Gemm").bytes();
    const auto tagged = test::tag(named, {});
    const stemma::wire_model read(tagged);
    const auto said = stemma::detail::find_model_metadata(read, stemma::detail::model_key);
    REQUIRE(said);
    const auto bare =
        model_with("w", "").inner(14, test::entry(stemma::detail::model_key, *said)).bytes();
    const test::scratch_folder folder;
    for (const bool retag : {false, true}) {
        stemma::attribution_options options;
        options.retag = retag;
        const stemma::attributed_model opened(folder.make("bare.onnx", bare), options);
        CHECK_FALSE(opened.is_fresh());
        REQUIRE(opened.modules().size() == 3);
        CHECK(opened.modules().path(2) == "block.fc");
        // The file's own evidence is used if it is as complete.
        const stemma::attributed_model whole(folder.make("tagged.onnx", tagged), options);
        CHECK(whole.tree_from_model());
        CHECK(whole.modules().size() == 3);
    }
}

TEST_CASE("find_recorded: with a capture of the modules, remaining tags count in its tree") {
    const test::scratch_folder folder;
    stemma::attribution_options options;
    options.captures =
        stemma::captures({folder.make("modules.json", R"({"schema": "stemma.capture/1", "modules": [
        {"name": "", "class_name": "Net"}, {"name": "new", "class_name": "New"},
        {"name": "a", "class_name": "A"}, {"name": "a.conv", "class_name": "Conv"}]})")});
    const auto bytes = model_of(changed(), "3", record());
    stemma::attributed_model opened(folder.make("changed.onnx", bytes), options);
    CHECK_FALSE(opened.uses_record());
    REQUIRE(opened.modules().size() == 4);
    CHECK(path_of(opened, 0) == "a.conv");
    CHECK(opened.tags().attributions[0].source == provenance::recorded);
    CHECK(opened.tags().attributions[2].source != provenance::recorded); // b.fc is missing
    // Tagging with it, and again, changes nothing.
    const auto once = stemma::tagged_bytes(opened, stemma::carrier_set{});
    stemma::attributed_model again(folder.make("again.onnx", once), options);
    const bool same = stemma::tagged_bytes(again, stemma::carrier_set{}) == once;
    CHECK(same);
}

TEST_CASE("find_recorded: an unnamed model changed after tagging is not one module") {
    // Only its values show it, as optimizers keep their names.
    const auto bytes =
        test::model(test::graph({node("Conv", {"x", "w"}, {"1"}), node("Relu", {"1"}, {"2"}),
                                 node("Gemm", {"2", "w"}, {"3"})},
                                {"x"}, {"3"}, {"w"}))
            .bytes();
    const stemma::wire_model model(bytes);
    const auto modules = tree();
    std::vector<stemma::attribution> attributions;
    for (const auto* path : {"a.conv", "a.relu", "b.fc"}) {
        id m = 0;
        while (modules.path(m) != path) {
            ++m;
        }
        attributions.push_back({m, stemma::no_id, 0.95F, provenance::trace, false});
    }
    const auto optimized =
        test::model(test::graph({node("FusedConv", {"x", "w"}, {"2"}, "", "com.microsoft"),
                                 node("Gemm", {"2", "w"}, {"3"})},
                                {"x"}, {"3"}, {"w"}))
            .inner(14, test::entry("pkg.stemma.model", record()))
            .inner(14, test::entry(
                           "pkg.stemma.graph",
                           stemma::detail::to_json(stemma::detail::sketch_of(model, attributions))))
            .bytes();
    const test::scratch_folder folder;
    const stemma::attributed_model opened(folder.make("optimized.onnx", optimized), {});
    CHECK(path_of(opened, 0) == "a");
    CHECK(path_of(opened, 1) == "b.fc");
}

TEST_CASE("has_all_modules: requires the paths of all modules, and all known classes") {
    const auto before = tree();
    CHECK(stemma::detail::has_all_modules(before, before));
    stemma::module_tree_builder builder("other");
    for (const auto& path : {"z", "b", "b.fc", "a", "a.relu", "a.conv"}) {
        builder.set_class(builder.at_path(path), "Known", "");
    }
    CHECK_FALSE(stemma::detail::has_all_modules(builder.build(), before)); // the root has no class
    builder.set_class(0, "Net", "");
    const auto more = builder.build();
    CHECK(stemma::detail::has_all_modules(more, before));
    CHECK_FALSE(stemma::detail::has_all_modules(before, more));
}

TEST_CASE("can_replace: a tree with further modules, unless the file has numbers") {
    stemma::detail::recorded_model record{{.carriers = {}, .options = {}}, {}};
    record.modules = tree();
    stemma::module_tree_builder builder("Net");
    builder.at_path("first");
    for (id m = 0; m < record.modules.size(); ++m) {
        const auto path = record.modules.path(m);
        builder.set_class(path.empty() ? 0 : builder.at_path(path), record.modules.class_name(m),
                          "");
    }
    const auto more = builder.build();
    CHECK(stemma::detail::can_replace(more, record));
    CHECK_FALSE(stemma::detail::has_same_modules(more, record.modules));
    record.carriers.model = true;
    CHECK_FALSE(stemma::detail::can_replace(more, record));
    CHECK(stemma::detail::can_replace(record.modules, record));
    record.carriers.model = false;
    record.claims.emplace_back();
    CHECK_FALSE(stemma::detail::can_replace(more, record));
}

TEST_CASE("count_lost_classes: counts missing modules, and those without a class") {
    const auto before = tree();
    CHECK(stemma::detail::count_lost_classes(before, before) == 0);
    stemma::module_tree_builder builder("Net");
    const auto m = builder.at_path("a");
    builder.set_class(m, "A", "");
    builder.at_path("b.fc");
    CHECK(stemma::detail::count_lost_classes(before, builder.build()) == paths.size());
}

} // namespace test::record_detail_find_recorded
