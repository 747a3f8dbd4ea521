// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/patch_weights.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../checkpoint_files.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../patched_model.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/weights/detail/data_places.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace test::weights_patch_weights {

namespace {

/// The entries of a checkpoint, with all bytes of one other than before.
stemma::checkpoint changed(const std::string& path, const std::string& name) {
    const auto checkpoint = stemma::read_checkpoint(path);
    std::string bytes(checkpoint.files().front().bytes());
    const auto* const entry = checkpoint.find(name);
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(entry->offset), entry->size, '\x3f');
    std::vector<stemma::mapped_file> files;
    files.push_back(stemma::mapped_file::holding(std::move(bytes), "changed.pt"));
    return {std::move(files), {checkpoint.entries().begin(), checkpoint.entries().end()}};
}

} // namespace

TEST_CASE("patch_weights: in an initializer of several modules, only selected ones change") {
    const auto joined = [](const std::vector<test::float_tensor>& parts) {
        std::vector<float> values;
        for (std::size_t row = 0; row < 4; ++row) {
            for (const auto& part : parts) {
                for (std::size_t column = 0; column < 4; ++column) {
                    values.push_back(part.values[4 * column + row]);
                }
            }
        }
        return stemma::detail::bytes_of(values);
    };
    const auto all = [](float by) {
        return std::vector{matrix("attn.q.weight", 1 + by), matrix("attn.k.weight", 2 + by),
                           matrix("attn.v.weight", 3 + by), matrix("attn.out.weight", 4 + by)};
    };
    const auto before = all(0);
    const auto after = all(100);
    const auto graph =
        test::graph({test::node("MatMul", {"x", "merged"}, {"m"}, "/attn/MatMul"),
                     test::node("Split", {"m"}, {"a", "b", "c"}, "/attn/Split"),
                     test::node("Add", {"a", "b"}, {"ab"}, "/attn/Add"),
                     test::node("Add", {"ab", "c"}, {"abc"}, "/attn/Add_1"),
                     test::node("MatMul", {"abc", "attn.out.weight"}, {"y"}, "/attn/out/MatMul")},
                    {"x"}, {"y"})
            .inner(5, test::tensor("merged", {4, 12}, joined({before[0], before[1], before[2]})))
            .inner(5, test::tensor("attn.out.weight", {4, 4}, bytes_of(before[3])));
    const patched_model scene(graph, before, after, R"({"modules":[{"name":""},{"name":"attn"},
        {"name":"attn.q"},{"name":"attn.k"},{"name":"attn.v"},{"name":"attn.out"}]})");
    const auto holds = [&](const std::string& bytes, std::size_t q, std::size_t k, std::size_t v) {
        const auto& from = std::array{&before, &after};
        return bytes.find(joined({(*from[q])[0], (*from[k])[1], (*from[v])[2]})) != bytes.npos;
    };
    CHECK(holds(scene.patch("attn.q"), 1, 0, 0));
    CHECK(holds(scene.patch("attn.k"), 0, 1, 0));
    CHECK(holds(scene.patch("attn.k or attn.v"), 0, 1, 1));
    CHECK(holds(scene.patch("attn"), 1, 1, 1));
    CHECK(holds(scene.patch("attn.out"), 0, 0, 0));
}

