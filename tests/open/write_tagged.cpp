// SPDX-License-Identifier: Apache-2.0
#include <stemma/open/write_tagged.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/check/check_model.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/strip_model.hpp>
#include <stemma/report/summarize_model.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace test::open_write_tagged {

namespace {

/// A carrier unknown to stemma.
struct path_only {
    using policy_category = stemma::carrier_category;

    template <stemma::carrier_sink Sink>
    void write(const stemma::operator_tags& tags, Sink& sink) const {
        sink.metadata("pkg.stemma.layer",
                      tags.module.empty() ? std::string_view("-") : tags.module);
    }
};

std::vector<std::string> tags_of(const stemma::attributed_model& opened) {
    std::vector<std::string> tags;
    for (const auto& attribution : opened.tags().attributions) {
        tags.push_back(opened.tags().tags.text(attribution.module));
    }
    return tags;
}

} // namespace

TEST_CASE("write_tagged: writes what tagged_bytes returns, and stemma reads the same tags back") {
    const test::scratch_folder folder;
    for (const auto* fixture : {"mlp", "bert_micro", "control_flow"}) {
        stemma::attribution_options how;
        how.captures = stemma::captures({test::fixture(std::string(fixture) + "/modules.json")});
        stemma::attributed_model opened(test::fixture(std::string(fixture) + "/model.onnx"), how);
        const auto path = folder.file("tagged.onnx");
        const auto size =
            stemma::write_tagged(opened, path, stemma::usual_carriers, {.sync = false});
        const auto bytes = test::read_bytes(path);
        CHECK(bytes == stemma::tagged_bytes(opened));
        stemma::string_sink pieces;
        stemma::write_tagged(pieces, opened);
        CHECK(pieces.text == bytes);
        CHECK(bytes.size() == size);
        const stemma::attributed_model again(path, {});
        CHECK(again.was_tagged());
        CHECK(again.is_fresh());
        CHECK(tags_of(again) == tags_of(opened));
    }
}

TEST_CASE("write_tagged: parameters and given names of an unchanged file are kept, unless anew") {
    const auto plain = test::model(test::graph({test::node("MatMul", {"x", "w"}, {"h"}),
                                                test::node("Add", {"h", "b"}, {"y"}, "mine")},
                                               {"x"}, {"y"}, {"w", "b"}))
                           .bytes();
    const auto open = [](const std::string& bytes, bool recompute = false) {
        return stemma::attributed_model(stemma::mapped_file::viewing(bytes, "model"),
                                        {.recompute = recompute});
    };
    const std::vector<std::string> parameters{"[\"fc.weight\"]", ""};
    const auto first = stemma::tagged_bytes(open(plain), stemma::usual_carriers,
                                            {.name_nodes = true, .parameters = &parameters});
    CHECK(stemma::wire_model(first).name(0) == "MatMul_0");
    CHECK(first.find("fc.weight") != first.npos);
    CHECK(stemma::tagged_bytes(open(first)) == first);
    CHECK(stemma::tagged_bytes(open(first, true)) == stemma::tagged_bytes(open(plain)));
    const std::vector<std::string> others{"", "[\"fc.bias\"]"};
    const auto changed =
        stemma::tagged_bytes(open(first), stemma::usual_carriers, {.parameters = &others});
    CHECK(changed.find("fc.weight") == changed.npos);
    CHECK(changed.find("fc.bias") != changed.npos);
}

TEST_CASE("write_tagged: needs no evidence") {
    const test::scratch_folder folder;
    stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const auto bytes = stemma::tagged_bytes(opened);
    opened.forget_evidence();
    CHECK(stemma::tagged_bytes(opened) == bytes);
}

TEST_CASE("write_tagged: with a custom carrier, stemma finds all tags again") {
    const test::scratch_folder folder;
    const auto source = test::fixture("bert_micro/model.onnx");
    stemma::attribution_options how;
    how.captures = stemma::captures({test::fixture("bert_micro/modules.json")});
    stemma::attributed_model opened(source, how);
    const auto path = folder.make("own.onnx", stemma::tagged_bytes(opened, path_only{}));
    const stemma::attributed_model again(path, {});
    CHECK(again.is_fresh());
    CHECK(again.record_notes().empty());
    CHECK(again.modules().size() == opened.modules().size());
    CHECK(tags_of(again) == tags_of(opened));
    CHECK(stemma::count_of(stemma::find_problems(again.model()), stemma::severity::error) == 0);
    CHECK(stemma::strip_model(again.model()) == test::read_bytes(source));
}

TEST_CASE("write_tagged: built-in carriers are recorded as themselves") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const auto one = [&](const auto& carrier, const stemma::carrier_set& as_set) {
        CHECK(stemma::tagged_bytes(opened, carrier) == stemma::tagged_bytes(opened, as_set));
    };
    one(stemma::metadata_carrier{}, {});
    one(stemma::attribute_carrier{}, {.metadata = false, .attribute = true});
    one(stemma::doc_string_carrier{}, {.metadata = false, .doc_string = true});
    one(stemma::namespace_carrier{}, {.metadata = false, .name_space = true});
    one(stemma::model_carrier{}, {.metadata = false, .model = true});
    one(stemma::mark_carrier{}, {.metadata = false, .mark = true});
}

TEST_CASE("write_sidecar: a file contains what a sink gets") {
    const test::scratch_folder folder;
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const auto summary = stemma::summarize(opened);
    stemma::string_sink sink;
    stemma::write_sidecar(sink, opened, summary);
    stemma::write_sidecar(folder.file("tags.json"), opened, summary, {.sync = false});
    CHECK(test::read_bytes(folder.file("tags.json")) == sink.text);
    const auto json = nlohmann::json::parse(sink.text);
    CHECK(json["schema"] == "stemma.sidecar/1");
    CHECK(json["nodes"].size() == opened.model().node_count());
}

} // namespace test::open_write_tagged
