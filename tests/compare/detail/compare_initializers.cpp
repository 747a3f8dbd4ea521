// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/compare_initializers.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test::compare_detail_compare_initializers {

namespace {

using told = std::vector<std::string>;

/// Returns: every difference in one line, and last how many are the same.
told compare(const std::string& a, const std::string& b) {
    const stemma::wire_model first(a);
    const stemma::wire_model second(b);
    told lines;
    const auto same = stemma::detail::compare_initializers(
        first, second, [&](const stemma::detail::initializer_difference& one) {
            lines.push_back(std::string(to_string(one.change)) + " " + one.name +
                            (one.other.empty() ? "" : " to " + one.other));
        });
    lines.push_back(std::to_string(same));
    return lines;
}

std::string model_with(const std::vector<test::message>& tensors) {
    auto graph = test::graph();
    for (const auto& tensor : tensors) {
        graph.inner(5, tensor);
    }
    return test::model(graph).bytes();
}

} // namespace

TEST_CASE("compare_initializers: a model equals itself") {
    for (const auto* fixture : {"bert_micro", "control_flow", "mlp"}) {
        const auto bytes = test::read_bytes(test::fixture(std::string(fixture) + "/model.onnx"));
        const auto count = stemma::wire_model(bytes).tensors().size();
        CHECK(compare(bytes, bytes) == told{std::to_string(count)});
    }
}

TEST_CASE("compare_initializers: every difference is reported once") {
    const auto a = test::tensor("a", {1}, "aaaa");
    const auto b = test::tensor("b", {1}, "bbbb");
    const auto c = test::tensor("c", {1}, "cccc");
    const auto base = model_with({a, b});
    CHECK(compare(base, model_with({b, a})) == told{"2"});
    CHECK(compare(base, model_with({a})) == told{"vanished b", "1"});
    CHECK(compare(base, model_with({a, b, c})) == told{"appeared c", "2"});
    CHECK(compare(base, model_with({a, test::tensor("b", {1}, "xxxx")})) == told{"changed b", "1"});
    CHECK(compare(base, model_with({a, test::tensor("b", {1, 1}, "bbbb")})) ==
          told{"retyped b", "1"});
    CHECK(compare(base, model_with({a, test::tensor("z", {1}, "bbbb")})) ==
          told{"renamed b to z", "1"});
    CHECK(compare(base, model_with({a, test::tensor("z", {1, 1}, "bbbb")})) ==
          told{"vanished b", "appeared z", "1"});
    // Each partner is taken once.
    CHECK(compare(model_with({test::tensor("p", {1}, "same"), test::tensor("q", {1}, "same")}),
                  model_with({test::tensor("r", {1}, "same")})) ==
          told{"renamed p to r", "vanished q", "0"});
}

TEST_CASE("compare_initializers: the places of a sparse one's values count") {
    const auto with = [](std::string_view places, std::uint64_t extent) {
        const auto sparse = test::message()
                                .inner(1, test::tensor("a", {1}, "aaaa"))
                                .inner(2, test::message().number(2, 7).text(9, places))
                                .packed(3, {extent});
        return test::model(test::graph().inner(15, sparse)).bytes();
    };
    const auto base = with("12345678", 9);
    CHECK(compare(base, with("12345678", 9)) == told{"1"});
    CHECK(compare(base, with("12345679", 9)) == told{"changed a (sparse)", "0"});
    CHECK(compare(base, with("12345678", 8)) == told{"changed a (sparse)", "0"});
}

TEST_CASE("compare_initializers: storage does not count") {
    const auto typed = test::message().number(1, 1).number(2, 1).text(8, "a").text(4, "aaaa");
    CHECK(compare(model_with({test::tensor("a", {1}, "aaaa")}), model_with({typed})) == told{"1"});
    const auto lost = test::message()
                          .number(1, 1)
                          .number(2, 1)
                          .text(8, "a")
                          .inner(13, test::entry("location", "no such file"))
                          .number(14, 1);
    CHECK(compare(model_with({typed}), model_with({lost})) == told{"unknown a", "0"});
}

TEST_CASE("compare_initializers: renamed weights of an exported model are recognized") {
    const auto named = test::read_bytes(test::fixture("mlp/unnamed.onnx"));
    const auto renamed = test::read_bytes(test::fixture("mlp/anonymous.onnx"));
    const auto lines = compare(named, renamed);
    const stemma::wire_model model(named);
    REQUIRE(lines.size() == model.tensors().size() + 1);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        CHECK(lines[i].find("renamed ") == 0);
    }
}

} // namespace test::compare_detail_compare_initializers