TEST_CASE("patch_weights: refuses an initializer if only some of its entries change") {
    const auto with = [](float table, float head, float bias) {
        return std::vector{matrix("emb.weight", table, 6), matrix("head.weight", head, 6),
                           test::float_tensor{"head.bias", {6}, std::vector<float>(6, bias)}};
    };
    const auto before = with(1, 1, 0);
    const auto graph =
        test::graph(
            {test::node("Gather", {"emb.weight", "ids"}, {"e"}, "/emb/Gather"),
             test::owner_node("Gemm", {"e", "emb.weight", "head.bias"}, {"y"},
                              {test::message().text(1, "transB").number(3, 1).number(20, 2)},
                              "/head/Gemm")},
            {"ids"}, {"y"})
            .inner(5, test::tensor("emb.weight", {6, 4}, bytes_of(before[0])))
            .inner(5, test::tensor("head.bias", {6}, bytes_of(before[2])));
    const auto modules = R"({"modules":[{"name":""},{"name":"emb"},{"name":"head"}]})";
    const patched_model both(graph, before, with(2, 2, 1), modules);
    const auto all = both.patch("emb or head");
    CHECK(all.find(bytes_of(matrix("", 2, 6))) != all.npos);
    for (const auto* const one : {"emb", "head"}) {
        CHECK(why_refused([&] { return both.patch(one); }).find("emb.weight: holds ") !=
              std::string::npos);
        CHECK(why_refused([&] { return both.patch(one, false); }).find("would tell") !=
              std::string::npos);
    }
    const patched_model bias(graph, before, with(1, 1, 1), modules);
    const auto patched = bias.patch("head");
    CHECK(patched.find(bytes_of(before[0])) != patched.npos);
    CHECK(patched.find(bytes_of(before[2])) == patched.npos);
}

TEST_CASE("patch_weights: the weights are those of one model") {
    const auto module = [](const std::string& prefix, float from) {
        return std::vector{matrix(prefix + "a.weight", from),
                           test::float_tensor{prefix + "a.bias", {4}, {from, 0, 0, 1}}};
    };
    const auto both = [](std::vector<test::float_tensor> one,
                         const std::vector<test::float_tensor>& other) {
        one.insert(one.end(), other.begin(), other.end());
        return one;
    };
    const auto before = module("", 1);
    const auto graph =
        test::graph({test::owner_node(
                        "Gemm", {"x", "a.weight", "a.bias"}, {"y"},
                        {test::message().text(1, "transB").number(3, 1).number(20, 2)}, "/a/Gemm")},
                    {"x"}, {"y"})
            .inner(5, test::tensor("a.weight", {4, 4}, bytes_of(before[0])))
            .inner(5, test::tensor("a.bias", {4}, bytes_of(before[1])));
    const auto modules = R"({"modules":[{"name":""},{"name":"a"}]})";
    const auto patch = [&](const std::vector<test::float_tensor>& after, bool knows,
                           const std::string& prefix = {}) {
        const patched_model scene(graph, before, after, modules);
        const auto output = scene.folder.file("out.onnx");
        const auto report = stemma::patch_weights(scene.opened, output,
                                                  {.weights = &scene.weights,
                                                   .known = knows ? &scene.known : nullptr,
                                                   .prefix = prefix,
                                                   .writing = {.sync = false}});
        return std::pair(test::read_bytes(output), report.unused.size());
    };
    const auto holds = [](const std::string& bytes, const std::vector<test::float_tensor>& values) {
        return bytes.find(bytes_of(values[0])) != bytes.npos &&
               bytes.find(bytes_of(values[1])) != bytes.npos;
    };
    for (const auto knows : {false, true}) {
        const auto plain = both({matrix("ema.a.weight", 3)}, module("", 2));
        CHECK(holds(patch(plain, knows).first, module("", 2)));
        const auto wrapped = both(module("module.", 2), {matrix("a.weight", 3)});
        const auto [bytes, unused] = patch(wrapped, knows);
        CHECK(holds(bytes, module("", 2)));
        CHECK(unused == 1);
        const auto two = both(module("ema.", 3), module("net.", 2));
        CHECK(why_refused([&] { return patch(two, knows); }).find("several models") !=
              std::string::npos);
        CHECK(holds(patch(two, knows, "net").first, module("", 2)));
    }
}

TEST_CASE("patch_weights: a weight that may be part of an entry does not stay silently") {
    const auto before = std::vector{test::float_tensor{"w", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}},
                                    matrix("fc.weight", 1)};
    const auto graph =
        test::graph({test::node("MatMul", {"x", "onnx::MatMul_3"}, {"h"}, "/MatMul"),
                     test::node("MatMul", {"h", "fc.weight"}, {"y"}, "/fc/MatMul")},
                    {"x"}, {"y"})
            .inner(5, test::tensor("onnx::MatMul_3", {2, 2},
                                   stemma::detail::bytes_of(std::vector<float>{5, 6, 7, 8})))
            .inner(5, test::tensor("fc.weight", {4, 4}, bytes_of(before[1])));
    const patched_model scene(graph, before, before, R"({"modules":[{"name":""},{"name":"fc"}]})");
    for (const auto knows : {false, true}) {
        CHECK(why_refused([&] { return scene.patch("", knows); }).find("may be derived from w") !=
              std::string::npos);
    }
}

