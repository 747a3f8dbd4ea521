// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/tag_proto.hpp>

#include "../catch.hpp"
#include "../sanitized.hpp"
#include "../tagged_bytes.hpp"
#include "models.hpp"

#include <stemma/error.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <google/protobuf/util/message_differencer.h>

#include <string>

namespace test::proto_tag_proto {

namespace {

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
    test::tagged_model file(bytes);
    stemma::detail::model_record about;
    about.from_model = true;
    CHECK(stripped(untagged) == bytes);
    // Every fifth set where a sanitizer watches; which ones differs from file to file.
    const unsigned step = test::sanitized ? 5 : 1;
    for (auto i = static_cast<unsigned>(bytes.size() % step); i < test::carrier_sets; i += step) {
        INFO("carriers " << i);
        const auto carriers = test::carriers_of(i);
        auto model = untagged;
        stemma::tag(model, file.modules, file.found, carriers, about);
        check_equal(model, test::parse<Proto>(file.write(carriers)));
        CHECK(stripped(model) == bytes);
        auto again = model;
        stemma::tag(again, file.modules, file.found, carriers, about);
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
    for (const auto& path : test::model_files()) {
        INFO(path);
        check_carriers(test::load(path));
    }
}

TEST_CASE("tag: keeps foreign data as in the file, in every schema") {
    check_carriers(test::rare_model<onnx::ModelProto>());
    check_carriers(test::rare_model<newer_onnx::ModelProto>());
}

TEST_CASE("strip: removes from messages what was put into the file, and vice versa") {
    const auto bytes = test::bytes_of(test::rare_model<onnx::ModelProto>());
    test::tagged_model file(bytes);
    for (unsigned i = 0; i < test::carrier_sets; ++i) {
        INFO("carriers " << i);
        const auto tagged = test::parse(file.write(test::carriers_of(i)));
        CHECK(stripped(tagged) == bytes);
        CHECK(test::bytes_of(test::parse(test::strip(test::bytes_of(tagged)))) == bytes);
    }
}

TEST_CASE("tag: records the caller's options") {
    auto model = small_model();
    const auto untagged = test::bytes_of(model);
    const test::tagged_model file(untagged);
    stemma::detail::model_record about;
    about.from_model = true;
    about.options["select"] = "all";

    stemma::tag(model, file.modules, file.found, {}, about);

    const auto bytes = test::bytes_of(model);
    const auto record = stemma::detail::find_model_record(stemma::wire_model(bytes));
    REQUIRE(record);
    CHECK(record->from_model);
    CHECK(record->options.at("select") == "all");
    CHECK(record->nodes == 2);
    CHECK(record->modules.size() == file.modules.size());
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
