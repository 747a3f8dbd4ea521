// SPDX-License-Identifier: Apache-2.0
#include <stemma/check/detail/check_tags.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../operator_scene.hpp"
#include "../../tagged_bytes.hpp"
#include "../../wire_builder.hpp"

#include <stemma/io/mapped_file.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <map>
#include <string>
#include <string_view>

namespace test::check_detail_check_tags {

namespace {

using counts = std::map<std::string, int>;

counts findings_of(const std::string& bytes) {
    const stemma::wire_model model(bytes);
    counts by_code;
    stemma::detail::check_tags(model, [&](const stemma::finding& one) {
        CHECK_FALSE(one.place.empty());
        ++by_code[one.code];
    });
    return by_code;
}

std::string bytes_of(const std::string& fixture) {
    const stemma::mapped_file file(test::fixture(fixture));
    return std::string(file.bytes());
}

/// Replaces a text by another of equal length, at its first occurrence after `behind`.
std::string replaced(std::string bytes, std::string_view from, std::string_view to,
                     std::string_view behind = {}) {
    REQUIRE(from.size() == to.size());
    const auto start = bytes.find(behind);
    REQUIRE(start != bytes.npos);
    const auto at = bytes.find(from, start);
    REQUIRE(at != bytes.npos);
    bytes.replace(at, from.size(), to);
    return bytes;
}

constexpr stemma::carrier_set everything{true, true, true, true, true};

} // namespace

TEST_CASE("check_tags: a tagged model has no findings, whatever the carriers") {
    for (const auto* fixture : {"bert_micro", "control_flow", "shared_twice", "quirks"}) {
        const auto capture = test::fixture(std::string(fixture) + "/modules.json");
        const auto bytes = bytes_of(std::string(fixture) + "/model.onnx");
        const auto tree = test::read_capture(capture);
        for (unsigned i = 1; i < test::carrier_sets; ++i) {
            INFO(fixture << " " << i);
            CHECK(findings_of(test::tag(bytes, test::carriers_of(i), &tree)).empty());
        }
        CHECK(findings_of(test::tag(bytes, everything)).empty());
        CHECK(findings_of(bytes) == counts{{"tags.none", 1}});
    }
}

TEST_CASE("check_tags: reports manual changes") {
    const auto original = bytes_of("mlp/model.onnx");
    const auto tree = test::read_capture(test::fixture("mlp/modules.json"));
    const auto tagged = test::tag(original, everything, &tree);
    const std::string key(stemma::detail::module_key);
    SECTION("a module that is not in the tree") {
        CHECK(findings_of(replaced(tagged, "fc1", "fcX", key)) ==
              counts{{"tags.unknown_module", 1}});
    }
    SECTION("a tag of no module") {
        const auto findings =
            findings_of(replaced(tagged, "/", "_", stemma::detail::source_module_key));
        CHECK(findings == counts{{"tags.unknown_tag", 1}});
    }
    SECTION("a carrier that is gone from a node") {
        CHECK(findings_of(replaced(replaced(tagged, key, "pkg.stemma.mXdule"),
                                   stemma::detail::source_module_key,
                                   "pkg.stemma.sXurce_module")) == counts{{"tags.incomplete", 1}});
    }
    SECTION("a node that is another one now") {
        CHECK(findings_of(replaced(tagged, "\x22\x04Relu", "\x22\x04Tanh")) ==
              counts{{"tags.stale", 1}});
    }
    SECTION("no record") {
        CHECK(findings_of(replaced(tagged, stemma::detail::model_key, "pkg.stemma.mXdel")) ==
              counts{{"tags.no_record", 1}});
    }
    SECTION("a damaged record") {
        const auto damaged = replaced(tagged, "\"", "x", stemma::detail::model_key);
        CHECK(findings_of(damaged) == counts{{"tags.damaged", 1}});
    }
}

TEST_CASE("check_tags: reads lists with anything in them") {
    const auto node = test::node("Relu", {"x"}, {"y"}, "/a/Relu");
    const auto tagged = test::tag(test::model(test::graph({node}, {"x"}, {"y"})).bytes(), {});
    CHECK(findings_of(tagged).empty());
    for (const auto& list : {std::string("[7]"), std::string("[\"no such tag\"]"),
                             std::string(300'000, '[') + std::string(300'000, ']')}) {
        const auto info =
            test::value_info("y").inner(4, test::entry(stemma::detail::hierarchy_tags_key, list));
        const auto more = test::message().inner(7, test::message().inner(13, info)).bytes();
        CHECK(findings_of(tagged + more) == counts{{"tags.unknown_tag", 1}});
    }
}

TEST_CASE("check_tags: an attribute of that name from elsewhere is nobody's fault") {
    auto node = test::node("Relu", {"x"}, {"y"}, "/a/Relu");
    node.inner(5, test::text_attribute("source_module", "elsewhere"));
    const auto bytes = test::model(test::graph({node}, {"x"}, {"y"})).bytes();
    CHECK(findings_of(test::tag(bytes, {.attribute = true})).empty());
}

TEST_CASE("check_tags: marks without a sketch are of the model that this is a part of") {
    const auto tagged = test::tag(bytes_of("mlp/model.onnx"), {.mark = true});
    const auto without = replaced(tagged, stemma::detail::sketch_key, "pkg.stemma.grXph");
    CHECK(findings_of(without).count("tags.incomplete") == 1);
    CHECK(findings_of(replaced(without, ", \"mark\"]", "]        ", "\"carriers\"")).empty());
}

TEST_CASE("check_tags: reports carriers that disagree") {
    const auto original = bytes_of("bert_micro/model.onnx");
    const auto tree = test::read_capture(test::fixture("bert_micro/modules.json"));
    const auto tagged = test::tag(original, {true, false, true, false, false}, &tree);
    // The module in the metadata becomes another existing one, with another tag.
    const auto findings =
        findings_of(replaced(tagged, "encoder.layer.0.intermediate.dense",
                             "encoder.layer.1.intermediate.dense", stemma::detail::module_key));
    CHECK(findings.count("tags.inconsistent") == 1);
    CHECK(findings.count("tags.disagree") == 1);
    // An unrecorded carrier is reported once.
    const auto doubled = replaced(tagged, "\"doc-string\"", "\"metadata\"  ", "\"carriers\"");
    CHECK(findings_of(doubled) == counts{{"tags.unrecorded", 1}});
}

TEST_CASE("check_tags: compares the tree with that of a capture") {
    const auto tree = test::read_capture(test::fixture("bert_micro/modules.json"));
    const auto other = test::read_capture(test::fixture("bert_micro_12l/modules.json"));
    const auto original = bytes_of("bert_micro/model.onnx");
    const auto tagged = test::tag(original, {}, &tree);
    const auto places = [&](const std::string& bytes, const stemma::module_tree& expected) {
        std::string text;
        stemma::detail::check_tree(
            stemma::wire_model(bytes), expected,
            [&](const stemma::finding& one) { text += one.code + " " + one.place; });
        return text;
    };
    CHECK(places(tagged, tree).empty());
    CHECK(places(original, tree) == "tags.none model");
    CHECK(places(tagged, test::tree_of({"a"})) == "tags.other_tree the root");
    // The other model has more layers in place of this one's pooler.
    CHECK(places(tagged, other) == "tags.other_tree module 'pooler'");
}

} // namespace test::check_detail_check_tags