namespace {

/// A module `a` scales its input by a nameless vector, and `a.fc` multiplies that by its weight.
test::message scaled_product(const test::float_tensor& weight) {
    return test::graph({test::node("Mul", {"x", "onnx::Mul_3"}, {"h"}, "/a/Mul"),
                        test::node("MatMul", {"h", "a.fc.weight"}, {"y"}, "/a/fc/MatMul")},
                       {"x"}, {"y"})
        .inner(5, test::tensor("onnx::Mul_3", {4},
                               stemma::detail::bytes_of(std::vector<float>{1, 2, 3, 4})))
        .inner(5, test::tensor("a.fc.weight", {4, 4}, bytes_of(weight)));
}

} // namespace

TEST_CASE(
    "patch_weights: what may be computed from an unused entry nearby does not stay silently") {
    const auto before =
        std::vector{matrix("a.table", 3, 3), matrix("a.fc.weight", 1), matrix("b.table", 5, 3)};
    const auto graph = scaled_product(before[1]);
    const auto modules =
        R"({"modules":[{"name":""},{"name":"a"},{"name":"a.fc"},{"name":"a.rows"},{"name":"b"}]})";
    const auto refused = [&](const std::vector<test::float_tensor>& after, bool knows) {
        const patched_model scene(graph, after, after, modules);
        return why_refused([&] { return scene.patch("", knows); });
    };
    for (const auto knows : {false, true}) {
        CHECK(refused(before, knows).find("may be derived from a.table") != std::string::npos);
        CHECK(refused({before[1], before[2]}, knows).empty());
        const auto rows = matrix("a.rows.weight", 5, 3);
        CHECK(refused({before[1], rows}, knows).find("from a.rows.weight") != std::string::npos);
        CHECK(refused({before[1], rows, matrix("a.rows.bias", 2, 3)}, knows).empty());
        auto same = before;
        std::copy_n(std::vector<float>{1, 2, 3, 4}.begin(), 4, same[0].values.begin() + 4);
        CHECK(refused(same, knows).empty());
    }
}

TEST_CASE("patch_weights: a computed weight is not that of a parent if a child's fits as well") {
    const auto before = std::vector{matrix("a.average", 7, 3), matrix("a.emb.weight", 1, 3)};
    const auto graph =
        test::graph({test::node("MatMul", {"x", "onnx::MatMul_3"}, {"h"}, "/a/MatMul"),
                     test::node("MatMul", {"h", "a.emb.weight"}, {"y"}, "/a/MatMul_1")},
                    {"x"}, {"y"})
            .inner(5, test::tensor("onnx::MatMul_3", {4, 3},
                                   stemma::detail::bytes_of(std::vector<float>(12, 2))))
            .inner(5, test::tensor("a.emb.weight", {3, 4}, bytes_of(before[1])));
    const patched_model scene(graph, before, before,
                              R"({"modules":[{"name":""},{"name":"a"},{"name":"a.emb"}]})");
    CHECK(why_refused([&] { return scene.patch("", false); }).find("which is uncertain") !=
          std::string::npos);
}

TEST_CASE("patch_weights: what scales a parent's values is not any vector of a child") {
    const auto before = std::vector{matrix("a.fc.weight", 1), matrix("a.fc.bias", 1, 1)};
    const auto graph = scaled_product(before[0]);
    const patched_model scene(graph, before, before,
                              R"({"modules":[{"name":""},{"name":"a"},{"name":"a.fc"}]})");
    CHECK(why_refused([&] { return scene.patch("", false); }).find("which is uncertain") !=
          std::string::npos);
}

