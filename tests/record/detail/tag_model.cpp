// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/tag_model.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../random_model.hpp"
#include "../../random_numbers.hpp"
#include "../../sanitized.hpp"
#include "../../tagged_bytes.hpp"
#include "../../tagged_fixture.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace test::record_detail_tag_model {

namespace {

using stemma::carrier_set;
using stemma::id;
using stemma::no_id;
using test::carriers_of;

/// Longer runs can be requested from outside; a number of models, not a time.
std::size_t random_models() {
    const char* asked = std::getenv("STEMMA_RANDOM_MODELS");
    return asked == nullptr ? 60 : std::strtoul(asked, nullptr, 10);
}

/// The whole guarantee for one file: every combination is stripped again; some, and which these are
/// differs between files, are also attributed and tagged again, which takes most of the time.
void check_all(const std::string& bytes, const stemma::module_tree* capture = nullptr) {
    constexpr unsigned step = 13;
    test::tagged_model original(bytes, capture);
    for (unsigned set = 0; set < test::carrier_sets; ++set) {
        const bool again_too = set % step == bytes.size() % step;
        if (test::sanitized && set % 5 != bytes.size() % 5) {
            continue;
        }
        CAPTURE(set);
        const auto tagged = original.write(carriers_of(set));
        const bool stripped_is_original = test::strip(tagged) == bytes;
        CHECK(stripped_is_original);
        if (!again_too) {
            continue;
        }
        test::tagged_model again(tagged, capture);
        const auto next = (set + 11) % test::carrier_sets;
        const bool tagging_again_changes_nothing = again.write(carriers_of(set)) == tagged;
        CHECK(tagging_again_changes_nothing);
        const bool other_carrier_is_as_from_original =
            again.write(carriers_of(next)) == original.write(carriers_of(next));
        CHECK(other_carrier_is_as_from_original);
    }
}

std::string model_of(const test::message& node) {
    return test::model(test::graph({node}, {"x"}, {"y"}, {"w"})).bytes();
}

test::message plain_node() {
    return test::node("MatMul", {"x", "w"}, {"y"}, "/encoder/fc/MatMul");
}

} // namespace

TEST_CASE("find_recorded_modules: reads those in a tagged model's record, none from text") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const auto tree = test::read_capture(test::fixture("bert_micro/modules.json"));
    const auto find = stemma::detail::find_recorded_modules;
    const auto modules = find(test::tag(bytes, {}, &tree), "tagged.onnx");
    REQUIRE(modules);
    REQUIRE(modules->size() == tree.size());
    for (stemma::id m = 0; m < tree.size(); ++m) {
        CHECK(modules->class_name(m) == tree.class_name(m));
    }
    CHECK_FALSE(find("", "empty"));
    CHECK_FALSE(find(" {}", "text"));
    CHECK_FALSE(find("\n{}", "text"));
    CHECK_THROWS_AS(find(bytes, "untagged.onnx"), stemma::error);
    CHECK_THROWS_AS(find("\x08", "damaged.onnx"), stemma::error);
}

TEST_CASE("tag_editor: strip restores every fixture, whatever the carriers") {
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        const auto bytes = test::read_bytes(path);
        check_all(bytes);
        if (const auto capture = test::capture_beside(path)) {
            check_all(bytes, &*capture);
        }
    }
}

TEST_CASE("tag_editor: strip restores random files, whatever the carriers") {
    for (std::uint64_t seed = 0; seed < random_models(); ++seed) {
        CAPTURE(seed);
        check_all(test::random_model(seed, false).bytes());
    }
}

TEST_CASE("tag_editor: strip restores restructured fixtures") {
    test::random_numbers random(11);
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        const auto bytes =
            test::restructured(test::read_bytes(path), test::onnx_message::model, random);
        const auto set = static_cast<unsigned>(1 + random(test::carrier_sets - 1));
        CAPTURE(set);
        const auto tagged = test::tag(bytes, carriers_of(set));
        const bool stripped_is_original = test::strip(tagged) == bytes;
        CHECK(stripped_is_original);
        const bool tagging_again_changes_nothing = test::tag(tagged, carriers_of(set)) == tagged;
        CHECK(tagging_again_changes_nothing);
    }
}

