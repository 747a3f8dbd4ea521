// SPDX-License-Identifier: Apache-2.0
#include <stemma/part.hpp>

#include "catch.hpp"
#include "model_files.hpp"
#include "scratch_folder.hpp"

#include <stemma/cut/cut.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/cut/join_folder.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/cut/split_to_folder.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/stemma.hpp>

#include <range/v3/range/primitives.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace test::part {

namespace {

template <class Part>
concept gives_names = requires(Part&& part) {
    std::forward<Part>(part).inputs();
}
|| requires(Part&& part) {
    std::forward<Part>(part).outputs();
};

static_assert(gives_names<const stemma::part&> && !gives_names<stemma::part>);
static_assert(std::is_convertible_v<const stemma::model&, const stemma::attributed_model&>);
static_assert(!std::is_convertible_v<stemma::model, const stemma::attributed_model&>);

} // namespace

TEST_CASE("part: a module as a standalone model, reopened") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const auto part = model.cut("encoder.layer.0.attention");
    CHECK(part.is_exact());
    CHECK(!part.inputs().empty());
    CHECK(part.outputs().size() == 1);
    const auto opened = stemma::open_bytes(part.bytes());
    CHECK(ranges::distance(opened.nodes()) == static_cast<int>(part.size()));
    CHECK(opened.find_module("encoder.layer.0.attention.self.query").has_value());
}

TEST_CASE("part: writes the same to a file as to memory") {
    const scratch_folder folder;
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const auto part = model.cut("pooler");
    part.write(folder.file("part.onnx"));
    CHECK(read_bytes(folder.file("part.onnx")) == part.bytes());
}

TEST_CASE("part: the code in docs/cutting.md works") {
    const scratch_folder scratch;
    const auto layer = scratch.file("layer.onnx");
    const auto folder = scratch.file("parts");
    const auto joined = scratch.file("joined.onnx");
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const auto part = model.cut("encoder.layer.0", {.policy = stemma::plain_names_cut{}});
    part.write(layer);
    stemma::split_to_folder(model, folder, {.partition = stemma::balanced_parts{3}});
    stemma::join_folder(folder, joined);
    CHECK(read_bytes(layer) == part.bytes());
    CHECK(read_bytes(joined) == read_bytes(fixture("bert_micro/model.onnx")));
}

TEST_CASE("model: cut takes a module in place of its path") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const auto pooler = model.find_module("pooler").value();
    CHECK(model.cut(pooler).bytes() == model.cut("pooler").bytes());
    CHECK(model.cut(model.root()).size() == model.cut("''").size());
}

TEST_CASE("model: cut rejects a query that matches no module or several, and says why") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    CHECK_THROWS_AS(model.cut("encoder.layer.7"), stemma::error);
    CHECK_THROWS_WITH(model.cut("encoder.layer.*"), Catch::Matchers::Contains("2 modules"));
    CHECK_THROWS_AS(model.cut("op:Softmax"), stemma::error);
}

} // namespace test::part
