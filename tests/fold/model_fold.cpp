// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/model_fold.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"
#include "../written_text.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/fold.hpp>
#include <stemma/fold/unfold_file.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test::fold_model_fold {

namespace {

stemma::attribution_options captured(const std::string& fixture) {
    return {.captures = stemma::captures({test::fixture(fixture + "/modules.json")})};
}

std::uint64_t written(const stemma::attributed_model& opened, const std::string& path) {
    return stemma::model_fold(opened, stemma::module_folding{}, path).write(path, {.sync = false});
}

} // namespace

TEST_CASE("model_fold: unfolding restores the file byte for byte, with its tags") {
    const test::scratch_folder folder;
    for (const std::string fixture : {"bert_micro", "control_flow", "shared_twice"}) {
        CAPTURE(fixture);
        const auto source = test::fixture(fixture + "/model.onnx");
        stemma::attributed_model plain(source, captured(fixture));
        stemma::write_tagged(plain, folder.file("tagged"), stemma::usual_carriers, {.sync = false});
        for (const auto& from : {source, folder.file("tagged")}) {
            const stemma::attributed_model opened(from, captured(fixture));
            const auto size = written(opened, folder.file("folded"));
            CHECK(test::read_bytes(folder.file("folded")).size() == size);
            CHECK(stemma::model_fold(opened).bytes() == test::read_bytes(folder.file("folded")));
            const auto report =
                stemma::unfold_file(folder.file("folded"), folder.file("back"),
                                    stemma::unfolded_names::as_before, {.sync = false});
            CHECK(report.is_restored);
            CHECK(test::read_bytes(folder.file("back")) == test::read_bytes(from));
        }
    }
    CHECK(folder.file_count() == 3); // no copy is left
}

TEST_CASE("model_fold: what training information reads stays in the main graph") {
    const test::scratch_folder folder;
    const auto model = [](const test::names& read) {
        return test::model(test::graph({test::node("Constant", {}, {"k"}, "/a/Constant"),
                                        test::node("Mul", {"x", "k"}, {"p"}, "/a/Mul"),
                                        test::node("Sigmoid", {"p"}, {"q"}, "/a/Sigmoid"),
                                        test::node("Relu", {"q"}, {"r"}, "/b/Relu"),
                                        test::node("Neg", {"r"}, {"y"}, "/b/Neg")},
                                       {"x"}, {"y"}))
            .inner(20, test::message().inner(
                           2, test::graph({test::node("Sum", read, {"new"})}, {}, {"new"})))
            .bytes();
    };
    const auto folded = [&](const std::string& source) {
        const stemma::attributed_model opened(folder.make("model.onnx", source), {});
        written(opened, folder.file("folded"));
        const auto report = stemma::unfold_file(folder.file("folded"), folder.file("back"),
                                                stemma::unfolded_names::as_before, {.sync = false});
        CHECK(report.is_restored);
        CHECK(test::read_bytes(folder.file("back")) == source);
        test::names names; // in the main graph
        const auto bytes = test::read_bytes(folder.file("folded"));
        const stemma::wire_model after(bytes);
        for (stemma::id value = 0; value < after.value_count(); ++value) {
            if (after.graph_of_value(value) == 0 && after.producer(value) != stemma::no_id) {
                names.emplace_back(after.value_name(value));
            }
        }
        std::sort(names.begin(), names.end());
        return names;
    };
    CHECK(folded(model({"x"})) == test::names{"q", "y"});
    CHECK(folded(model({"x", "p"})) == test::names{"p", "q", "y"});
    CHECK(folded(model({"x", "k"})) == test::names{"k", "q", "y"});
}

TEST_CASE("model_fold: what functions do not keep comes back") {
    const auto layer = [](const std::string& number, const std::string& in,
                          const std::string& out) {
        const auto scope = "/layer/layer." + number;
        const auto entry = test::message().text(1, "pkg.stemma.fold.module").text(2, "old");
        return std::vector<test::message>{
            test::node("MatMul", {in, "layer." + number + ".fc.weight"}, {out + "_m"},
                       scope + "/fc/MatMul", "ai.onnx")
                .inner(9, entry),
            test::node("Relu", {out + "_m"}, {out}, scope + "/Relu", "ai.onnx")};
    };
    auto nodes = layer("0", "x", "a");
    for (auto& one : layer("1", "a", "y")) {
        nodes.push_back(std::move(one));
    }
    const auto before =
        test::model(test::graph(nodes, {"x"}, {"y"}, {"layer.0.fc.weight", "layer.1.fc.weight"}))
            .inner(14, test::message().text(1, "pkg.stemma.fold.modules").text(2, "{}"))
            .bytes();
    const test::scratch_folder folder;
    const auto opened = test::in_memory(before, "m.onnx");
    const stemma::model_fold folded(
        opened, stemma::fold_options<>{.selection = stemma::all_modules{}, .least = 2});
    CHECK(!folded.was_tagged());
    folded.write(folder.file("folded"), {.sync = false});
    const auto bytes = test::read_bytes(folder.file("folded"));
    CHECK(bytes.find("ai.onnx") == bytes.npos);
    const auto report = stemma::unfold_file(folder.file("folded"), folder.file("back"),
                                            stemma::unfolded_names::as_before, {.sync = false});
    CHECK(report.is_restored);
    CHECK(!report.lost_tags);
    CHECK(test::read_bytes(folder.file("back")) == before);
    CHECK(!stemma::unfold_file(folder.file("folded"), folder.file("back"),
                               stemma::unfolded_names::as_called, {.sync = false})
               .lost_tags);
    CHECK(folder.file_count() == 2);
}

