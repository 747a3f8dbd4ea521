// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/layer_entries.hpp>

#include "../../catch.hpp"
#include "../../checkpoint_files.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"
#include "../../wire_builder.hpp"

#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/weights/identify_parameters.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace test::weights_detail_layer_entries {

using namespace stemma::detail;

namespace {

using strings = std::vector<std::string>;

/// Two convolutions of one channel, with biases.
std::string two_convolutions(const test::names& nodes, const test::names& initializers,
                             const std::array<float, 4>& values) {
    auto graph =
        test::graph({test::node("Conv", {"x", initializers[0], initializers[1]}, {"h"}, nodes[0]),
                     test::node("Conv", {"h", initializers[2], initializers[3]}, {"y"}, nodes[1])},
                    {"x"}, {"y"});
    for (std::size_t i = 0; i < 4; ++i) {
        const auto dims =
            i % 2 == 0 ? std::vector<std::uint64_t>{1, 1, 1, 1} : std::vector<std::uint64_t>{1};
        graph.inner(5,
                    test::tensor(initializers[i], dims, bytes_of(std::vector<float>{values[i]})));
    }
    return test::model(graph).bytes();
}

std::vector<test::float_tensor> norm(const std::string& name, float scale) {
    return {{name + ".weight", {1}, {scale}},
            {name + ".bias", {1}, {0.5F}},
            {name + ".running_mean", {1}, {0.25F}},
            {name + ".running_var", {1}, {2}}};
}

std::vector<test::float_tensor> joined(std::vector<test::float_tensor> all,
                                       const std::vector<test::float_tensor>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

} // namespace

TEST_CASE("folded_entries: convolutions may share a norm, or a kernel") {
    const auto folded = [](float weight, float scale) {
        return weight * (scale / std::sqrt(2 + 1e-5F));
    };
    const test::scratch_folder folder;
    const auto origins = [&](const std::string& model, const std::string& saved, bool contents) {
        const stemma::attributed_model opened(folder.make("model.onnx", model), {});
        const auto checkpoint = stemma::read_checkpoint(folder.make("model.safetensors", saved));
        return stemma::identify_parameters(opened, {.known = &checkpoint, .contents = contents});
    };
    const auto one_norm = joined(
        {{"c1.weight", {1, 1, 1, 1}, {3}}, {"c2.weight", {1, 1, 1, 1}, {5}}}, norm("norm", 7));
    const auto two_nodes =
        two_convolutions({"/c1/Conv", "/c2/Conv"}, {"onnx::Conv_15", "b1", "onnx::Conv_18", "b2"},
                         {folded(3, 7), 0.1F, folded(5, 7), 0.2F});
    for (const bool contents : {true, false}) {
        const auto result = origins(two_nodes, test::safetensors(one_norm), contents);
        CHECK(result[0].entries == strings{"c1.weight", "norm.weight", "norm.running_var"});
        CHECK(result[2].entries == strings{"c2.weight", "norm.weight", "norm.running_var"});
        CHECK(result[2].confidence >= confidence::entry_below);
        CHECK(result[2].epsilon == (contents ? 1e-5F : 0));
    }
    const auto one_kernel =
        joined(joined({{"c.weight", {1, 1, 1, 1}, {3}}}, norm("norms.0", 7)), norm("norms.1", 9));
    const auto one_module =
        two_convolutions({"/c/Conv", "/c/Conv_1"}, {"onnx::Conv_15", "b1", "onnx::Conv_18", "b2"},
                         {folded(3, 7), 0.1F, folded(3, 9), 0.2F});
    const auto result = origins(one_module, test::safetensors(one_kernel), true);
    CHECK(result[0].entries == strings{"c.weight", "norms.0.weight", "norms.0.running_var"});
    CHECK(result[2].entries == strings{"c.weight", "norms.1.weight", "norms.1.running_var"});
}

TEST_CASE("folded_entries: a norm may be folded into a convolution that gained a bias") {
    const test::scratch_folder folder;
    const stemma::attributed_model opened(
        folder.make("model.onnx", two_convolutions({"", ""}, {"1", "2", "3", "4"}, {1, 2, 3, 4})),
        {});
    const auto find = [&](const std::vector<test::float_tensor>& saved) {
        const auto checkpoint =
            stemma::read_checkpoint(folder.make("model.safetensors", test::safetensors(saved)));
        return stemma::identify_parameters(opened, {.known = &checkpoint, .contents = false});
    };
    const std::vector<test::float_tensor> kernel{{"a.weight", {1, 1, 1, 1}, {3}}};
    for (const auto& origin : find(joined(kernel, norm("n", 1)))) {
        CHECK(origin.confidence < confidence::entry_below);
    }
    const std::vector<test::float_tensor> biased{{"a.weight", {1, 1, 1, 1}, {3}},
                                                 {"a.bias", {1}, {3}}};
    CHECK(find(biased)[0].confidence >= confidence::entry_below);
    CHECK(find(biased)[1].confidence >= confidence::entry_below);
    CHECK(find(joined(biased, norm("n", 1)))[0].confidence < confidence::entry_below);
}

TEST_CASE("find_gates: recurrent layers without names are those of the only module with such") {
    const auto checkpoint = stemma::read_checkpoint(test::fixture("lstm_classifier/model.pt"));
    const stemma::attributed_model opened(test::fixture("lstm_classifier/anonymous.onnx"), {});
    const auto result =
        stemma::identify_parameters(opened, {.known = &checkpoint, .contents = false});
    const auto right = stemma::identify_parameters(opened, {.known = &checkpoint});
    std::size_t gates = 0;
    for (std::size_t t = 0; t < result.size(); ++t) {
        if (right[t].transform == stemma::parameter_origin::transform_kind::gates) {
            CHECK(result[t].transform == right[t].transform);
            CHECK(result[t].entries == right[t].entries);
            ++gates;
        }
    }
    CHECK(gates == 6);
}

} // namespace test::weights_detail_layer_entries
