// SPDX-License-Identifier: Apache-2.0
// The guarantees of the evidence, on whole models: exported ones, and generated ones in every
// dialect.
#include <stemma/open/attributed_model.hpp>

#include "../catch.hpp"
#include "../find_in_model.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../scratch_folder.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/capture/detail/oracle.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/accuracy.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/tagging/propagation.hpp>

#include <nlohmann/json.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace test::open_attributed_model {

namespace fs = std::filesystem;
using stemma::id;

namespace {

struct measured {
    stemma::accuracy scoped; ///< nodes with a scope of the exporter
    std::size_t sure = 0;    ///< of all, with a confidence of at least 0.9
    std::size_t sure_and_right = 0;
    std::size_t scoped_right_and_sure = 0;

    void operator+=(const measured& other) {
        scoped += other.scoped;
        sure += other.sure;
        sure_and_right += other.sure_and_right;
        scoped_right_and_sure += other.scoped_right_and_sure;
    }
    [[nodiscard]] std::size_t nodes() const {
        return scoped.exact + scoped.ancestor + scoped.descendant + scoped.contaminated;
    }
    /// Whether at least that many per thousand are correct.
    [[nodiscard]] bool exact_per_mille(std::size_t wanted) const {
        return scoped.exact * 1000 >= nodes() * wanted;
    }
};

measured measure(const std::string& model, const std::string& truth_path,
                 const std::vector<std::string>& captures) {
    const stemma::mapped_file file(truth_path);
    const stemma::detail::oracle_file truth(file.bytes(), truth_path);
    stemma::attribution_options options;
    options.captures = stemma::captures(captures);
    const stemma::attributed_model opened(model, options);
    measured result;
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        const auto name = opened.model().name(node);
        const auto module = truth.module_of(name);
        if (!module) {
            continue;
        }
        const auto& attribution = opened.tags().attributions[node];
        const auto how = stemma::relate(opened.modules().path(attribution.module), *module);
        const bool right = how == stemma::relation::exact;
        const bool sure = attribution.confidence >= 0.9F;
        result.sure += sure ? 1U : 0U;
        result.sure_and_right += sure && right ? 1U : 0U;
        if (truth.is_scoped(name)) {
            result.scoped.add(how);
            result.scoped_right_and_sure += sure && right ? 1U : 0U;
        }
    }
    return result;
}

/// The models with one name that have a truth file.
measured measure_fixtures(const std::string& name, bool with_capture) {
    measured all;
    auto models = test::files_called(name, ".onnx");
    if (name == "model.onnx") {
        const auto structures = test::files_called("model.structure.onnx", ".onnx");
        models.insert(models.end(), structures.begin(), structures.end());
    }
    for (const auto& model : models) {
        const auto folder = fs::path(model).parent_path();
        const auto truth = folder / "truth.json";
        if (!fs::exists(truth)) {
            continue;
        }
        const auto capture = (folder / "modules.json").string();
        const auto one = measure(model, truth.string(),
                                 with_capture ? std::vector{capture} : std::vector<std::string>{});
        INFO(model << ": " << one.scoped.exact << " of " << one.nodes());
        if (name != "unnamed.onnx") {
            CHECK(one.scoped.contaminated == 0);
            CHECK((!with_capture || one.scoped.exact == one.nodes()));
        }
        all += one;
    }
    REQUIRE(all.nodes() > 1000);
    return all;
}

std::string dialect_file(const std::string& name) {
    return (fs::path(STEMMA_TEST_DATA) / "dialects" / name).string();
}

/// Returns: the model with its tags.
std::string written(const stemma::attributed_model& opened) {
    stemma::detail::tag_editor editor(
        opened.model(), opened.modules(), opened.tags(), stemma::carrier_set{},
        stemma::detail::find_value_tags(opened.model(), opened.modules(), opened.tags()),
        stemma::detail::to_json(opened.record({}), opened.modules()), "");
    stemma::detail::rewrite plan(opened.model(), editor);
    stemma::detail::string_splice out(opened.model().bytes());
    plan.write(out);
    return std::move(out.text);
}

} // namespace

