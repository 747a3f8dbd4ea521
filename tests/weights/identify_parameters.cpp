// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/identify_parameters.hpp>

#include "../catch.hpp"
#include "../checkpoint_files.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/stemma.hpp>
#include <stemma/weights/detail/make_values.hpp>
#include <stemma/weights/write_parameters.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::weights_identify_parameters {

namespace {

const stemma::parameter_origin& origin_of(const std::vector<stemma::parameter_origin>& origins,
                                          const stemma::attributed_model& opened,
                                          std::string_view name) {
    const auto it = std::find_if(origins.begin(), origins.end(), [&](const auto& origin) {
        return opened.model().text(opened.model().tensors()[origin.tensor].name) == name;
    });
    REQUIRE(it != origins.end());
    return *it;
}

} // namespace

TEST_CASE("identify_parameters: readers tell what names do not") {
    const stemma::attributed_model opened(test::fixture("lstm_classifier/model.onnx"), {});
    const auto origins = stemma::identify_parameters(opened);
    REQUIRE(origins.size() == opened.model().tensors().size());
    const auto& product = origin_of(origins, opened, "onnx::MatMul_450");
    CHECK(product.entries == std::vector<std::string>{"pool.score.weight"});
    CHECK(product.transform == stemma::parameter_origin::transform_kind::transposed);
    CHECK(product.basis == stemma::parameter_origin::basis_kind::usage);
    CHECK(opened.modules().path(product.module) == "pool.score");
    const auto& gates = origin_of(origins, opened, "onnx::LSTM_443");
    CHECK(gates.entries == std::vector<std::string>{"lstm.bias_ih_l1", "lstm.bias_hh_l1",
                                                    "lstm.bias_ih_l1_reverse",
                                                    "lstm.bias_hh_l1_reverse"});
    CHECK(gates.transform == stemma::parameter_origin::transform_kind::gates);
    CHECK(origin_of(origins, opened, "fc.bias").basis ==
          stemma::parameter_origin::basis_kind::name);
}

TEST_CASE("identify_parameters: the code in docs/weights.md works") {
    const auto model = stemma::open(test::fixture("lstm_classifier/model.onnx"));
    std::map<std::string, std::vector<std::string>> made_from;
    const auto tensors = model.parts().model().tensors();
    for (const auto& origin : stemma::identify_parameters(model)) {
        const auto value = model.value(stemma::value_id{tensors[origin.tensor].value});
        for (const auto& entry : origin.entries) {
            made_from[entry].push_back(to_text(value));
        }
    }
    CHECK(made_from.at("pool.score.weight") == std::vector<std::string>{"onnx::MatMul_450"});
}

TEST_CASE("identify_parameters: values tell without names") {
    const auto checkpoint = stemma::read_checkpoint(test::fixture("unet_tiny/model.pt"));
    const stemma::attributed_model opened(test::fixture("unet_tiny/anonymous.onnx"), {});
    const auto origins = stemma::identify_parameters(opened, {.known = &checkpoint});
    for (const auto& origin : origins) {
        CHECK(origin.basis != stemma::parameter_origin::basis_kind::none);
        CHECK_FALSE(origin.entries.empty());
    }
    const auto& folded = origin_of(origins, opened, "w6");
    CHECK(folded.entries ==
          std::vector<std::string>{"inc.0.weight", "inc.1.weight", "inc.1.running_var"});
    CHECK(folded.epsilon == 1e-5F);
    CHECK(stemma::unused_entries(checkpoint, origins).empty());
}

TEST_CASE("identify_parameters: one of several equal entries represents all that are read") {
    const auto checkpoint = stemma::read_checkpoint(test::fixture("bert_micro_fresh/model.pt"));
    const stemma::attributed_model opened(test::fixture("bert_micro_fresh/model.onnx"), {});
    const auto origins = stemma::identify_parameters(opened, {.known = &checkpoint});
    const auto& first = origin_of(origins, opened, "embeddings.LayerNorm.weight");
    CHECK(first.entries == std::vector<std::string>{"embeddings.LayerNorm.weight"});
    CHECK(first.shared.size() == 4);
}