TEST_CASE("tag_editor: a damaged file is rejected or restored") {
    test::random_numbers random(13);
    std::size_t accepted = 0;
    for (const auto* name : {"mlp/model.onnx", "quirks/model.onnx", "scripted_children/model.onnx",
                             "shared_twice/model.functions.onnx"}) {
        const auto original = test::read_bytes(test::fixture(name));
        for (std::size_t i = 0; i < 5 * random_models(); ++i) {
            auto bytes = original;
            for (auto hits = 1 + random(3); hits > 0; --hits) {
                bytes[random(bytes.size())] = static_cast<char>(random(256));
            }
            std::string stripped;
            try {
                const auto tagged =
                    test::tag(bytes, carriers_of(static_cast<unsigned>(random(32))));
                stripped = test::strip(tagged);
            } catch (const stemma::error& refusal) {
                CHECK(refusal.code() == stemma::error_code::malformed);
                continue;
            }
            ++accepted;
            CAPTURE(name, i);
            const bool is_back = stripped == bytes || test::with_minimal_lengths(stripped) ==
                                                          test::with_minimal_lengths(bytes);
            CHECK(is_back);
        }
    }
    CHECK(accepted > 0);
}

TEST_CASE("tag_editor: only padded lengths of edited messages become minimal") {
    for (std::uint64_t seed = 0; seed < random_models(); ++seed) {
        CAPTURE(seed);
        const auto bytes = test::random_model(seed, true).bytes();
        test::tagged_model original(bytes);
        const bool not_well_formed = test::with_minimal_lengths(bytes).empty();
        REQUIRE_FALSE(not_well_formed);
        for (unsigned set = 0; set < test::carrier_sets; ++set) {
            CAPTURE(set);
            const auto tagged = original.write(carriers_of(set));
            const auto stripped = test::strip(tagged);
            const bool equal_but_for_lengths =
                test::with_minimal_lengths(stripped) == test::with_minimal_lengths(bytes);
            CHECK(equal_but_for_lengths);
            const bool tagging_again_changes_nothing =
                test::tag(tagged, carriers_of(set)) == tagged;
            CHECK(tagging_again_changes_nothing);
        }
        const bool untouched_messages_keep_padding =
            test::strip(original.write(carriers_of(16))) == bytes;
        CHECK(untouched_messages_keep_padding);
    }
}

TEST_CASE("tag_editor: the order of fields does not matter") {
    test::random_numbers random(7);
    for (int i = 0; i < 20; ++i) {
        auto node = plain_node().text(6, "doc").inner(9, test::entry("namespace", "a/b"));
        auto graph = test::graph({node.shuffle(random), plain_node()}, {"x"}, {"y"}, {"w"});
        check_all(test::model(graph.shuffle(random)).shuffle(random).bytes());
    }
}

TEST_CASE("tag_editor: a graph in several chunks stays in several chunks") {
    auto model = test::model(test::graph({plain_node()}));
    model.inner(14, test::entry("between", "chunks"));
    model.inner(7, test::graph({test::node("Relu", {"y"}, {"z"}, "/head/Relu")}, {"x"}, {"z"}));
    model.inner(7, test::message());
    check_all(model.bytes());
}

TEST_CASE("tag_editor: a body in several chunks stays in several chunks") {
    const auto part = [](const char* name) {
        return test::graph({test::node("Relu", {"x"}, {name}, "/encoder/fc/Relu")}, {}, {}, {"k"});
    };
    auto attribute = test::message().inner(6, part("a")).text(1, "then_branch");
    attribute.inner(6, part("b")).number(20, 5);
    check_all(model_of(test::owner_node("If", {"x"}, {"y"}, {attribute})));
}

