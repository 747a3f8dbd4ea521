// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/fused_attention.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>

#include <map>
#include <string>
#include <vector>

namespace test::evidence_detail_fused_attention {

using stemma::id;

namespace {

/// The module found for an attention that reads operators of some modules, `-` if not known, and
/// is read by one, possibly through a conversion.
std::string module_between(const std::vector<std::string>& from, const std::string& to,
                           bool quantized = false, const std::vector<std::string>& tree = {}) {
    auto paths = tree;
    paths.insert(paths.end(), from.begin(), from.end());
    paths.push_back(to);
    std::erase(paths, "-");
    const auto modules = test::tree_of(paths);
    test::operator_scene ops;
    std::map<id, std::string> path_of;
    std::vector<id> inputs;
    for (const auto& path : from) {
        inputs.push_back(ops.add());
        path_of[inputs.back()] = path;
    }
    const auto attention = ops.add(inputs, "", "Attention");
    const auto read = quantized ? ops.add({attention}, "", "QuantizeLinear") : attention;
    path_of[ops.add({read}, "", "MatMul")] = to;
    const auto module = stemma::detail::find_attention(ops, modules, attention, [&](auto v) {
        const auto& path = path_of[static_cast<id>(v)];
        return path == "-" || path.empty()
                   ? stemma::no_id
                   : test::module_at(modules, path.substr(0, path.find(':')));
    });
    return module == stemma::no_id ? "-" : modules.path(module);
}

} // namespace

TEST_CASE("is_attention_type: attentions that tools fuse") {
    for (const char* type : {"Attention", "QAttention", "GroupQueryAttention"}) {
        CHECK(stemma::detail::is_attention_type(type));
    }
    CHECK_FALSE(stemma::detail::is_attention_type("Softmax"));
}

TEST_CASE("names_attention: a word of the name") {
    for (const char* name : {"attention", "self_attention", "EncDecAttention", "attention_1"}) {
        CHECK(stemma::detail::names_attention(name));
    }
    for (const char* name : {"flatten", "attn", "inattention", ""}) {
        CHECK_FALSE(stemma::detail::names_attention(name));
    }
}

TEST_CASE("find_attention: the attention around what reads the result") {
    const auto quantized = GENERATE(false, true);
    CHECK(module_between({"b.0.output"}, "b.1.attention.output.dense", quantized) ==
          "b.1.attention");
    CHECK(module_between({"-"}, "b.1.attentions.0.out", quantized) == "b.1.attentions.0");
    CHECK(module_between({"-"}, "b.1.mix.out", quantized) == "-");
    CHECK(module_between({"-"}, "-", quantized, {"b.attention"}) == "-");
}

TEST_CASE("find_attention: by class") {
    CHECK(module_between({"-"}, "b.mix.out", false, {"b.mix:app.SelfAttention"}) == "b.mix");
}

TEST_CASE("find_attention: whatever calls the projections before and behind") {
    CHECK(module_between({"b.mix.q", "b.mix.k"}, "b.mix.out.0") == "b.mix");
    CHECK(module_between({"b.attn.x.q", "b.attn.x.k"}, "b.attn.x.out") == "b.attn.x");
    CHECK(module_between({"a", "c"}, "b.mix.out") == "-");
}

} // namespace test::evidence_detail_fused_attention