TEST_CASE("identify_parameters: a folded convolution of doubles has the values of the checkpoint") {
    using stemma::detail::bytes_of;
    const std::vector<std::pair<std::string, std::vector<double>>> saved{
        {"c.weight", {0.1, 0.2}}, {"c.bias", {0.3, 0.4}},         {"n.weight", {0.5, 0.6}},
        {"n.bias", {0.7, 0.8}},   {"n.running_mean", {0.9, 1.1}}, {"n.running_var", {1.2, 1.3}}};
    std::string header;
    std::string data;
    for (const auto& [name, values] : saved) {
        const auto begin = std::to_string(data.size());
        data += bytes_of(values);
        header += (header.empty() ? "{\"" : ",\"") + name + R"(":{"dtype":"F64","shape":[2)" +
                  (name == "c.weight" ? ",1,1" : "") + R"(],"data_offsets":[)" + begin + "," +
                  std::to_string(data.size()) + "]}";
    }
    header += "}";
    std::vector<double> weight;
    std::vector<double> bias;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto of = [&](std::size_t entry) { return saved[entry].second[i]; };
        const auto factor = of(2) / std::sqrt(of(5) + 1e-5);
        weight.push_back(of(0) * factor);
        bias.push_back((of(1) - of(4)) * factor + of(3));
    }
    const auto tensor = [](const char* name, const std::vector<std::uint64_t>& dims,
                           const std::vector<double>& values) {
        return test::message().packed(1, dims).number(2, 11).text(8, name).text(9,
                                                                                bytes_of(values));
    };
    const auto graph =
        test::graph({test::node("Conv", {"x", "onnx::Conv_8", "onnx::Conv_9"}, {"y"}, "/c/Conv")},
                    {"x"}, {"y"})
            .inner(5, tensor("onnx::Conv_8", {2, 1, 1}, weight))
            .inner(5, tensor("onnx::Conv_9", {2}, bias));
    const test::scratch_folder folder;
    const auto opened = test::open_graph(graph);
    const auto checkpoint = stemma::read_checkpoint(
        folder.make("model.safetensors", test::little(header.size(), 8) + header + data));
    const auto origins = stemma::identify_parameters(opened, {.known = &checkpoint});
    for (const auto& origin : {origins[0], origins[1]}) {
        CHECK(origin.transform == stemma::parameter_origin::transform_kind::folded);
        CHECK(origin.basis == stemma::parameter_origin::basis_kind::content);
    }
}

TEST_CASE("identify_parameters: numbers of values tell whether folded convolutions had biases") {
    const stemma::attributed_model biased(STEMMA_TEST_DATA "/weights/folded.onnx", {});
    CHECK(origin_of(stemma::identify_parameters(biased), biased, "onnx::Conv_22").entries ==
          std::vector<std::string>{"0.bias", "1.weight", "1.bias", "1.running_mean",
                                   "1.running_var"});
    const stemma::attributed_model plain(test::fixture("googlenet/model.structure.onnx"), {});
    for (const auto& origin : stemma::identify_parameters(plain)) {
        const bool bias =
            origin.transform == stemma::parameter_origin::transform_kind::folded && origin.bias;
        CHECK((!bias || origin.entries.size() == 4));
    }
}

TEST_CASE("identify_parameters: a computed weight of a convolution without norm has weight norm") {
    const stemma::attributed_model opened(STEMMA_TEST_DATA "/weights/normed.onnx", {});
    const auto origins = stemma::identify_parameters(opened);
    const auto& computed = origin_of(origins, opened, "onnx::Conv_14");
    CHECK(computed.transform == stemma::parameter_origin::transform_kind::normed);
    CHECK(computed.entries == std::vector<std::string>{"0.weight_v", "0.weight_g"});
    CHECK(origin_of(origins, opened, "2.weight").transform ==
          stemma::parameter_origin::transform_kind::as_is);
}

TEST_CASE(
    "identify_parameters: a copy is named like the entry that the initializer stands for too") {
    const auto opened =
        test::open_graph(test::graph({test::node("Identity", {"a.bias"}, {"b.bias"}),
                                      test::node("Add", {"x", "a.bias"}, {"h"}, "/a/Add"),
                                      test::node("Add", {"h", "b.bias"}, {"y"}, "/b/Add")},
                                     {"x"}, {"y"})
                             .inner(5, test::tensor("a.bias", {2}, std::string(8, '\0'))));
    const auto checkpoint = test::saved({{"a.bias", {2}, {0, 0}}, {"b.bias", {2}, {0, 0}}});
    for (const auto& options : {stemma::identify_options{}, {.known = &checkpoint}}) {
        const auto origin = stemma::identify_parameters(opened, options).front();
        CHECK(origin.entries == std::vector<std::string>{"a.bias"});
        CHECK(origin.shared == std::vector<std::string>{"b.bias"});
    }
}