TEST_CASE("patch_weights: data of the model stay for it, also if others may be replaced") {
    const auto before = std::vector{matrix("fc.weight", 1)};
    const auto weight = test::message()
                            .number(1, 4)
                            .number(1, 4)
                            .number(2, 1)
                            .text(8, "fc.weight")
                            .inner(13, test::entry("location", "data"))
                            .number(14, 1);
    const auto bytes =
        test::model(test::graph({test::node("MatMul", {"x", "fc.weight"}, {"y"}, "/fc/MatMul")},
                                {"x"}, {"y"})
                        .inner(5, weight))
            .bytes();
    const test::scratch_folder folder;
    const auto data = folder.make("data", bytes_of(before[0]));
    const auto model = folder.make("model.onnx", bytes);
    const auto weights = stemma::read_checkpoint(
        folder.make("new.safetensors", test::safetensors(std::vector{matrix("fc.weight", 2)})));
    const stemma::attributed_model opened(model, {});
    const stemma::patch_options options{.weights = &weights,
                                        .writing = {.replace_data = true, .sync = false}};
    CHECK(why_refused([&] {
              return stemma::patch_weights(opened, folder.file("out.onnx"), options);
          }).find("would be lost") != std::string::npos);
    CHECK(test::read_bytes(data) == bytes_of(before[0]));
    CHECK_FALSE(std::filesystem::exists(folder.file("out.onnx")));
    CHECK(stemma::patch_weights(opened, model, options).changed == 1);
    CHECK(test::read_bytes(data) == bytes_of(matrix("fc.weight", 2)));
}

TEST_CASE("patch_weights: the weights that a model has leave it as it is") {
    for (const std::string name : {"lstm_classifier", "gpt2_tiny", "unet_tiny"}) {
        const stemma::attributed_model opened(test::fixture(name + "/model.onnx"), {});
        const auto checkpoint = stemma::read_checkpoint(test::fixture(name + "/model.pt"));
        const test::scratch_folder folder;
        const auto output = folder.file("out.onnx");
        const auto report = stemma::patch_weights(
            opened, output,
            {.weights = &checkpoint, .known = &checkpoint, .writing = {.sync = false}});
        CHECK(report.written > 0);
        CHECK(report.changed == 0);
        CHECK(stemma::mapped_file(output).bytes() == opened.file().bytes());
    }
}

TEST_CASE("patch_weights: what was changed is changed where it is, and nothing else") {
    const stemma::attributed_model opened(test::fixture("lstm_classifier/model.onnx"), {});
    const auto weights = changed(test::fixture("lstm_classifier/model.pt"), "fc.weight");
    const test::scratch_folder folder;
    const auto output = folder.file("out.onnx");
    const stemma::patch_options options{.weights = &weights, .writing = {.sync = false}};
    CHECK(stemma::patch_weights(opened, output, options).changed == 1);
    const auto after = test::read_bytes(output);
    const auto before = opened.file().bytes();
    REQUIRE(after.size() == before.size());
    std::size_t first = before.size();
    std::size_t last = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] != after[i]) {
            first = std::min(first, i);
            last = i;
            CHECK(after[i] == '\x3f');
        }
    }
    CHECK(last - first < 5 * 32 * sizeof(float));
    auto elsewhere = options;
    elsewhere.modules = "lstm";
    static_cast<void>(stemma::patch_weights(opened, output, elsewhere));
    CHECK(test::read_bytes(output) == before);
}

TEST_CASE("sort_places: empty places overlap nothing, and hide no overlap") {
    auto graph = test::graph({}, {}, {});
    for (const auto* name : {"a", "b", "c"}) {
        graph.inner(5, test::tensor(name));
    }
    const test::built_model model(test::model(graph));
    using places = std::vector<stemma::detail::data_place>;
    places apart{{"w", 0, 8, 0}, {"w", 4, 0, 1}, {"w", 8, 4, 2}};
    CHECK_NOTHROW(stemma::detail::sort_places(apart, model));
    CHECK(apart.size() == 2);
    places overlapping{{"w", 0, 8, 0}, {"w", 2, 0, 1}, {"w", 4, 8, 2}};
    CHECK_THROWS_AS(stemma::detail::sort_places(overlapping, model), stemma::error);
    places inside{{"w", 0, 100, 0}, {"w", 8, 4, 1}, {"w", 20, 4, 2}};
    CHECK_THROWS_AS(stemma::detail::sort_places(inside, model), stemma::error);
    places in_two_files{{"v", 0, 100, 0}, {"w", 8, 4, 1}};
    CHECK_NOTHROW(stemma::detail::sort_places(in_two_files, model));
}