TEST_CASE("attributed_model: opens bytes in memory like their file", "[attributed_model]") {
    for (const auto& path : test::model_files()) {
        INFO(path);
        const stemma::attributed_model file(path, {});
        auto bytes = test::read_bytes(path);
        const stemma::attributed_model viewed(stemma::mapped_file::viewing(bytes, path), {});
        const auto mine = file.tags().attributions;
        const auto same = [&](const stemma::attributed_model& opened) {
            return opened.modules().size() == file.modules().size() &&
                   opened.model().file() == path &&
                   ranges::equal(opened.tags().attributions, mine,
                                 [](const auto& a, const auto& b) {
                                     return a.module == b.module && a.call == b.call &&
                                            a.source == b.source && a.confidence == b.confidence;
                                 });
        };
        CHECK(same(viewed));
        CHECK(same(stemma::attributed_model(stemma::mapped_file::holding(bytes, path), {})));
    }
}

TEST_CASE("attributed_model: rejects bytes that are not a model, by the given name",
          "[attributed_model]") {
    std::string bytes = "\x0a";
    CHECK_THROWS_WITH([&] { auto opened = test::in_memory(std::move(bytes), "upload"); }(),
                      Catch::Matchers::StartsWith("upload: "));
}

TEST_CASE("attributed_model: named nodes with a capture are exact") {
    const auto all = measure_fixtures("model.onnx", true);
    CHECK(all.scoped.exact == all.nodes());
}

TEST_CASE("attributed_model: named nodes without a capture are nearly all exact, none in a foreign "
          "module") {
    const auto all = measure_fixtures("model.onnx", false);
    CHECK(all.exact_per_mille(950));
    CHECK(all.scoped.contaminated == 0);
    CHECK(all.scoped.ancestor * 100 <= all.nodes() * 3);
}

TEST_CASE("attributed_model: without names and capture, most are exact and few in a foreign "
          "module") {
    const auto all = measure_fixtures("unnamed.onnx", false);
    CHECK(all.exact_per_mille(600));
    CHECK(all.scoped.contaminated * 100 <= all.nodes());
}

TEST_CASE("attributed_model: a confidence of 0.9 is justified, and common") {
    for (const bool with_capture : {false, true}) {
        const auto named = measure_fixtures("model.onnx", with_capture);
        CHECK(named.sure_and_right * 100 >= named.sure * 99);
        CHECK(named.scoped_right_and_sure * 100 >= named.scoped.exact * 95);
    }
    const auto unnamed = measure_fixtures("unnamed.onnx", false);
    CHECK(unnamed.sure_and_right * 100 >= unnamed.sure * 99);
}

TEST_CASE("attributed_model: every dialect leads to the original modules") {
    for (const std::string name : {"dynamo", "dynamo_strict", "builder", "rewritten", "typed"}) {
        const auto one =
            measure(dialect_file(name + ".onnx"), dialect_file(name + ".truth.json"), {});
        INFO(name << ": " << one.scoped.exact << " of " << one.nodes());
        REQUIRE(one.nodes() > 0);
        CHECK(one.scoped.contaminated == 0);
        CHECK(one.exact_per_mille(995));
        CHECK(one.sure == one.sure_and_right);
    }
}

TEST_CASE("attributed_model: an embedding shared by two parents is one module, with a caller and a "
          "call for each") {
    const auto truth = dialect_file("shared_embedding.truth.json");
    const auto model = dialect_file("shared_embedding.onnx");
    const auto capture = dialect_file("shared_embedding.capture.json");
    const auto with = measure(model, truth, {capture});
    CHECK(with.scoped.exact == 7);
    CHECK(measure(model, truth, {}).scoped.contaminated == 0);
    stemma::attribution_options options;
    options.captures = stemma::captures({capture});
    const stemma::attributed_model opened(model, options);
    std::map<std::string, stemma::id> calls;
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        if (opened.model().op_type(node) == "Gather") {
            calls[std::string(opened.model().name(node))] = opened.tags().attributions[node].call;
        }
    }
    CHECK(calls == std::map<std::string, stemma::id>{{"/encoder/embed/Gather", 0},
                                                     {"/decoder/embed/Gather", 1}});
}

TEST_CASE(
    "attributed_model: two calls of a block with equal metadata are distinguished by data flow") {
    for (const std::string name : {"dynamo", "dynamo_strict"}) {
        const stemma::attributed_model opened(dialect_file(name + ".onnx"), {});
        std::map<std::string, std::vector<stemma::id>> calls;
        for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
            const auto& attribution = opened.tags().attributions[node];
            const auto path = opened.modules().path(attribution.module);
            if (path.starts_with("tied.fc")) {
                calls[path].push_back(attribution.call);
            }
        }
        // Nodes are numbered in order of creation: first all of one call.
        const std::vector<stemma::id> expected{0, 0, 1, 1};
        CHECK(calls == std::map<std::string, std::vector<stemma::id>>{{"tied.fc1", expected},
                                                                      {"tied.fc2", expected}});
    }
}