TEST_CASE("identify_parameters: axes may be permuted where the shape does not tell") {
    const auto bytes = [](const std::vector<float>& values) {
        return stemma::detail::bytes_of(values);
    };
    const auto opened = test::open_graph(
        test::graph({test::node("Conv", {"x", "u.c.weight"}, {"h"}, "/u/c/Conv"),
                     test::node("Conv", {"h", "onnx::Conv_7"}, {"y"}, "/u/Conv")},
                    {"x"}, {"y"})
            .inner(5, test::tensor("u.c.weight", {2, 1, 1}, bytes({5, 6})))
            .inner(5, test::tensor("onnx::Conv_7", {2, 2, 1}, bytes({1, 3, 2, 4}))));
    const auto checkpoint =
        test::saved({{"u.w", {2, 2, 1}, {1, 2, 3, 4}}, {"u.c.weight", {2, 1, 1}, {5, 6}}});
    const auto right = stemma::identify_parameters(opened, {.known = &checkpoint});
    const auto& permuted = origin_of(right, opened, "onnx::Conv_7");
    CHECK(permuted.entries == std::vector<std::string>{"u.w"});
    CHECK(permuted.transform == stemma::parameter_origin::transform_kind::transposed);
    CHECK(permuted.axes == std::vector<std::uint8_t>{1, 0, 2});
    CHECK(permuted.basis == stemma::parameter_origin::basis_kind::content);
    const auto guessed =
        stemma::identify_parameters(opened, {.known = &checkpoint, .contents = false});
    CHECK(origin_of(guessed, opened, "onnx::Conv_7").confidence ==
          stemma::detail::confidence::entry_guessed);
    CHECK(origin_of(guessed, opened, "u.c.weight").confidence ==
          stemma::detail::confidence::entry_named);
}

TEST_CASE("identify_parameters: entries of modules at the root are concatenated, too") {
    const auto opened = test::open_graph(
        test::graph({test::node("MatMul", {"x", "onnx::MatMul_3"}, {"y"}, "/MatMul")}, {"x"}, {"y"})
            .inner(5, test::tensor(
                          "onnx::MatMul_3", {2, 4},
                          stemma::detail::bytes_of(std::vector<float>{1, 3, 5, 7, 2, 4, 6, 8}))));
    const auto checkpoint =
        test::saved({{"gate.weight", {2, 2}, {1, 2, 3, 4}}, {"up.weight", {2, 2}, {5, 6, 7, 8}}});
    const auto origin = stemma::identify_parameters(opened, {.known = &checkpoint}).front();
    CHECK(origin.transform == stemma::parameter_origin::transform_kind::concatenated);
    CHECK(origin.entries == std::vector<std::string>{"gate.weight", "up.weight"});
}

TEST_CASE("identify_parameters: the file alone, with its modules and with its weights agree") {
    for (const std::string name : {"attention", "folded", "handed", "normed"}) {
        INFO(name);
        const auto data = std::string(STEMMA_TEST_DATA "/weights/") + name;
        const stemma::attributed_model alone(data + ".onnx", {});
        stemma::attribution_options with_modules;
        with_modules.set(stemma::captures({data + ".modules.json"}));
        const stemma::attributed_model captured(data + ".onnx", with_modules);
        const auto checkpoint = stemma::read_checkpoint(data + ".pt");
        const auto right = stemma::identify_parameters(alone, {.known = &checkpoint});
        for (const auto& origins :
             {stemma::identify_parameters(alone), stemma::identify_parameters(captured)}) {
            CHECK(std::equal(origins.begin(), origins.end(), right.begin(), right.end(),
                             [](const auto& a, const auto& b) {
                                 return a.entries == b.entries && a.transform == b.transform;
                             }));
        }
    }
}

TEST_CASE("identify_parameters: every call of a function has the entries of its module") {
    for (const std::string name : {"bert_micro", "shared_twice"}) {
        INFO(name);
        const auto checkpoint = stemma::read_checkpoint(test::fixture(name + "/model.pt"));
        const stemma::attributed_model opened(test::fixture(name + "/model.functions_all.onnx"),
                                              {});
        const auto alone = stemma::identify_parameters(opened);
        const auto right = stemma::identify_parameters(opened, {.known = &checkpoint});
        for (std::size_t t = 0; t < right.size(); ++t) {
            INFO(opened.model().text(opened.model().tensors()[t].name));
            const bool weight = right[t].basis != stemma::parameter_origin::basis_kind::none;
            CHECK((!weight || alone[t].entries == right[t].entries));
            CHECK((!weight || alone[t].transform == right[t].transform));
        }
    }
}