TEST_CASE("patch_weights: requires weights or an adapter") {
    const stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const test::scratch_folder folder;
    CHECK_THROWS_AS(stemma::patch_weights(opened, folder.file("out.onnx"), {}), stemma::error);
    CHECK(folder.file_count() == 0);
}

TEST_CASE("patch_weights: where something is missing, nothing is written") {
    const stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const auto other = stemma::read_checkpoint(test::fixture("lstm_classifier/model.pt"));
    const test::scratch_folder folder;
    const auto output = folder.file("out.onnx");
    CHECK_THROWS_AS(stemma::patch_weights(opened, output, {.weights = &other}), stemma::error);
    CHECK_FALSE(std::filesystem::exists(output));
}

TEST_CASE("patch_weights: gates are reordered without names, or the model is refused") {
    const std::vector<float> mine{1, 2, 3, 4};
    const auto module = [&](const std::string& name) {
        return std::vector<test::float_tensor>{{name + ".weight_ih_l0", {4, 1}, mine},
                                               {name + ".weight_hh_l0", {4, 1}, mine},
                                               {name + ".bias_ih_l0", {4}, mine},
                                               {name + ".bias_hh_l0", {4}, mine}};
    };
    auto graph = test::graph(
        {test::owner_node("LSTM", {"x", "1", "2", "3"}, {"y"},
                          {message().text(1, "hidden_size").number(3, 1).number(20, 2)})},
        {"x"}, {"y"});
    for (const auto& [name, count] : {std::pair("1", 4U), std::pair("2", 4U), std::pair("3", 8U)}) {
        graph.inner(5, test::tensor(name,
                                    name[0] == '3' ? std::vector<std::uint64_t>{1, 8}
                                                   : std::vector<std::uint64_t>{1, 4, 1},
                                    std::string(count * sizeof(float), '\0')));
    }
    const test::scratch_folder folder;
    const auto opened = test::open_graph(graph);
    const auto output = folder.file("out.onnx");
    const auto patch = [&](const std::vector<test::float_tensor>& weights) {
        const auto saved =
            stemma::read_checkpoint(folder.make("new.safetensors", test::safetensors(weights)));
        return stemma::patch_weights(opened, output,
                                     {.weights = &saved, .writing = {.sync = false}});
    };
    CHECK(patch(module("a.lstm")).changed == 3);
    const auto bytes = test::read_bytes(output);
    const auto reordered = stemma::detail::bytes_of(std::vector<float>{1, 4, 2, 3});
    CHECK(bytes.find(reordered) != bytes.npos);
    CHECK(bytes.find(reordered + reordered) != bytes.npos);
    auto both = module("a.lstm");
    const auto other = module("b.lstm");
    both.insert(both.end(), other.begin(), other.end());
    both.push_back({"3", {1, 8}, {1, 2, 3, 4, 5, 6, 7, 8}}); // something can be patched
    CHECK_THROWS_WITH(patch(both), Catch::Contains("may be derived from a.lstm.weight_ih_l0"));
}