namespace {

/// Returns: the names of the nodes with contradictory evidence.
std::set<std::string> nodes_in_conflict(const stemma::attributed_model& opened) {
    std::set<std::string> names;
    opened.tags().conflicts.for_each([&](stemma::id node, std::span<const stemma::claim>) {
        names.emplace(opened.model().name(node));
    });
    return names;
}

/// Replaces the first occurrence of a text by one of the same length.
void replace_first(std::string& bytes, const std::string& from, const std::string& to) {
    REQUIRE(from.size() == to.size());
    const auto at = bytes.find(from);
    REQUIRE(at != bytes.npos);
    bytes.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("attributed_model: planted contradictions are reported exactly, with both claims") {
    const test::scratch_folder folder;
    for (const std::string name : {"builder", "typed"}) {
        INFO(name);
        CHECK(nodes_in_conflict({dialect_file(name + ".onnx"), {}}).empty());
    }
    // A shape shared by three blocks has the scope of the first of them.
    const std::set<std::string> shared{"node_val_21", "node_val_23"};
    CHECK(nodes_in_conflict({dialect_file("dynamo.onnx"), {}}) == shared);
    // The first multiplication reads the weight of blocks.0.fc1; its metadata now name another.
    auto bytes = test::read_bytes(dialect_file("dynamo.onnx"));
    replace_first(bytes, "['', 'blocks.0', 'blocks.0.fc1', 'linear']",
                  "['', 'blocks.1', 'blocks.1.fc1', 'linear']");
    const stemma::attributed_model opened(folder.make("planted.onnx", bytes), {});
    auto conflicts = nodes_in_conflict(opened);
    for (const auto& name : shared) {
        CHECK(conflicts.erase(name) == 1);
    }
    REQUIRE(conflicts.size() == 1);
    const auto node = test::node_called(opened.model(), *conflicts.begin());
    CHECK(opened.model().op_type(node) == "MatMul");
    const auto& attribution = opened.tags().attributions[node];
    CHECK(attribution.conflict);
    CHECK(opened.modules().path(attribution.module) == "blocks.1.fc1"); // by trust
    std::set<std::string> claimed;
    for (const auto& one : opened.tags().conflicts.of(node)) {
        claimed.emplace(opened.modules().path(one.module));
    }
    CHECK(claimed == std::set<std::string>{"blocks.0.fc1", "blocks.1.fc1"});
}

TEST_CASE("attributed_model: bodies of functions run where their calls do") {
    for (const std::string name : {"dynamo", "dynamo_strict"}) {
        const stemma::attributed_model opened(dialect_file(name + ".onnx"), {});
        for (const auto* body : {"twice_first", "twice_second"}) {
            const auto node = test::node_called(opened.model(), body);
            REQUIRE(node != stemma::no_id);
            CHECK(opened.modules().path(opened.tags().attributions[node].module) == "head");
        }
    }
}

TEST_CASE("attributed_model: a fused operator belongs to the common ancestor of its origins") {
    const stemma::attributed_model opened(dialect_file("rewritten.onnx"), {});
    stemma::id fused = 0;
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        if (opened.model().op_type(node) == "Gemm") {
            const auto& attribution = opened.tags().attributions[node];
            CHECK(opened.modules().path(attribution.module) == "stages." + std::to_string(fused++));
            CHECK(attribution.confidence < 0.9F);
        }
    }
    CHECK(fused == 3);
}

TEST_CASE("attributed_model: calls of shared blocks and towers match the run") {
    std::size_t later_calls = 0;
    for (const auto& model : test::files_called("model.onnx", ".onnx")) {
        const auto folder = fs::path(model).parent_path();
        if (!fs::exists(folder / "truth.json")) {
            continue;
        }
        const auto truth =
            nlohmann::json::parse(test::read_bytes((folder / "truth.json").string()));
        std::map<std::string, stemma::id> true_calls;
        for (const auto& node : truth.at("nodes")) {
            if (node.contains("call") && node.at("call").is_number()) {
                true_calls[node.at("original").get<std::string>()] =
                    node.at("call").get<stemma::id>();
            }
        }
        stemma::attribution_options options;
        options.captures = stemma::captures({(folder / "modules.json").string()});
        const stemma::attributed_model opened(model, options);
        for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
            const auto entry = true_calls.find(std::string(opened.model().name(node)));
            if (entry == true_calls.end()) {
                continue;
            }
            INFO(model << " " << entry->first);
            const auto call = opened.tags().attributions[node].call;
            CHECK(call == entry->second);
            later_calls += entry->second > 0 ? 1U : 0U;
        }
    }
    CHECK(later_calls > 0);
}

