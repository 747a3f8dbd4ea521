// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/graph_sketch.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/model/attribution.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace test::record_detail_graph_sketch {

namespace {

using stemma::id;
using stemma::no_id;
using stemma::detail::digit_reader;
using stemma::detail::digit_writer;
using stemma::detail::graph_sketch;

std::vector<stemma::attribution> some_origins(std::size_t count) {
    std::vector<stemma::attribution> attributions(count);
    for (std::size_t i = 0; i < count; ++i) {
        attributions[i].module = static_cast<id>(i / 3 % 5);
        attributions[i].call = i % 4 == 0 ? no_id : static_cast<id>(i % 3);
        attributions[i].confidence = static_cast<float>(i % 21) / 20;
    }
    return attributions;
}

} // namespace

TEST_CASE("graph_sketch: stores for each node what the model says") {
    for (const auto* fixture : {"bert_micro", "control_flow", "shared_twice"}) {
        const test::built_model model(
            test::read_bytes(test::fixture(std::string(fixture) + "/model.onnx")));
        const auto origins = some_origins(model.node_count());
        const auto text = stemma::detail::to_json(stemma::detail::sketch_of(model, origins));
        CHECK(text.find('\n') == text.npos);
        {
            const stemma::thread_scope threads({4, 1});
            CHECK(text == stemma::detail::to_json(stemma::detail::sketch_of(model, origins)));
        }
        const auto sketch = stemma::detail::read_sketch(text, 5);
        REQUIRE(sketch);
        REQUIRE(sketch->node_count() == model.node_count());
        for (id node = 0; node < model.node_count(); ++node) {
            CHECK(sketch->type(node) ==
                  graph_sketch::spell_type(model.domain(node), model.op_type(node)));
            CHECK(stemma::detail::range::contains(sketch->types(), model.op_type(node)));
            CHECK(sketch->of(node).module == origins[node].module);
            CHECK(sketch->of(node).call == origins[node].call);
            CHECK(sketch->of(node).confidence == Approx(origins[node].confidence));
            const auto hashes = sketch->made(node);
            CHECK(std::find(hashes.begin(), hashes.end(),
                            graph_sketch::hash_of(model.value_name(model.first_output(node)))) !=
                  hashes.end());
            const auto from = sketch->read_from(node);
            for (const auto value : model.inputs(node)) {
                if (value != no_id && model.producer(value) != no_id) {
                    CHECK(std::find(from.begin(), from.end(), model.producer(value)) != from.end());
                }
            }
        }
    }
}

TEST_CASE("graph_sketch: distinguishes inputs from weights, and skips omitted outputs") {
    const test::built_model model({test::node("Split", {"x", "w"}, {"a", "", "b"}),
                                   test::node("Add", {"a", "b"}, {"y"}, "", "mine")},
                                  {"x"}, {"y"}, {"w"});
    const auto sketch = graph_sketch::read(stemma::detail::sketch_of(model, some_origins(2)), 5);
    REQUIRE(sketch);
    CHECK(sketch->type(1) == "mine::Add");
    CHECK_FALSE(stemma::detail::range::contains(sketch->types(), "Add"));
    CHECK(sketch->made(0).size() == 2);
    CHECK(ranges::equal(sketch->read_from(0), std::vector<id>{graph_sketch::given}));
    CHECK(ranges::equal(sketch->read_from(1), std::vector<id>{0, 0}));
}

TEST_CASE("read_sketch: rejects damaged sketches and those of another tree") {
    const test::built_model model(test::read_bytes(test::fixture("mlp/model.onnx")));
    const auto origins = some_origins(model.node_count());
    const auto stored = stemma::detail::sketch_of(model, origins);
    const auto text = stemma::detail::to_json(stored);
    const auto most =
        std::max_element(origins.begin(), origins.end(), [](const auto& a, const auto& b) {
            return a.module < b.module;
        })->module;
    REQUIRE(stemma::detail::read_sketch(text, most + 1));
    CHECK_FALSE(stemma::detail::read_sketch(text, most));
    for (std::size_t end = 0; end < text.size(); ++end) {
        CHECK_FALSE(stemma::detail::read_sketch(text.substr(0, end), most + 1));
    }
    for (const auto* other :
         {"", "[]", "{}",
          R"({"schema": "stemma.graph/2", "types": [], "nodes": "", "modules": ""})",
          R"({"schema": "stemma.graph/1", "types": [1], "nodes": "", "modules": ""})"}) {
        CHECK_FALSE(stemma::detail::read_sketch(other, 5));
    }
    // Any other digit is read as something or rejected, nothing else.
    for (std::size_t at = 0; at < stored.nodes.size(); ++at) {
        for (const char digit : {'A', 'f', '/', '!'}) {
            auto changed = stored;
            changed.nodes[at] = digit;
            const auto read = graph_sketch::read(changed, 5);
            CHECK((!read || read->node_count() == model.node_count()));
        }
    }
}

TEST_CASE("digit_writer: digit_reader reads all numbers back, small ones from one digit") {
    const std::vector<std::uint64_t> numbers{0, 1, 31, 32, 1023, 1024, 123456789, UINT32_MAX};
    std::string text;
    digit_writer digits(text);
    for (const auto number : numbers) {
        digits.number(number);
        digits.fixed<5>(static_cast<std::uint32_t>(number & 0x3fff'ffffU));
    }
    digit_reader reader(text);
    for (const auto number : numbers) {
        CHECK(reader.number() == number);
        CHECK(reader.fixed(5) == (number & 0x3fff'ffffU));
    }
    CHECK(reader.done());
    CHECK_FALSE(reader.failed());
    text.clear();
    digits.number(31);
    CHECK(text.size() == 1);
    for (const std::int64_t n : {0, 1, -1, 2, -2, 1000000, -1000000}) {
        CHECK(digit_reader::unzigzag(digit_writer::zigzag(n)) == n);
    }
    CHECK(digit_writer::zigzag(16) == 31);
}

TEST_CASE("digit_reader: rejects truncated, invalid and overlong digits") {
    for (const auto* text : {"", "g", "!", "//////////", "////////////A"}) {
        digit_reader reader(text);
        static_cast<void>(reader.number());
        CHECK(reader.failed());
    }
    digit_reader reader("AAAA");
    static_cast<void>(reader.fixed(5));
    CHECK(reader.failed());
}

} // namespace test::record_detail_graph_sketch
