// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/unknown_weights.hpp>

#include "../../catch.hpp"
#include "../../checkpoint_files.hpp"
#include "../../patched_model.hpp"
#include "../../refusal.hpp"
#include "../../wire_builder.hpp"

#include <stemma/weights/patch_weights.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test::weights_detail_unknown_weights {

namespace {

using extents = std::vector<std::int64_t>;

/// A model that multiplies by a table once more, transposed, outside of the table's module.
test::message tied_head(const test::float_tensor& table, const test::float_tensor& other) {
    std::vector<float> turned;
    for (std::size_t column = 0; column < 4; ++column) {
        for (std::size_t row = 0; row < 6; ++row) {
            turned.push_back(table.values[4 * row + column]);
        }
    }
    return test::graph({test::node("Gather", {"emb.weight", "x"}, {"h"}, "/emb/Gather"),
                        test::node("MatMul", {"h", "fc.weight"}, {"i"}, "/fc/MatMul"),
                        test::node("MatMul", {"i", "onnx::MatMul_9"}, {"y"}, "/MatMul")},
                       {"x"}, {"y"})
        .inner(5, test::tensor("emb.weight", {6, 4}, bytes_of(table)))
        .inner(5, test::tensor("fc.weight", {4, 4}, bytes_of(other)))
        .inner(5, test::tensor("onnx::MatMul_9", {4, 6}, stemma::detail::bytes_of(turned)));
}

constexpr auto tied_modules = R"({"modules":[{"name":""},{"name":"emb"},{"name":"fc"}]})";

} // namespace

TEST_CASE(
    "unknown_weights: what may be computed from an entry does not stay if that has another use") {
    const auto before = std::vector{matrix("a.weight", 1, 2), matrix("b.weight", 3)};
    const auto with = [&](const std::vector<float>& values) {
        const auto graph =
            test::graph({test::node("MatMul", {"onnx::MatMul_3", "x"}, {"h"}, "/a/MatMul"),
                         test::node("Gemm", {"h", "a.weight"}, {"i"}, "/a/Gemm"),
                         test::node("MatMul", {"i", "b.weight"}, {"y"}, "/b/MatMul")},
                        {"x"}, {"y"})
                .inner(5,
                       test::tensor("onnx::MatMul_3", {2, 2, 2}, stemma::detail::bytes_of(values)))
                .inner(5, test::tensor("a.weight", {2, 4}, bytes_of(before[0])))
                .inner(5, test::tensor("b.weight", {4, 4}, bytes_of(before[1])));
        const patched_model scene(graph, before, before,
                                  R"({"modules":[{"name":""},{"name":"a"},{"name":"b"}]})");
        return why_refused([&] { return scene.patch("", false); });
    };
    CHECK(with({1, 2, 3, 4, 5, 6, 7, 9}).find("may be derived from a.weight") != std::string::npos);
    CHECK(with(std::vector<float>(8, 0)).empty());
}

TEST_CASE("unknown_weights: one outside of the selected modules may be derived from theirs") {
    const auto before = std::vector{matrix("emb.weight", 1, 6), matrix("fc.weight", 3)};
    const auto after = std::vector{matrix("emb.weight", 5, 6), matrix("fc.weight", 7)};
    const patched_model scene(tied_head(before[0], before[1]), before, after, tied_modules);
    CHECK(why_refused([&] { return scene.patch("emb", false); }).find("derived from emb.weight") !=
          std::string::npos);
    CHECK(why_refused([&] { return scene.patch("fc", false); }).empty());
}

TEST_CASE("unknown_weights: one that may be tied to one that an adapter changes does not stay") {
    const auto before = std::vector{matrix("emb.weight", 1, 6), matrix("fc.weight", 3)};
    const patched_model scene(tied_head(before[0], before[1]), before, before, tied_modules);
    const auto patch = [&](const std::string& module, const stemma::checkpoint* checkpoint) {
        const std::vector<test::float_tensor> changes{
            {module + ".lora_A.weight", {1, 4}, {1, 0, 2, 0}},
            {module + ".lora_B.weight",
             {module == "emb" ? 6 : 4, 1},
             std::vector<float>(module == "emb" ? 6 : 4, 1)}};
        const stemma::low_rank_adapter adapter(
            scene.folder.make("adapter.safetensors", test::safetensors(changes)));
        return stemma::patch_weights(
                   scene.opened, scene.folder.file("out.onnx"),
                   {.adapter = &adapter, .known = checkpoint, .writing = {.sync = false}})
            .changed;
    };
    CHECK(why_refused([&] { return patch("emb", nullptr); }).find("derived from emb.weight") !=
          std::string::npos);
    CHECK(patch("emb", &scene.known) == 2);
    CHECK(patch("fc", nullptr) == 1);
}

TEST_CASE("unknown_weights: a weight in blocks of channels, with padding, does not stay silently") {
    const auto before = std::vector<test::float_tensor>{
        {"c.weight", {3, 3, 1, 1}, std::vector<float>(9, 2)}, matrix("fc.weight", 1)};
    const auto refused = [&](const std::string& name) {
        const auto graph =
            test::graph({test::node("Conv", {"x", name}, {"h"}, "/c/Conv"),
                         test::node("MatMul", {"h", "fc.weight"}, {"y"}, "/fc/MatMul")},
                        {"x"}, {"y"})
                .inner(5, test::tensor(name, {8, 4, 1, 1}, std::string(128, 'a')))
                .inner(5, test::tensor("fc.weight", {4, 4}, bytes_of(before[1])));
        const patched_model scene(graph, before, before,
                                  R"({"modules":[{"name":""},{"name":"c"},{"name":"fc"}]})");
        return why_refused([&] { return scene.patch(""); }).find("may be derived from c.weight") !=
               std::string::npos;
    };
    CHECK(refused("reorder"));
    CHECK(refused("reorder_token_3"));
    CHECK_FALSE(refused("kernel"));
}

TEST_CASE("other_extents: those of a part and the whole, in any order of axes") {
    using stemma::detail::other_extents;
    CHECK(other_extents(extents{6, 6}, extents{6, 18}) ==
          std::pair<std::uint64_t, std::uint64_t>(6, 18));
    CHECK(other_extents(extents{8, 6}, extents{6, 20}) ==
          std::pair<std::uint64_t, std::uint64_t>(8, 20));
    CHECK(other_extents(extents{4, 6, 6}, extents{6, 6}) ==
          std::pair<std::uint64_t, std::uint64_t>(4, 1));
    CHECK(other_extents(extents{6}, extents{18}) == std::pair<std::uint64_t, std::uint64_t>(6, 18));
    CHECK(other_extents(extents{6}, extents{6, 6}).first == 0);
    CHECK(other_extents(extents{2, 3}, extents{4, 5}).first == 0);
}

TEST_CASE("are_related: tensors with a common extent, or parts of a vector") {
    using stemma::detail::are_related;
    CHECK(are_related(extents{5, 6}, extents{6}));
    CHECK(are_related(extents{6}, extents{3}));
    CHECK(are_related(extents{25, 4}, extents{1, 4, 9, 9}));
    CHECK_FALSE(are_related(extents{25, 4}, extents{1, 9, 9}));
    CHECK_FALSE(are_related(extents{6, 8}, extents{4, 4}));
    CHECK_FALSE(are_related(extents{6}, extents{}));
    CHECK_FALSE(are_related(extents{1, 5}, extents{1, 3}));
}

} // namespace test::weights_detail_unknown_weights