TEST_CASE("tag_editor: foreign source_module and hierarchy_tags stay") {
    for (const auto* name : {"source_module", "hierarchy_tags"}) {
        for (const auto* doc : {"", "somebody's", "pkg.stemmata"}) {
            auto attribute = test::text_attribute(name, "/Theirs");
            if (*doc != '\0') {
                attribute.text(13, doc);
            }
            const auto bytes = model_of(plain_node().inner(5, attribute));
            check_all(bytes);
            const auto tagged = test::tag(bytes, carriers_of(2));
            CHECK(tagged.find("/Theirs") != tagged.npos);
        }
    }
}

TEST_CASE("tag_editor: an attribute is foreign or not by its last name") {
    auto renamed = test::text_attribute("source_module", "/Theirs").text(1, "axis");
    check_all(model_of(plain_node().inner(5, renamed)));
    auto named = test::text_attribute("axis", "/Theirs").text(1, "source_module");
    check_all(model_of(plain_node().inner(5, named)));
}

TEST_CASE("tag_editor: foreign namespaces are saved and restored") {
    const carrier_set namespaces{.metadata = false, .name_space = true};
    for (std::size_t count = 1; count <= 3; ++count) {
        auto node = plain_node();
        for (std::size_t i = 0; i < count; ++i) {
            node.inner(9, test::entry("namespace", "theirs/" + std::to_string(i)));
        }
        const auto bytes = model_of(node);
        check_all(bytes);
        const test::built_model model(test::tag(bytes, namespaces));
        std::vector<std::string> current;
        std::vector<std::string> saved;
        model.for_each_metadata(0, [&](std::string_view key, std::string_view value) {
            if (key == "namespace") {
                current.emplace_back(value);
            } else if (key == "pkg.stemma.saved.namespace") {
                saved.emplace_back(value);
            }
        });
        CHECK(current == std::vector<std::string>{"encoder/fc"});
        REQUIRE(saved.size() == count);
        CHECK(saved.front() == "theirs/0");
    }
}

TEST_CASE("tag_editor: a foreign namespace that is evidence stays evidence") {
    const auto text = ": app.Net/blocks.0: app.Block/linear: aten.linear.default";
    const auto node =
        test::node("MatMul", {"x", "w"}, {"y"}, "n").inner(9, test::entry("namespace", text));
    const auto bytes = model_of(node);
    check_all(bytes);
    const auto tagged = test::tag(bytes, carriers_of(1));
    CHECK(tagged.find("/Net/Block.0") != tagged.npos);
}

TEST_CASE("tag_editor: a namespace of ours is never evidence") {
    check_all(model_of(test::node("MatMul", {"x", "w"}, {"y"}, "/a: b.C/c: d.E/MatMul")));
}

TEST_CASE("tag_editor: an entry with several keys keeps the ineffective ones") {
    const auto several = test::message().text(1, "first").text(2, "v").text(1, "namespace");
    check_all(model_of(plain_node().inner(9, several)));
}

TEST_CASE("tag_editor: doc strings of any kind are restored") {
    const std::vector<std::vector<std::string>> cases{
        {},         {""},           {"text"},     {"two\nlines"}, {"\n"},
        {"ends\n"}, {"\n\nboth"},   {"a", "b"},   {"a", ""},      {"", "b\nc"},
        {"", ""},   {"pkg.stemma"}, {"\xff\xfe"}, {"a\r\nb\r\n"}, {"pkg.stemma \n"}};
    for (const auto& docs : cases) {
        auto node = plain_node();
        for (const auto& doc : docs) {
            node.text(6, doc);
        }
        CAPTURE(docs);
        check_all(model_of(node));
    }
}

TEST_CASE("tag_editor: every IR version is read and kept") {
    for (std::uint64_t ir = 3; ir <= 13; ++ir) {
        CAPTURE(ir);
        const auto bytes =
            test::model(test::graph({plain_node()}, {"x"}, {"y"}, {"w"}), ir).bytes();
        check_all(bytes);
        const auto tagged = test::tag(bytes, carriers_of(31));
        CHECK(stemma::wire_model(tagged).ir_version() == static_cast<std::int64_t>(ir));
    }
}