TEST_CASE(
    "identify_parameters: square matrices called like no entry were computed, or may have been") {
    const auto saved = test::saved({{"a.weight", {2, 2}, {1, 2, 3, 4}}, {"a.bias", {2}, {1, 2}}});
    const auto find = [&](const test::message& product, const std::string& weight,
                          const std::string& bias) {
        auto graph =
            test::graph({product, test::node("Add", {"h", bias}, {"y"}, "/a/Add")}, {"x"}, {"y"});
        graph.inner(5, test::tensor(weight, {2, 2}, std::string(16, '\0')))
            .inner(5, test::tensor(bias, {2}, std::string(8, '\0')));
        const auto opened = test::open_graph(graph);
        return stemma::identify_parameters(opened, {.known = &saved, .contents = false}).front();
    };
    using transform = stemma::parameter_origin::transform_kind;
    const auto product = test::node("MatMul", {"x", "w_e"}, {"h"}, "/a/MatMul");
    const auto computed = find(product, "w_e", "a.bias");
    CHECK(computed.transform == transform::transposed);
    CHECK(computed.confidence > stemma::detail::confidence::entry_below);
    const auto unclear = find(product, "w_e", "w_f");
    CHECK(unclear.entries == std::vector<std::string>{"a.weight"});
    CHECK(unclear.confidence < stemma::detail::confidence::entry_below);
    const auto gemm = [&](std::uint64_t turned) {
        return test::owner_node("Gemm", {"x", "w_e"}, {"h"},
                                {test::message().text(1, "transB").number(3, turned).number(20, 2)},
                                "/a/Gemm");
    };
    CHECK(find(gemm(1), "w_e", "a.bias").transform == transform::as_is);
    CHECK(find(gemm(0), "w_e", "a.bias").transform == transform::transposed);
    CHECK(find(test::node("MatMul", {"x", "a.weight"}, {"h"}, "/a/MatMul"), "a.weight", "a.bias")
              .transform == transform::as_is);
}

TEST_CASE(
    "identify_parameters: names that a quantizer made are of the weight, also without entries") {
    const auto graph =
        test::graph({test::node("DequantizeLinear", {"fc.weight_quantized", "fc.weight_scale"},
                                {"w"}, "/fc/DequantizeLinear"),
                     test::node("MatMul", {"x", "w"}, {"y"}, "/fc/MatMul"),
                     test::node("Mul", {"y", "fc.input_scale"}, {"z"}, "/fc/Mul")},
                    {"x"}, {"z"})
            .inner(5, test::message()
                          .number(1, 2)
                          .number(1, 2)
                          .number(2, 3)
                          .text(8, "fc.weight_quantized")
                          .text(9, "abcd"))
            .inner(5, test::tensor("fc.weight_scale", {2}, "abcdefgh"))
            .inner(5, test::tensor("fc.input_scale", {2}, "abcdefgh"));
    const auto opened = test::open_graph(graph);
    const auto origins = stemma::identify_parameters(opened);
    for (const auto* name : {"fc.weight_quantized", "fc.weight_scale"}) {
        const auto& origin = origin_of(origins, opened, name);
        CHECK(origin.entries == std::vector<std::string>{"fc.weight"});
        CHECK(origin.quantized);
        CHECK(origin.basis == stemma::parameter_origin::basis_kind::name);
    }
    const auto& plain = origin_of(origins, opened, "fc.input_scale");
    CHECK(plain.entries == std::vector<std::string>{"fc.input_scale"});
    CHECK_FALSE(plain.quantized);
}

TEST_CASE("identify_parameters: PyTorch's conventions apply only to what comes from PyTorch") {
    const auto make = [](std::string_view producer, const std::string& slash) {
        const auto graph =
            test::graph({test::node("Conv", {"x", "net/conv1/Conv2D:0", "net/conv1/BiasAdd:0"},
                                    {"y"}, slash + "net/conv1/Conv")},
                        {"x"}, {"y"})
                .inner(5, test::tensor("net/conv1/Conv2D:0", {2, 1, 1, 1}, "12345678"))
                .inner(5, test::tensor("net/conv1/BiasAdd:0", {2}, "12345678"));
        return test::model(graph).text(2, producer);
    };
    const test::scratch_folder folder;
    const auto count = [&](const test::message& model) {
        const stemma::attributed_model opened(folder.make("model.onnx", model.bytes()), {});
        const auto origins = stemma::identify_parameters(opened);
        return std::count_if(origins.begin(), origins.end(), [](const auto& origin) {
            return origin.basis == stemma::parameter_origin::basis_kind::usage;
        });
    };
    CHECK(count(make("tf2onnx", "")) == 0);
    CHECK(count(make("pytorch", "")) == 2);
    CHECK(count(make("tf2onnx", "/")) == 2);
}

