// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/tag_proto.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../sanitized.hpp"
#include "models.hpp"

#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/tagging/tagger.hpp>

#include <google/protobuf/util/message_differencer.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::proto_tag_proto {

namespace {

struct tagged_modules {
    stemma::module_tree modules;
    stemma::tagging found;
};

tagged_modules tag(const stemma::wire_model& model) {
    const stemma::onnx_operators ops(model);
    tagged_modules result;
    result.modules = stemma::rebuild_tree(ops).modules;
    result.found = stemma::tag_operators(ops, result.modules);
    return result;
}

std::vector<stemma::carrier_set> all_carriers() {
    std::vector<stemma::carrier_set> all;
    for (unsigned bits = 0; bits < 32; ++bits) {
        all.push_back({(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0, (bits & 8U) != 0,
                       (bits & 16U) != 0});
    }
    return all;
}

std::string name_of(const stemma::carrier_set& carriers) {
    std::string name = "carriers";
    stemma::carrier_set::for_each_name(carriers, [&](std::string_view carrier, bool used) {
        name.append(used ? " " : "").append(used ? carrier : "");
    });
    return name;
}

template <class Editor>
std::string rewritten(const stemma::wire_model& model, Editor& editor) {
    stemma::detail::rewrite plan(model, editor);
    stemma::detail::string_splice out(model.bytes());
    plan.write(out);
    return std::move(out.text);
}

std::string tag_file(const std::string& bytes, const tagged_modules& with,
                     const stemma::carrier_set& carriers) {
    const stemma::wire_model model(bytes);
    stemma::detail::model_record record;
    record.carriers = carriers;
    record.describe(model.node_count(), stemma::detail::find_digests(model));
    auto editor = stemma::detail::make_tag_editor(
        model, with.modules, with.found, [&](const stemma::carrier_set&) { return record; },
        carriers);
    return rewritten(model, editor);
}

std::string strip_file(const std::string& bytes) {
    const stemma::wire_model model(bytes);
    stemma::detail::strip_editor editor(model);
    return rewritten(model, editor);
}

template <class Proto>
std::string stripped(Proto model) {
    stemma::strip(model);
    return test::bytes_of(model);
}

// Field by field, unknown ones included, and in the order of repeated ones.
template <class Proto>
void check_equal(const Proto& actual, const Proto& expected) {
    using google::protobuf::util::MessageDifferencer;
    if (test::bytes_of(actual) != test::bytes_of(expected)) {
        std::string differences;
        MessageDifferencer differencer;
        differencer.ReportDifferencesToString(&differences);
        CHECK(differencer.Compare(expected, actual));
        FAIL(differences.substr(0, 2000));
    }
}

template <class Proto>
void check_carriers(const Proto& untagged) {
    const auto bytes = test::bytes_of(untagged);
    const auto with = tag(stemma::proto_model(untagged));
    const auto plain = stripped(untagged);
    // Every fifth set where a sanitizer watches; which ones differs from file to file.
    const std::size_t step = test::sanitized ? 5 : 1;
    const auto all = all_carriers();
    for (auto i = bytes.size() % step; i < all.size(); i += step) {
        const auto& carriers = all[i];
        INFO(name_of(carriers));
        auto model = untagged;
        stemma::tag(model, with.modules, with.found, carriers);
        check_equal(model, test::parse<Proto>(tag_file(bytes, with, carriers)));
        CHECK(stripped(model) == plain);
        auto again = model;
        stemma::tag(again, with.modules, with.found, carriers);
        check_equal(again, model);
    }
}

onnx::ModelProto small_model() {
    onnx::ModelProto model;
    auto& graph = *model.mutable_graph();
    graph.set_name("net");
    graph.add_initializer()->set_name("a.weight");
    graph.add_initializer()->set_name("b.weight");
    test::add_node(graph, "MatMul", "/a/MatMul", {"x", "a.weight"}, {"h"});
    test::add_node(graph, "MatMul", "/b/MatMul", {"h", "b.weight"}, {"y"});
    return model;
}

} // namespace

TEST_CASE("tag: writes the same into messages as into files, and strip removes it") {
    for (const auto& path : test::fixture_paths()) {
        INFO(path);
        const auto untagged = test::load(path);
        CHECK(stripped(untagged) == test::bytes_of(untagged));
        check_carriers(untagged);
    }
}

TEST_CASE("tag: keeps foreign data as in the file, in every schema") {
    const auto older = test::rare_model<onnx::ModelProto>();
    CHECK(stripped(older) == test::bytes_of(older));
    check_carriers(older);
    const auto newer = test::rare_model<newer_onnx::ModelProto>();
    CHECK(stripped(newer) == test::bytes_of(newer));
    check_carriers(newer);
}

TEST_CASE("strip: removes from messages what was put into the file, and vice versa") {
    const auto untagged = test::rare_model<onnx::ModelProto>();
    const auto bytes = test::bytes_of(untagged);
    const auto with = tag(stemma::proto_model(untagged));
    for (const auto& carriers : all_carriers()) {
        INFO(name_of(carriers));
        const auto tagged = test::parse(tag_file(bytes, with, carriers));
        CHECK(stripped(tagged) == bytes);
        CHECK(test::bytes_of(test::parse(strip_file(test::bytes_of(tagged)))) == bytes);
    }
}

TEST_CASE("tag: records the caller's options") {
    auto model = small_model();
    auto with = tag(stemma::proto_model(model));
    stemma::detail::model_record about;
    about.from_model = true;
    about.options["select"] = "all";

    stemma::tag(model, with.modules, with.found, {}, about);

    const auto bytes = test::bytes_of(model);
    const auto record = stemma::detail::find_model_record(stemma::wire_model(bytes));
    REQUIRE(record);
    CHECK(record->from_model);
    CHECK(record->options.at("select") == "all");
    CHECK(record->nodes == 2);
    CHECK(record->modules.size() == with.modules.size());
}

TEST_CASE("strip: a damaged entry is an error") {
    auto model = small_model();
    model.mutable_graph()->mutable_node(1)->mutable_unknown_fields()->AddLengthDelimited(
        9, "\x0a\x7fshort");
    const auto before = test::bytes_of(model);

    CHECK_THROWS_AS(stemma::strip(model), stemma::error);

    CHECK(test::bytes_of(model) == before);
}

} // namespace test::proto_tag_proto