TEST_CASE("attributed_model: a root without a class is the model, whatever the graph is called") {
    const test::scratch_folder folder;
    const auto tags_of = [&](const std::string& path) {
        const stemma::attributed_model opened(path, {});
        std::vector<std::string> tags;
        for (const auto& attribution : opened.tags().attributions) {
            tags.push_back(opened.tags().tags.text(attribution.module));
        }
        return tags;
    };
    const auto model = [](const std::string& name) {
        auto graph = test::graph({test::node("MatMul", {"x", "fc.weight"}, {"h"}, "/fc/MatMul"),
                                  test::node("Relu", {"h"}, {"y"}, "/Relu")},
                                 {"x"}, {"y"});
        graph.inner(5, test::tensor("fc.weight", {2, 2})).text(2, name); // the last name counts
        return test::model(graph).bytes();
    };
    const auto first = tags_of(folder.make("a.onnx", model("main_graph")));
    CHECK(first == std::vector<std::string>{"/model/fc", "/model"});
    CHECK(tags_of(folder.make("b.onnx", model("torch_jit"))) == first);
    CHECK(tags_of(folder.make("c.onnx", model(""))) == first);
    SECTION("a record keeps its name of the root") {
        const auto bytes = model("torch_jit");
        test::tagged_model tagged(bytes);
        auto named = stemma::rebuild_tree(tagged.ops, "torch_jit").modules;
        test::tagged_model as_before(bytes, &named);
        as_before.from_model = true;
        const auto written_before = as_before.write(stemma::carrier_set{});
        CHECK(tags_of(folder.make("d.onnx", written_before)) ==
              std::vector<std::string>{"/torch_jit/fc", "/torch_jit"});
    }
}

TEST_CASE("attributed_model: numbers of modules in a record are those of its own tree") {
    const auto bytes = test::model(test::graph({test::node("Relu", {"x"}, {"h"}, "/a/Relu"),
                                                test::node("Relu", {"h"}, {"y"}, "/b/Relu")},
                                               {"x"}, {"y"}))
                           .bytes();
    // The file names one module more.
    stemma::module_tree_builder builder("");
    builder.at_path("b");
    const auto tree = builder.build();
    test::tagged_model tagged(bytes, &tree);
    tagged.from_model = true;
    const auto opened = test::in_memory(tagged.write({.metadata = false, .model = true}), "a.onnx");
    std::vector<std::string> paths;
    for (const auto& attribution : opened.tags().attributions) {
        paths.push_back(opened.modules().path(attribution.module));
    }
    CHECK(paths == std::vector<std::string>{"b", "b"});
}

TEST_CASE("attributed_model: a capture of another model is ignored, and reported") {
    const fs::path fixtures(STEMMA_TEST_DATA "/fixtures");
    const auto model = (fixtures / "bert_micro" / "model.onnx").string();
    stemma::attribution_options options;
    options.captures = stemma::captures({(fixtures / "resnet18" / "modules.json").string(),
                                         (fixtures / "resnet18" / "trace.json").string()});
    const stemma::attributed_model with(model, options);
    const stemma::attributed_model without(model, {});
    REQUIRE(with.capture_notes().size() == 1);
    CHECK(with.capture_notes().front().find("another model") != std::string::npos);
    CHECK(with.tree_from_model());
    CHECK(with.captured().empty());
    REQUIRE(with.modules().size() == without.modules().size());
    for (id node = 0; node < with.model().node_count(); ++node) {
        CHECK(with.tags().attributions[node].module == without.tags().attributions[node].module);
    }
}

