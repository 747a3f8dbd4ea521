// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/low_rank_adapter.hpp>

#include "../catch.hpp"
#include "../checkpoint_files.hpp"
#include "../scratch_folder.hpp"

#include <map>
#include <string>
#include <vector>

namespace test::weights_low_rank_adapter {

namespace {

using strings = std::vector<std::string>;

/// A change of two rows by three columns, of rank one.
std::string tensors(const std::string& owner) {
    const auto bytes = stemma::detail::bytes_of(std::vector<float>{1, 2, 3}) +
                       stemma::detail::bytes_of(std::vector<float>{10, 100});
    return test::safetensors(
        R"({"base_model.model.)" + owner +
            R"(.lora_A.weight":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]},)"
            R"("base_model.model.)" +
            owner + R"(.lora_B.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[12,20]}})",
        bytes);
}

std::map<std::string, std::string> match(const strings& names, const strings& entries) {
    std::vector<stemma::parameter_origin> origins;
    for (const auto& entry : entries) {
        origins.emplace_back().entries = {entry};
    }
    return stemma::detail::match_adapter_names(names, origins, "adapter");
}

} // namespace

TEST_CASE("low_rank_adapter: the product is scaled as the config says") {
    const test::scratch_folder folder;
    static_cast<void>(folder.make("adapter_model.safetensors", tensors("a.fc")));
    const auto path = folder.file("");
    const stemma::low_rank_adapter plain(path);
    CHECK(plain.entries() == std::vector<std::string>{"a.fc.weight"});
    CHECK(plain.change_of("a.fc.weight", {2, 3}) == std::vector<float>{10, 20, 30, 100, 200, 300});
    CHECK_FALSE(plain.change_of("a.weight", {2, 3}));
    CHECK_THROWS_AS(plain.change_of("a.fc.weight", {3, 2}), stemma::error);
    static_cast<void>(folder.make("adapter_config.json", R"({"r": 4, "lora_alpha": 8})"));
    CHECK(stemma::low_rank_adapter(path).change_of("a.fc.weight", {2, 3}) ==
          std::vector<float>{20, 40, 60, 200, 400, 600});
    static_cast<void>(
        folder.make("adapter_config.json", R"({"r": 4, "lora_alpha": 8, "use_rslora": true})"));
    CHECK(stemma::low_rank_adapter(path).change_of("a.fc.weight", {2, 3})->front() == 40);
    static_cast<void>(folder.make("adapter_config.json", R"({"r": 4, "lora_alpha": 0})"));
    CHECK(stemma::low_rank_adapter(path).change_of("a.fc.weight", {2, 3})->back() == 0);
    static_cast<void>(folder.make("adapter_config.json", R"({"fan_in_fan_out": true})"));
    CHECK(stemma::low_rank_adapter(path).change_of("a.fc.weight", {3, 2}) ==
          std::vector<float>{10, 100, 20, 200, 30, 300});
}

TEST_CASE("low_rank_adapter: other files are refused") {
    const test::scratch_folder folder;
    const auto file = folder.make("adapter_model.safetensors", tensors("a.fc"));
    for (const std::string config :
         {"[]", "{", R"({"use_dora": true})", R"({"rank_pattern": {"a": 3}})",
          R"({"init_lora_weights": "pissa"})", R"({"init_lora_weights": "pissa_niter_4"})",
          R"({"init_lora_weights": "OLoRA"})", R"({"init_lora_weights": "corda"})",
          R"({"init_lora_weights": "loftq"})", R"({"alora_invocation_tokens": [1, 2]})",
          R"({"peft_type": "LOHA"})"}) {
        static_cast<void>(folder.make("adapter_config.json", config));
        CHECK_THROWS_AS(stemma::low_rank_adapter(file), stemma::error);
    }
    static_cast<void>(folder.make("adapter_config.json", R"({"peft_type": "LORA",
        "init_lora_weights": true, "alora_invocation_tokens": null})"));
    CHECK_NOTHROW(stemma::low_rank_adapter(file));
    static_cast<void>(folder.make("adapter_config.json", R"({"init_lora_weights": "gaussian"})"));
    CHECK_NOTHROW(stemma::low_rank_adapter(file));
    const auto one = test::safetensors(
        R"({"fc.lora_A.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})",
        std::string(4, '\0'));
    CHECK_THROWS_AS(stemma::low_rank_adapter(folder.make("one", one)), stemma::error);
    const auto other = test::safetensors(
        R"({"fc.lora_magnitude_vector":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
        std::string(4, '\0'));
    CHECK_THROWS_AS(stemma::low_rank_adapter(folder.make("other", other)), stemma::error);
    CHECK_THROWS_AS(stemma::low_rank_adapter(folder.make("none", test::safetensors("{}", ""))),
                    stemma::error);
}