TEST_CASE("tag_editor: an empty graph can be tagged") {
    check_all(test::model(test::message()).bytes());
    check_all(test::message().inner(7, test::message()).bytes());
    check_all(test::model(test::graph({}, {"x"}, {"y"}, {"w"})).bytes());
}

TEST_CASE("tag_editor: nodes, initializers and value infos in bodies are tagged") {
    auto inner = test::graph({test::node("Add", {"x", "k2"}, {"b2"}, "/encoder/deep/Add")}, {},
                             {"b2"}, {"k2"});
    inner.inner(13, test::value_info("b2"));
    const auto middle = test::owner_node(
        "If", {"x"}, {"b1"},
        {test::graph_attribute("then_branch", inner), test::graph_attribute("else_branch", inner)},
        "/encoder/If");
    auto body = test::graph({middle}, {"i", "c", "s"}, {"c", "b1"}, {"k1"});
    body.inner(13, test::value_info("b1")).inner(15, test::sparse_tensor("k3"));
    const auto loop = test::owner_node("Loop", {"n", "c0", "x"}, {"y"},
                                       {test::graph_attribute("body", body)}, "/encoder/Loop")
                          .text(6, "of the owner");
    const auto bytes = model_of(loop);
    check_all(bytes);
    const test::built_model model(test::tag(bytes, carriers_of(1)));
    REQUIRE(model.node_count() == 4);
    for (stemma::id node = 0; node < 4; ++node) {
        CHECK(model.has_metadata(node));
    }
    std::size_t described = 0;
    model.for_each_value_metadata([&](stemma::id, std::string_view key, std::string_view) {
        described += key == "pkg.stemma.hierarchy_tags" ? 1U : 0U;
    });
    CHECK(described == model.tensors().size() + model.value_infos().size());
}

TEST_CASE("tag_editor: functions and their overloads are tagged") {
    auto model = test::model(test::graph(
        {test::node("Block", {"x"}, {"h"}, "/block/Block", "local"),
         test::node("Block", {"h"}, {"y"}, "/block_1/Block", "local").text(8, "other")}));
    auto first = test::function("local", "Block", {"a"}, {"b"},
                                {test::node("Relu", {"a"}, {"b"}, "/fc/Relu")});
    first.inner(12, test::value_info("b"));
    model.inner(25, first);
    model.inner(25, test::function("local", "Block", {"a"}, {"b"},
                                   {test::node("Sigmoid", {"a"}, {"b"})}, "other"));
    check_all(model.bytes());
}

TEST_CASE("tag_editor: a file with damaged stemma data can be stripped") {
    for (const auto* record : {"", "{", "garbage", "[1]", "{\"modules\": 7}", "\xff\x00\x01"}) {
        for (unsigned set : {1U, 2U, 4U, 7U, 16U}) {
            CAPTURE(record, set);
            const auto bytes = model_of(plain_node().text(6, "doc"));
            auto tagged = test::tag(bytes, carriers_of(set));
            tagged += test::message().inner(14, test::entry("pkg.stemma.model", record)).bytes();
            const bool is_original = test::strip(tagged) == bytes;
            CHECK(is_original);
        }
    }
    const auto bytes = model_of(plain_node());
    auto alone = bytes;
    alone += test::message().inner(14, test::entry("pkg.stemma.tags", "no table")).bytes();
    const bool is_original = test::strip(alone) == bytes;
    CHECK(is_original);
}

TEST_CASE("tag_editor: tags of a file with stemma data are those of the file without it") {
    const auto bytes = test::read_bytes(test::fixture("control_flow/model.onnx"));
    const auto expected = test::tag(bytes, carriers_of(1));
    for (unsigned set = 0; set < test::carrier_sets; ++set) {
        const bool same = test::tag(test::tag(bytes, carriers_of(set)), carriers_of(1)) == expected;
        CAPTURE(set);
        CHECK(same);
    }
}

