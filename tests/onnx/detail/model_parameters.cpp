// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/model_parameters.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_detail_model_parameters {

namespace {

using names = std::vector<std::string>;
using stemma::id;
using stemma::detail::model_parameters;
using test::node;

/// Returns: the value that each parameter is, the one it is named after, its initializer.
names described(const stemma::wire_model& model, const model_parameters& parameters) {
    names all;
    for (id p = 0; p < parameters.count(); ++p) {
        CHECK(parameters.of(parameters.value(p)) == p);
        all.push_back(std::string(model.value_name(parameters.value(p))) + " " +
                      std::string(parameters.name(p)) + " " +
                      std::string(model.value_name(parameters.initializer(p))));
    }
    return all;
}

/// Returns: the values that a node reads as parameters.
names read_by(const stemma::wire_model& model, const model_parameters& parameters, id node) {
    names all;
    for (auto p : parameters.read_by(node)) {
        all.emplace_back(model.value_name(parameters.value(p)));
    }
    return all;
}

} // namespace

TEST_CASE("model_parameters: an Identity passes a parameter on under another name") {
    const test::built_model model(
        {node("Identity", {"x"}, {"z"}), node("Identity", {"a.w"}, {"b.w"}),
         node("Identity", {"b.w"}, {"c.w"}), node("Gemm", {"z", "c.w", "a.w"}, {"y"})},
        {"x"}, {"y"}, {"a.w"});
    const model_parameters parameters(model);
    CHECK(described(model, parameters) == names{"a.w a.w a.w", "b.w b.w a.w", "c.w c.w a.w"});
    CHECK_FALSE(parameters.passes_on(0));
    CHECK(parameters.passes_on(1));
    CHECK(read_by(model, parameters, 1).empty());
    CHECK(read_by(model, parameters, 3) == names{"c.w", "a.w"});
    CHECK(parameters.of(model.inputs(3)[0]) == stemma::no_id);
    CHECK(parameters.of(stemma::no_id) == stemma::no_id);
}

TEST_CASE("model_parameters: weights that Constants hold come before what is made of them") {
    const test::built_model model({node("Constant", {}, {"c.w"}), node("Constant", {}, {"shape"}),
                                   node("Identity", {"c.w"}, {"d.w"}),
                                   node("Constant", {}, {"e.w"}),
                                   node("Gemm", {"e.w", "d.w", "a.w"}, {"y"})},
                                  {"x"}, {"y"}, {"a.w"});
    const std::vector<id> constants{0, 3};
    const model_parameters parameters(model, constants);
    CHECK(described(model, parameters) ==
          names{"a.w a.w a.w", "c.w c.w c.w", "d.w d.w c.w", "e.w e.w e.w"});
    CHECK(read_by(model, parameters, 4) == names{"e.w", "d.w", "a.w"});
    CHECK(parameters.of(model.first_output(1)) == stemma::no_id);
}

TEST_CASE("model_parameters: what is dequantized keeps its name, and has readers") {
    const test::built_model model(
        {node("Identity", {"a.w"}, {"b.w"}), node("DequantizeLinear", {"b.w", "s", "z"}, {"d"}),
         node("DequantizeLinear", {"d", "s"}, {"e"}),
         node("QuantizeLinear", {"a.w", "s", "z"}, {"q"}),
         node("DequantizeLinear", {"q", "s", "z"}, {"f"}), node("Gemm", {"f", "d", "e"}, {"y"})},
        {"x"}, {"y"}, {"a.w", "s", "z"});
    const model_parameters parameters(model);
    CHECK(described(model, parameters) == names{"a.w a.w a.w", "s s s", "z z z", //
                                                "b.w b.w a.w", "d b.w a.w", "e b.w a.w"});
    CHECK(parameters.passes_on(1));
    CHECK(parameters.passes_on(2));
    CHECK_FALSE(parameters.passes_on(3));
    CHECK_FALSE(parameters.passes_on(4));
    CHECK(read_by(model, parameters, 1) == names{"b.w", "s", "z"});
    CHECK(read_by(model, parameters, 2) == names{"d", "s"});
    CHECK(read_by(model, parameters, 3) == names{"a.w", "s", "z"});
    CHECK(read_by(model, parameters, 4) == names{"s", "z"});
    CHECK(read_by(model, parameters, 5) == names{"d", "e"});
}

TEST_CASE("model_parameters: what is converted to another precision keeps its name") {
    const test::built_model model({node("Cast", {"a.w"}, {"InsertedCast_a.w"}),
                                   node("Cast", {"x"}, {"z"}),
                                   node("Gemm", {"z", "InsertedCast_a.w"}, {"y"})},
                                  {"x"}, {"y"}, {"a.w"});
    const model_parameters parameters(model);
    CHECK(described(model, parameters) == names{"a.w a.w a.w", "InsertedCast_a.w a.w a.w"});
    CHECK(parameters.passes_on(0));
    CHECK_FALSE(parameters.passes_on(1));
    CHECK(read_by(model, parameters, 0) == names{"a.w"});
    CHECK(read_by(model, parameters, 2) == names{"InsertedCast_a.w"});
}

TEST_CASE("model_parameters: may be renamed, which readers of a dequantized one do not follow") {
    const test::built_model model({node("DequantizeLinear", {"w", "s"}, {"d"})}, {}, {"d"},
                                  {"w", "s"});
    model_parameters parameters(model);
    parameters.rename({"a.weight", ""});
    CHECK(parameters.name(0) == "a.weight");
    CHECK(parameters.name(1) == "s");
    CHECK(parameters.name(2) == "w");
}

TEST_CASE("model_parameters: operators of other domains pass nothing on") {
    auto foreign = node("DequantizeLinear", {"w", "s"}, {"d"});
    foreign.text(7, "com.example");
    auto runtime = node("DequantizeLinear", {"w", "s"}, {"e"});
    runtime.text(7, "com.microsoft");
    const test::built_model model({foreign, runtime}, {}, {"d", "e"}, {"w", "s"});
    const model_parameters parameters(model);
    CHECK_FALSE(parameters.passes_on(0));
    CHECK(parameters.passes_on(1));
    CHECK(parameters.count() == 3);
}

TEST_CASE("parameter_reads: finds what each node reads, with any number of threads") {
    constexpr id nodes = 100'000;
    const auto reads_of = [](id node) {
        std::vector<id> reads;
        for (id i = 0; i < node % 7; i += 3) {
            reads.push_back(node + i);
        }
        return reads;
    };
    for (const unsigned most : {1U, 4U}) {
        const stemma::thread_scope threads({most, 1});
        const stemma::detail::parameter_reads all(nodes, [&](id node, std::vector<id>& reads) {
            const auto own = reads_of(node);
            reads.insert(reads.end(), own.begin(), own.end());
            return static_cast<id>(own.size());
        });
        bool same = true;
        for (id node = 0; node < nodes; ++node) {
            const auto parameters = all.of(node);
            same = same && std::vector<id>(parameters.begin(), parameters.end()) == reads_of(node);
        }
        CHECK(same);
    }
}

} // namespace test::onnx_detail_model_parameters