TEST_CASE("model_fold: the outline counts all nodes and calls") {
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"),
                                          captured("bert_micro"));
    const stemma::model_fold folded(opened, stemma::module_folding{});
    const auto outline = folded.outline();
    REQUIRE(!outline.empty());
    CHECK(outline.front().function == stemma::no_id);
    CHECK(outline.front().level == 0);
    std::size_t calls = 0;
    for (std::size_t i = 1; i < outline.size(); ++i) {
        CHECK(outline[i].level >= 1);
        CHECK(outline[i].level <= outline[i - 1].level + 1);
        calls += outline[i].level == 1 ? outline[i].count : 0U;
    }
    CHECK(calls == outline.front().calls);
    CHECK(!folded.was_tagged());
    const auto counts = folded.left();
    std::size_t nodes = counts.in_bodies;
    for (const auto& one : folded.plan().left) {
        nodes += one.operators;
    }
    CHECK(counts.too_few + counts.between + counts.in_bodies == nodes);
}

TEST_CASE("model_fold: takes a query and custom options") {
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"),
                                          captured("bert_micro"));
    const stemma::model_fold asked(opened, {.modules = "encoder.layer.*", .depth = 3});
    for (stemma::id r = 0; r < asked.plan().regions.size(); ++r) {
        if (!asked.plan().is_graph(r)) {
            const auto m = asked.plan().regions[r].module;
            CHECK(opened.modules().path(m).starts_with("encoder.layer."));
            CHECK(opened.modules().index().depth(m) == 3);
        }
    }
    const stemma::model_fold apart(opened,
                                   stemma::fold_options<>{.name_of = stemma::named_by_path{}});
    const stemma::model_fold shared(opened, stemma::fold_options<>{});
    CHECK(apart.plan().functions.size() > shared.plan().functions.size());
    const stemma::model_fold layers(
        opened, stemma::fold_options<>{.selection = [](const auto& modules, stemma::id m) {
            return modules.class_name(m) == "BertLayer";
        }});
    CHECK(layers.plan().functions.size() == 1);
}

TEST_CASE("model_fold: rejects models with a reason") {
    const test::scratch_folder folder;
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"),
                                          captured("bert_micro"));
    written(opened, folder.file("folded"));
    const stemma::attributed_model again(folder.file("folded"), {});
    const auto fold = [](const stemma::attributed_model& model, const stemma::module_folding& how) {
        return test::refusal([&] { return stemma::model_fold(model, how).bytes(); }).code();
    };
    CHECK(fold(again, {}) == stemma::error_code::refused);
    CHECK(fold(opened, {.least = 100000}) == stemma::error_code::not_found);
    CHECK(fold(opened, {.modules = "nowhere"}) == stemma::error_code::not_found);
    CHECK_THROWS_WITH(stemma::model_fold(opened, stemma::module_folding{.least = 100000}),
                      !Catch::Matchers::Contains("--"));
}

TEST_CASE("model_fold: the code in docs/folding.md works") {
    const test::scratch_folder folder;
    const auto source = test::fixture("bert_micro/model.onnx");
    const stemma::attributed_model model(source, captured("bert_micro"));
    const auto folded = folder.file("folded.onnx");
    const auto unfolded = folder.file("unfolded.onnx");
    const stemma::model_fold fold(model);
    fold.write(folded);
    stemma::unfold_file(folded, unfolded);
    CHECK(test::read_bytes(unfolded) == test::read_bytes(source));
}

TEST_CASE("find_foldable: says what could fold instead of nothing") {
    const stemma::attributed_model opened(test::fixture("mlp/model.onnx"), captured("mlp"));
    CHECK_THROWS_AS(stemma::model_fold(opened, stemma::module_folding{}), stemma::error);
    const auto other = stemma::model_fold::find_foldable(opened, {});
    REQUIRE(other.has_value());
    CHECK(other->functions > 0);
    CHECK(other->least <= 2);
    CHECK_FALSE(stemma::model_fold::find_foldable(opened, {.depth = 0}).has_value());
}

TEST_CASE("write_json: lists functions and calls of the plan") {
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"),
                                          captured("bert_micro"));
    const stemma::model_fold folded(opened, stemma::module_folding{});
    const auto json = test::json_of(folded, opened, 7U);
    CHECK(json["schema"] == "stemma.folds/1");
    CHECK(json["folded_bytes"] == 7);
    CHECK(json["functions"].size() == folded.plan().functions.size());
    CHECK(json["calls"].size() == folded.plan().call_count());
}

} // namespace test::fold_model_fold