TEST_CASE("low_rank_adapter: biases and further adapters are refused, not mixed up") {
    const test::scratch_folder folder;
    const auto with = [&](const std::string& name, const std::string& shape) {
        return folder.make(
            "adapter.safetensors",
            test::safetensors(
                R"({"fc.lora_A.weight":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]},)"
                R"("fc.lora_B.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[12,20]},)"
                R"("fc.)" +
                    name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[20,28]}})",
                std::string(28, '\0')));
    };
    CHECK_NOTHROW(stemma::low_rank_adapter(with("bias", "[2]")));
    CHECK_THROWS_WITH(stemma::low_rank_adapter(with("lora_B.bias", "[2]")),
                      Catch::Contains("fc.lora_B.bias: is not supported"));
    CHECK_THROWS_WITH(stemma::low_rank_adapter(with("lora_B.other.weight", "[2,1]")),
                      Catch::Contains("belongs to a different adapter than fc.lora_B"));
}

TEST_CASE("match_adapter_names: names may begin elsewhere") {
    using map = std::map<std::string, std::string>;
    const strings entries{"a.0.fc.weight", "a.1.fc.weight", "head.weight"};
    CHECK(match({"a.0.fc.weight"}, entries) == map{{"a.0.fc.weight", "a.0.fc.weight"}});
    CHECK(match({"1.fc.weight"}, entries) == map{{"a.1.fc.weight", "1.fc.weight"}});
    CHECK(match({"m.a.0.fc.weight", "m.head.weight"}, entries) ==
          map{{"a.0.fc.weight", "m.a.0.fc.weight"}, {"head.weight", "m.head.weight"}});
    CHECK_THROWS_WITH(match({"fc.weight"}, entries), Catch::Contains("no initializer"));
    CHECK_THROWS_WITH(match({"m.b.weight"}, entries), Catch::Contains("no initializer"));
    CHECK_THROWS_WITH(match({"m.weight"}, entries), Catch::Contains("no initializer"));
}

TEST_CASE("match_adapter_names: an adapter of two encoders is for no model of one") {
    const strings entries{"layers.0.q.weight", "layers.1.q.weight", "fc.weight"};
    CHECK_THROWS_WITH(match({"text.layers.0.q.weight", "vision.layers.0.q.weight"}, entries),
                      Catch::Contains("vision.layers.0.q.weight") &&
                          Catch::Contains("another part of a model than text.layers.0.q.weight"));
    CHECK_THROWS_WITH(match({"text.layers.0.q.weight", "vision.layers.1.q.weight"}, entries),
                      Catch::Contains("another part"));
    CHECK_THROWS_WITH(match({"layers.0.q.weight", "vision.fc.weight"}, entries),
                      Catch::Contains("another part"));
    CHECK_THROWS_WITH(match({"0.q.weight", "layers.0.q.weight"}, entries),
                      Catch::Contains("as would 0.q.weight"));
}

} // namespace test::weights_low_rank_adapter
