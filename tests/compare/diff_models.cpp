// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/diff_models.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/core/id.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/open/attributed_model.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace test::compare_diff_models {

namespace {

using stemma::no_id;

stemma::attributed_model in_memory(std::string bytes) {
    return {stemma::mapped_file::holding(std::move(bytes), "memory"), {}};
}

} // namespace

TEST_CASE("diff_models: a model equals itself, whatever the names of nodes and values") {
    for (const auto* name : {"bert_micro", "lstm_classifier", "two_tower", "control_flow"}) {
        const auto folder = std::string(name) + "/";
        const stemma::attributed_model a(test::fixture(folder + "model.onnx"), {});
        const stemma::attributed_model b(test::fixture(folder + "anonymous.onnx"), {});
        for (const auto* other : {&a, &b}) {
            const auto found = stemma::diff_models(a, *other);
            INFO(name);
            CHECK(found.modules.empty());
            CHECK(found.matched_nodes == found.first_nodes);
            CHECK(found.first_nodes == found.second_nodes);
        }
    }
}

TEST_CASE("diff_models: reports a changed byte of a weight at its module") {
    const auto bytes = test::read_bytes(test::fixture("unet_tiny/model.onnx"));
    const stemma::attributed_model a(test::fixture("unet_tiny/model.onnx"), {});
    const auto& model = a.model();
    const auto tensor = model.tensors()[0];
    auto other = bytes;
    other[tensor.message.begin + tensor.message.size - 1] ^= 0x10;
    const auto b = in_memory(other);
    const auto found = stemma::diff_models(a, b);
    REQUIRE(found.modules.size() == 1);
    CHECK(found.modules[0].changes == std::vector{stemma::module_change::weights});
    REQUIRE(found.modules[0].weights.size() == 1);
    CHECK(found.modules[0].weights[0].first == tensor.value);
    CHECK(found.modules[0].weights[0].difference.different == 1);
    CHECK(stemma::diff_models(a, b, {.weights = false}).is_equal());
}

TEST_CASE("diff_models: a caller of a function with other weights is not the same") {
    const auto path = test::fixture("bert_micro/model.functions_all.onnx");
    auto bytes = test::read_bytes(path);
    const stemma::attributed_model a(path, {});
    const auto& model = a.model();
    for (const auto& tensor : model.tensors()) {
        if (model.value_name(tensor.value) == "encoder.layer.1.attention.self.key.bias") {
            bytes[tensor.message.begin + tensor.message.size - 1] ^= 0x10;
        }
    }
    const auto found = stemma::diff_models(a, in_memory(bytes));
    REQUIRE(found.modules.size() == 1);
    CHECK(found.same_modules == found.paired_modules - 1);
}

TEST_CASE("diff_models: a layer added, a layer removed") {
    const stemma::attributed_model a(test::fixture("bert_micro/model.onnx"), {});
    const stemma::attributed_model b(test::fixture("bert_micro_12l/model.onnx"), {});
    const auto more = stemma::diff_models(a, b, {.weights = false});
    const auto less = stemma::diff_models(b, a, {.weights = false});
    std::size_t added = 0;
    for (const auto& entry : more.modules) {
        const auto path = entry.second == no_id ? "" : b.modules().path(entry.second);
        added +=
            entry.has(stemma::module_change::added) && path.starts_with("encoder.layer.") ? 1U : 0U;
        CHECK(!entry.has(stemma::module_change::removed));
    }
    CHECK(added > 10);
    for (const auto& entry : less.modules) {
        CHECK(!entry.has(stemma::module_change::added));
    }
}

TEST_CASE("diff_models: the code in docs/diff.md works") {
    const stemma::attributed_model first(test::fixture("mlp/model.onnx"), {});
    auto bytes = test::read_bytes(test::fixture("mlp/model.onnx"));
    const auto tensor = first.model().tensors()[0];
    bytes[tensor.message.begin + tensor.message.size - 1] ^= 0x10;
    const stemma::attributed_model second(stemma::mapped_file::holding(std::move(bytes), "memory"),
                                          {});
    std::vector<std::string> names;
    const auto found = stemma::diff_models(first, second, {.tolerance = 1e-3});
    for (const auto& entry : found.modules) {
        if (entry.has(stemma::module_change::weights)) {
            names.push_back(first.modules().path(entry.first));
        }
    }
    CHECK(names == std::vector<std::string>{"fc1"});
}

TEST_CASE("diff_models: keeps partners given by the caller") {
    const stemma::attributed_model a(test::fixture("mlp/model.onnx"), {});
    const std::vector<std::pair<stemma::id, stemma::id>> known{{0, 2}};
    const auto found = stemma::diff_models(a, a, {.known_partners = known});
    CHECK(found.nodes.to_second[0] == 2);
}

} // namespace test::compare_diff_models