TEST_CASE("attributed_model: other rules decide anew on a tagged file, but not what was edited") {
    const auto path = test::fixture("bert_micro/model.onnx");
    const stemma::attributed_model plain(
        path, {.captures = stemma::captures({test::fixture("bert_micro/modules.json")})});
    auto bytes = stemma::tagged_bytes(plain, stemma::carrier_set{});
    const auto reopen = [&](stemma::attribution_options options) {
        return std::make_unique<stemma::attributed_model>(
            stemma::mapped_file::holding(bytes, "tagged.onnx"), std::move(options));
    };
    const auto count_of = [](const stemma::attributed_model& opened, stemma::provenance source) {
        const auto& all = opened.tags().attributions;
        return std::count_if(all.begin(), all.end(),
                             [&](const auto& one) { return one.source == source; });
    };
    const auto off = reopen({.propagation = {stemma::no_propagation{}}});
    const auto anew = reopen({.propagation = {stemma::no_propagation{}}, .recompute = true});
    CHECK(count_of(*off, stemma::provenance::recorded) == 0);
    CHECK(count_of(*off, stemma::provenance::root) == count_of(*anew, stemma::provenance::root));
    CHECK(count_of(*off, stemma::provenance::root) >
          count_of(*reopen({}), stemma::provenance::root));

    const std::string before = "pkg.stemma.module\x12\x24"
                               "encoder.layer.0.attention.self.query";
    const auto at = bytes.find(before);
    REQUIRE(at != bytes.npos);
    bytes[at + before.find("0.attention")] = '1';
    const auto edited = reopen({});
    const auto edits = count_of(*edited, stemma::provenance::recorded);
    CHECK(edits > 0);
    CHECK(count_of(*reopen({.propagation = {stemma::no_propagation{}}}),
                   stemma::provenance::recorded) == edits);
}

TEST_CASE("attributed_model: results and output are independent of the number of threads") {
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        const auto capture = fs::path(path).parent_path() / "modules.json";
        for (const bool with_capture : {false, true}) {
            stemma::attribution_options options;
            if (with_capture && !fs::exists(capture)) {
                continue;
            }
            if (with_capture) {
                options.captures = stemma::captures({capture.string()});
            }
            stemma::attributed_model one(path, options);
            options.digest = true;
            const stemma::thread_scope threads({4, 1});
            stemma::attributed_model several(path, options);
            const bool same_attributions =
                ranges::equal(one.tags().attributions, several.tags().attributions,
                              [](const stemma::attribution& a, const stemma::attribution& b) {
                                  return a.module == b.module && a.call == b.call &&
                                         a.source == b.source && a.confidence == b.confidence &&
                                         a.conflict == b.conflict;
                              });
            CHECK(same_attributions);
            CHECK(several.tags().conflicts.size() == one.tags().conflicts.size());
            const bool same = written(several) == written(one);
            CHECK(same);
        }
    }
}

TEST_CASE("attributed_model: an open model can be read concurrently") {
    const auto path = test::fixture("bert_micro/model.onnx");
    for (const unsigned most : {1U, 4U}) {
        const stemma::thread_scope threads({most, 1});
        auto file = std::make_unique<const stemma::model_file>(path);
        const auto* const model = &file->model();
        id nodes = 0;
        stemma::task_beside count(model->node_count(),
                                  [&nodes, model] { nodes = model->node_count(); });
        stemma::attributed_model opened(std::move(file), {});
        CHECK(model == &opened.model());
        count.wait();
        CHECK(nodes == opened.model().node_count());
        stemma::attributed_model alone(path, {});
        CHECK(written(opened) == written(alone));
    }
}

TEST_CASE("attributed_model: several threads may ask for evidence at once") {
    const auto path = test::fixture("shared_twice/model.onnx");
    // Everything that is computed when it is asked for.
    const auto answers = [](const stemma::attributed_model& opened) {
        std::vector<std::size_t> counts{
            opened.scopes().scopes.size(), opened.modules_of_scopes().of_scope.size(),
            opened.hierarchies().problems.size(), opened.dialects().of.size()};
        for (id node = 0; node < opened.model().node_count(); ++node) {
            counts.push_back(opened.claims_about(node).size());
        }
        opened.for_each_claimed(stemma::provenance::scope,
                                [&](id node, std::span<const stemma::claim> claims) {
                                    counts.push_back(node + claims.size());
                                });
        return std::pair(counts, written(opened));
    };
    const auto expected = answers(stemma::attributed_model(path, {}));
    const stemma::attributed_model opened(path, {});
    std::vector<decltype(answers(opened))> results(4);
    std::vector<std::thread> threads;
    for (auto& result : results) {
        threads.emplace_back([&] { result = answers(opened); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    for (const auto& result : results) {
        CHECK(result.first == expected.first);
        const bool same = result.second == expected.second;
        CHECK(same);
    }
}

TEST_CASE("attributed_model: output does not change when evidence is freed") {
    const auto fixtures = fs::path(STEMMA_TEST_DATA) / "fixtures";
    for (const auto* name : {"bert_micro", "shared_twice", "control_flow"}) {
        const auto model = (fixtures / name / "model.onnx").string();
        stemma::attributed_model whole(model, {});
        stemma::attributed_model forgetful(model, {});
        forgetful.forget_evidence();
        CHECK(written(forgetful) == written(whole));
    }
}

} // namespace test::open_attributed_model