TEST_CASE("tag_editor: the graph is untouched") {
    for (const auto& path : test::model_files()) {
        const auto bytes = test::read_bytes(path);
        const auto tagged = test::tag(bytes, carriers_of(31));
        const stemma::wire_model before(bytes);
        const stemma::wire_model after(tagged);
        CAPTURE(path);
        REQUIRE(before.node_count() == after.node_count());
        REQUIRE(before.value_count() == after.value_count());
        CHECK(stemma::detail::find_digests(before) == stemma::detail::find_digests(after));
        bool same = true;
        for (stemma::id node = 0; node < before.node_count(); ++node) {
            same = same && before.name(node) == after.name(node) &&
                   before.op_type(node) == after.op_type(node);
        }
        for (stemma::id value = 0; value < before.value_count(); ++value) {
            same = same && before.value_name(value) == after.value_name(value);
        }
        CHECK(same);
    }
}

TEST_CASE("find_model_record: the last entry counts, and a damaged one is an error") {
    const auto bytes = model_of(plain_node());
    CHECK_FALSE(stemma::detail::find_model_record(stemma::wire_model(bytes)));
    auto tagged = test::tag(bytes, carriers_of(1));
    const auto record = stemma::detail::find_model_record(stemma::wire_model(tagged));
    REQUIRE(record);
    CHECK(record->nodes == 1);
    CHECK(record->carriers == carriers_of(1));
    tagged += test::message().inner(14, test::entry("pkg.stemma.model", "{")).bytes();
    CHECK_THROWS_AS(stemma::detail::find_model_record(stemma::wire_model(tagged)), stemma::error);
}

TEST_CASE("to_table: lists the modules of nodes, and all tags of those with several") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const test::tagged_model tagged(bytes);
    const auto table = stemma::detail::to_table(tagged.found);
    REQUIRE(table.module.size() == tagged.model.node_count());
    for (stemma::id node = 0; node < tagged.model.node_count(); ++node) {
        CHECK(table.module[node] == tagged.found.attributions[node].module);
        const auto several = tagged.found.pool.size_of(tagged.found.tag_sets[node]);
        const auto listed = table.several.find(node);
        CHECK((listed == table.several.end() ? 1 : listed->second.size()) == several);
    }
}

TEST_CASE("tag_texts: match the table, in text and in JSON") {
    for (const auto* name : {"bert_micro", "control_flow", "shared_twice"}) {
        const test::tagged_fixture tagged(name);
        stemma::detail::tag_texts texts(tagged.modules, tagged.found);
        for (stemma::id node = 0; node < tagged.model.node_count(); ++node) {
            const auto module = tagged.found.attributions[node].module;
            const auto said = texts.of_operator(node);
            CHECK(said.tag == tagged.found.tags.text(module));
            CHECK(said.module == tagged.modules.path(module));
            const auto set = tagged.found.tag_sets[node];
            const auto count = tagged.found.pool.size_of(set);
            CHECK(said.all.size() == (count > 1 ? count : 0));
            CHECK(said.all_as_json.empty() == said.all.empty());
            if (!said.all.empty()) {
                const std::vector<std::string> all(said.all.begin(), said.all.end());
                CHECK(nlohmann::json::parse(said.all_as_json).get<std::vector<std::string>>() ==
                      all);
            }
            CHECK(nlohmann::json::parse(texts.as_json(set, tagged.found.pool)).size() == count);
        }
    }
}

TEST_CASE("lineage_text: agrees with spelling each text separately, in any order") {
    test::random_numbers random(4);
    for (int round = 0; round < 100; ++round) {
        std::vector<id> parent{no_id};
        std::vector<std::string> whole{"root"};
        for (id m = 1; m < 60; ++m) {
            parent.push_back(static_cast<id>(random(m)));
            whole.push_back(whole[parent[m]] + "/" + std::to_string(m));
        }
        stemma::detail::lineage_text text;
        for (int i = 0; i < 300; ++i) {
            const auto m = static_cast<id>(random(parent.size()));
            const auto spelled = text.spell(
                m, [&](id below) { return parent[below]; },
                [&](id part, std::size_t level, std::string& out) {
                    CHECK((level == 0) == (part == 0));
                    out += part == 0 ? "root" : "/" + std::to_string(part);
                });
            REQUIRE(spelled == whole[m]);
        }
    }
}

} // namespace test::record_detail_tag_model
