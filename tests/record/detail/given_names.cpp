// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/given_names.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../opened_graph.hpp"
#include "../../scratch_folder.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/open/original_model.hpp>
#include <stemma/open/strip_model.hpp>
#include <stemma/open/write_tagged.hpp>

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace test::record_detail_given_names {

namespace {

/// Removes the names of nodes from a model.
struct name_remover {
    const stemma::wire_model* model;

    void edit_node(stemma::id node, stemma::detail::message_edits& edits) const {
        auto fields = model->reader(model->message(node));
        for (stemma::detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(3)) {
                edits.remove(field.begin, field.end);
            }
        }
    }
    void edit_tensor(const stemma::tensor_ref&, stemma::detail::message_edits&) const {}
    void edit_value_info(const stemma::value_info_ref&, stemma::detail::message_edits&) const {}
    void edit_model(stemma::detail::message_edits&) const {}
};

std::string nameless(const std::string& fixture) {
    const auto bytes = test::read_bytes(test::fixture(fixture));
    const stemma::wire_model model(bytes, "m.onnx");
    name_remover editor{&model};
    stemma::detail::rewrite plan(model, editor);
    stemma::detail::string_splice out(model.bytes());
    plan.write(out);
    return out.text;
}

std::string named(const std::string& model, std::string_view carriers = "metadata,mark") {
    auto opened = test::in_memory(model, "m.onnx", {.retag = true});
    const test::scratch_folder folder;
    const auto path = folder.file("named.onnx");
    stemma::write_tagged(opened, path, stemma::carrier_set::named(carriers),
                         {.sync = false, .name_nodes = true});
    return test::read_bytes(path);
}

std::string stripped(const std::string& bytes) {
    return stemma::strip_model(stemma::wire_model(bytes, "m.onnx"));
}

} // namespace

TEST_CASE("given_names: every unnamed node gets a unique name") {
    for (const auto* name : {"bert_micro/anonymous.onnx", "control_flow/anonymous.onnx",
                             "bert_micro/model.onnx", "unet_tiny/unnamed.onnx"}) {
        INFO(name);
        const auto before = nameless(name);
        const stemma::wire_model was(before, "before");
        const auto bytes = named(before);
        const stemma::wire_model is(bytes, "after");
        std::set<std::string_view> names;
        for (stemma::id node = 0; node < is.node_count(); ++node) {
            CHECK_FALSE(is.name(node).empty());
            CHECK(was.name(node).empty());
            CHECK(names.insert(is.name(node)).second);
        }
    }
}

TEST_CASE("given_names: stripping restores the file, with any carrier") {
    for (const auto* name : {"bert_micro/anonymous.onnx", "control_flow/anonymous.onnx"}) {
        for (const auto* carriers : {"metadata,mark", "doc-string", "model", "namespace"}) {
            INFO(name << " " << carriers);
            const auto before = nameless(name);
            const auto once = named(before, carriers);
            CHECK(stripped(once) == before);
            CHECK(named(once, carriers) == once);
        }
    }
}

TEST_CASE("given_names: an empty name that is present comes back") {
    const auto model = test::model(test::graph({test::node("Relu", {"x"}, {"y"}).text(3, ""),
                                                test::node("Relu", {"y"}, {"z"})},
                                               {"x"}, {"z"}))
                           .bytes();
    for (const auto* carriers : {"metadata,mark", "doc-string", "model"}) {
        const auto once = named(model, carriers);
        CHECK(stemma::wire_model(once, "").name(0) == "Relu_0");
        CHECK(stripped(once) == model);
        CHECK(named(once, carriers) == once);
    }
}

TEST_CASE("given_names: an original without names is remembered so") {
    const test::scratch_folder folder;
    const auto path = folder.make("unnamed.onnx", nameless("bert_micro/anonymous.onnx"));
    const auto original =
        std::make_shared<stemma::attributed_model>(path, stemma::attribution_options{});
    const auto carried = stemma::tagged_bytes(*stemma::carry_tags(original, path));
    const auto with_names = named(carried);
    for (const auto& bytes : {carried, with_names}) {
        const auto read = test::in_memory(bytes, "m.onnx");
        const auto& origins = read.tags().origins;
        REQUIRE_FALSE(origins.empty());
        std::size_t names = 0;
        for (stemma::id node = 0; node < read.model().node_count(); ++node) {
            for (const auto number : origins.of(node)) {
                names += origins[number].name.empty() ? 0U : 1U;
            }
        }
        CHECK(names == 0);
    }
}

TEST_CASE("given_names: taken names are avoided, and moved fields do no harm") {
    const auto model = test::model(test::graph({test::node("Relu", {"x"}, {"y"}, "Relu_1"),
                                                test::node("Relu", {"y"}, {"z"})},
                                               {"x"}, {"z"}))
                           .bytes();
    const auto bytes = named(model);
    CHECK(stemma::wire_model(bytes, "").name(1) == "Relu_1_");
    // As other programs write a node: the name before the metadata.
    const auto moved =
        test::model(test::graph({test::node("Relu", {"x"}, {"y"}, "Relu_0")
                                     .inner(9, test::message()
                                                   .text(1, stemma::detail::node_name_key)
                                                   .text(2, "Relu_0"))},
                                {"x"}, {"y"}))
            .bytes();
    CHECK(stemma::wire_model(stripped(moved), "").name(0).empty());
    const auto other =
        test::model(test::graph({test::node("Relu", {"x"}, {"y"}, "mine")
                                     .inner(9, test::message()
                                                   .text(1, stemma::detail::node_name_key)
                                                   .text(2, "Relu_0"))},
                                {"x"}, {"y"}))
            .bytes();
    CHECK(stemma::wire_model(stripped(other), "").name(0) == "mine");
}

} // namespace test::record_detail_given_names