TEST_CASE("identify_parameters: extents of any size are compared without overflow") {
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    using extents = std::vector<std::int64_t>;
    CHECK(stemma::detail::is_tripled(extents{96, 32}));
    CHECK(stemma::detail::is_tripled(extents{32, 96}));
    CHECK_FALSE(stemma::detail::is_tripled(extents{32, 97}));
    CHECK_FALSE(stemma::detail::is_tripled(extents{largest, 3}));
    CHECK_FALSE(stemma::detail::is_tripled(extents{32, 96, 1}));
}

namespace {

/// A convolution `c` whose weight is named and whose results are scaled and shifted at the root,
/// as frozen batch norms do, by vectors that the exporter computed.
struct scaled_convolution {
    explicit scaled_convolution(std::vector<test::float_tensor> norm)
        : opened(folder.make("model.onnx", model()), {}) {
        norm.push_back({"c.weight", {2, 2, 1}, {5, 6, 7, 8}});
        known = stemma::read_checkpoint(folder.make("old.safetensors", test::safetensors(norm)));
    }

    [[nodiscard]] float confidence(bool contents, const char* name) const {
        const auto origins =
            stemma::identify_parameters(opened, {.known = &*known, .contents = contents});
        return origin_of(origins, opened, name).confidence;
    }

    static std::string model() {
        const auto bytes = [](float a, float b) {
            return stemma::detail::bytes_of(std::vector<float>{a, b});
        };
        return test::model(
                   test::graph({test::node("Conv", {"x", "c.weight"}, {"h"}, "/c/Conv"),
                                test::node("Mul", {"h", "onnx::Mul_7"}, {"i"}, "/Mul"),
                                test::node("Add", {"i", "onnx::Add_8"}, {"y"}, "/Add")},
                               {"x"}, {"y"})
                       .inner(5, test::tensor("c.weight", {2, 2, 1}, bytes(5, 6) + bytes(7, 8)))
                       .inner(5, test::tensor("onnx::Mul_7", {1, 2, 1}, bytes(7, 8)))
                       .inner(5, test::tensor("onnx::Add_8", {1, 2, 1}, bytes(9, 3))))
            .bytes();
    }

    test::scratch_folder folder;
    stemma::attributed_model opened;
    std::optional<stemma::checkpoint> known;
};

} // namespace

TEST_CASE("identify_parameters: what is computed from several entries is none of them") {
    const scaled_convolution frozen({{"weight", {2}, {1, 2}},
                                     {"bias", {2}, {3, 4}},
                                     {"running_mean", {2}, {1, 7}},
                                     {"running_var", {2}, {2, 7}}});
    const scaled_convolution own({{"weight", {2}, {1, 2}}, {"bias", {2}, {3, 4}}});
    for (const auto* name : {"onnx::Mul_7", "onnx::Add_8"}) {
        CHECK(frozen.confidence(true, name) == 0);
        CHECK(frozen.confidence(false, name) == stemma::detail::confidence::entry_guessed);
        CHECK(own.confidence(true, name) == 0);
        CHECK(own.confidence(false, name) > stemma::detail::confidence::entry_below);
    }
}

TEST_CASE("identify_parameters: a parameter keeps its name unless something is computed from it") {
    const auto find = [](const std::string& scale, bool declares) {
        const auto bytes = stemma::detail::bytes_of(std::vector<float>{1, 2});
        const auto opened =
            test::open_graph(test::graph({test::node("Mul", {"x", scale}, {"h"}, "/n/Mul"),
                                          test::node("Add", {"h", "c.bias"}, {"y"}, "/c/Add")},
                                         {"x"}, {"y"})
                                 .inner(5, test::tensor(scale, {2}, bytes))
                                 .inner(5, test::tensor("c.bias", {2}, bytes)));
        const auto saved = test::saved({{"n.weight", {2}, {3, 4}}, {"c.bias", {2}, {3, 4}}});
        const auto origins = stemma::identify_parameters(
            opened, {.known = declares ? &saved : nullptr, .contents = false});
        return origin_of(origins, opened, scale);
    };
    using stemma::detail::confidence::entry_guessed;
    for (const auto* computed : {"onnx::Mul_3", "/n/Add_output_0"}) {
        CHECK(find(computed, true).confidence == entry_guessed);
        CHECK(find(computed, false).entries.empty());
    }
    for (const auto* stored : {"n.weight", "/n/Cast_output_0", "w_e"}) {
        CHECK(find(stored, true).confidence > entry_guessed);
        CHECK(find(stored, false).entries == std::vector<std::string>{"n.weight"});
    }
}