TEST_CASE("patch_weights: an adapter that replaces some of the merged entries needs their values") {
    const std::vector<test::float_tensor> merged{{"m.q.weight", {2, 2}, {1, 2, 3, 4}},
                                                 {"m.k.weight", {2, 2}, {5, 6, 7, 8}},
                                                 {"m.q.bias", {2}, {0.5F, 0.25F}},
                                                 {"m.k.bias", {2}, {1, 2}}};
    auto graph = test::graph({test::node("MatMul", {"x", "1"}, {"h"}, "/m/MatMul"),
                              test::node("Add", {"h", "2"}, {"y"}, "/m/Add")},
                             {"x"}, {"y"});
    using stemma::detail::bytes_of;
    graph.inner(5, test::tensor("1", {2, 4}, bytes_of(std::vector<float>{1, 3, 5, 7, 2, 4, 6, 8})))
        .inner(5, test::tensor("2", {4}, bytes_of(std::vector<float>{0.5F, 0.25F, 1, 2})));
    const test::scratch_folder folder;
    const auto opened = test::open_graph(graph);
    const auto checkpoint =
        stemma::read_checkpoint(folder.make("old.safetensors", test::safetensors(merged)));
    const stemma::low_rank_adapter adapter(folder.make(
        "adapter.safetensors",
        test::safetensors(std::vector<test::float_tensor>{{"m.q.lora_A.weight", {1, 2}, {1, 0}},
                                                          {"m.q.lora_B.weight", {2, 1}, {10, 20}},
                                                          {"m.q.bias", {2}, {7, 9}}})));
    const auto output = folder.file("out.onnx");
    const auto report = stemma::patch_weights(
        opened, output, {.adapter = &adapter, .known = &checkpoint, .writing = {.sync = false}});
    CHECK(report.changed == 2);
    const auto bytes = test::read_bytes(output);
    CHECK(bytes.find(bytes_of(std::vector<float>{11, 23, 5, 7, 2, 4, 6, 8})) != bytes.npos);
    CHECK(bytes.find(bytes_of(std::vector<float>{7, 9, 1, 2})) != bytes.npos);
}

TEST_CASE("patch_weights: a convolution may be folded in one call and as it is in another") {
    using stemma::detail::bytes_of;
    const auto with = [](float by) {
        return std::vector<test::float_tensor>{{"c.weight", {2, 2, 1}, {1 + by, 2, 3, 4 + by}},
                                               {"c.bias", {2}, {5, 6 + by}},
                                               {"n.weight", {2}, {2 + by, 3}},
                                               {"n.bias", {2}, {1, 2 + by}},
                                               {"n.running_mean", {2}, {3, 4 + by}},
                                               {"n.running_var", {2}, {1, 2 + by}}};
    };
    const auto folded = [](const std::vector<test::float_tensor>& of, bool bias) {
        std::vector<float> values;
        for (std::size_t i = 0; i < 2; ++i) {
            const auto factor = of[2].values[i] / std::sqrt(of[5].values[i] + 1e-5F);
            if (bias) {
                values.push_back((of[1].values[i] - of[4].values[i]) * factor + of[3].values[i]);
            } else {
                values.push_back(of[0].values[2 * i] * factor);
                values.push_back(of[0].values[2 * i + 1] * factor);
            }
        }
        return values;
    };
    const auto before = with(0);
    const auto after = with(0.5F);
    const auto graph =
        test::graph({test::node("Conv", {"x", "c.weight", "c.bias"}, {"h"}, "/c/Conv"),
                     test::node("Conv", {"h", "onnx::Conv_8", "onnx::Conv_9"}, {"y"}, "/d/Conv")},
                    {"x"}, {"y"})
            .inner(5, test::tensor("c.weight", {2, 2, 1}, bytes_of(before[0].values)))
            .inner(5, test::tensor("c.bias", {2}, bytes_of(before[1].values)))
            .inner(5, test::tensor("onnx::Conv_8", {2, 2, 1}, bytes_of(folded(before, false))))
            .inner(5, test::tensor("onnx::Conv_9", {2}, bytes_of(folded(before, true))));
    const patched_model scene(graph, before, after,
                              R"({"modules":[{"name":""},{"name":"c"},{"name":"n"}]})");
    const auto bytes = scene.patch("");
    CHECK(bytes.find(bytes_of(folded(after, false))) != bytes.npos);
    CHECK(bytes.find(bytes_of(folded(after, true))) != bytes.npos);
    CHECK(bytes.find(bytes_of(after[0].values)) != bytes.npos);
}

} // namespace test::weights_patch_weights