TEST_CASE(
    "identify_parameters: a folded convolution of a module with others inside may be theirs") {
    const auto find = [](const std::string& activation) {
        const auto bytes = stemma::detail::bytes_of(std::vector<float>{1, 2, 3, 4});
        const auto opened =
            test::open_graph(test::graph({test::node("Conv", {"x", "onnx::Conv_7", "onnx::Conv_8"},
                                                     {"h"}, "/s/s.0/Conv"),
                                          test::node("Relu", {"h"}, {"i"}, activation),
                                          test::node("Add", {"i", "t.bias"}, {"y"}, "/t/Add")},
                                         {"x"}, {"y"})
                                 .inner(5, test::tensor("t.bias", {4}, bytes))
                                 .inner(5, test::tensor("onnx::Conv_7", {4, 1, 1}, bytes))
                                 .inner(5, test::tensor("onnx::Conv_8", {4}, bytes)));
        return origin_of(stemma::identify_parameters(opened), opened, "onnx::Conv_7");
    };
    const auto leaf = find("/s/s.2/Relu");
    CHECK(leaf.entries == std::vector<std::string>{"s.0.weight", "s.1.weight", "s.1.running_var"});
    CHECK(leaf.confidence > stemma::detail::confidence::entry_below);
    CHECK(find("/s/s.0/a/Relu").confidence < stemma::detail::confidence::entry_below);
}

TEST_CASE("identify_parameters: what ONNX Runtime stores in blocks is no parameter of that name") {
    const auto bytes = stemma::detail::bytes_of(std::vector<float>{1, 2, 3, 4});
    const auto opened = test::open_graph(
        test::graph({test::node("Conv", {"x", "reorder"}, {"h"}, "/Conv"),
                     test::node("Conv", {"h", "reorder_token_1"}, {"i"}, "/c/Conv"),
                     test::node("Add", {"i", "t.bias"}, {"y"}, "/t/Add")},
                    {"x"}, {"y"})
            .inner(5, test::tensor("t.bias", {4}, bytes))
            .inner(5, test::tensor("reorder", {4, 1, 1}, bytes))
            .inner(5, test::tensor("reorder_token_1", {2, 2, 1}, bytes)));
    const auto origins = stemma::identify_parameters(opened);
    CHECK(origin_of(origins, opened, "reorder").basis !=
          stemma::parameter_origin::basis_kind::name);
    CHECK(origin_of(origins, opened, "reorder_token_1").entries.empty());
    CHECK_FALSE(origin_of(origins, opened, "t.bias").entries.empty());
}

TEST_CASE("identify_parameters: constants beside named parameters are no entries of their module") {
    const auto bytes = stemma::detail::bytes_of(std::vector<float>{1, 2});
    const auto open = [&](const char* bias) {
        return test::open_graph(
            test::graph({test::node("InstanceNormalization",
                                    {"x", "/n/Constant_1_output_0", "/n/Constant_2_output_0"},
                                    {"h"}, "/n/InstanceNormalization"),
                         test::node("Add", {"h", bias}, {"y"}, "/n/Add")},
                        {"x"}, {"y"})
                .inner(5, test::tensor("/n/Constant_1_output_0", {2}, bytes))
                .inner(5, test::tensor("/n/Constant_2_output_0", {2}, bytes))
                .inner(5, test::tensor(bias, {2}, bytes)));
    };
    const auto named = open("n.bias");
    CHECK(origin_of(stemma::identify_parameters(named), named, "/n/Constant_2_output_0")
              .entries.empty());
    const auto frozen = open("/n/Constant_output_0"); // as in a frozen module
    CHECK(
        origin_of(stemma::identify_parameters(frozen), frozen, "/n/Constant_1_output_0").entries ==
        std::vector<std::string>{"n.weight"});
}

} // namespace test::weights_identify_parameters
