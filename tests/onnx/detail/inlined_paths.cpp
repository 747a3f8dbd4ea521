// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/inlined_paths.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>

#include <string>
#include <string_view>

namespace test::onnx_detail_inlined_paths {

using stemma::no_id;
using stemma::detail::inlined_paths;

namespace {

std::string path_of(const inlined_paths& paths, stemma::id call, std::string_view scope = {}) {
    return paths.path(call, scope).value_or("unknown");
}

} // namespace

TEST_CASE("inlined_paths: results and parameters lead to calls within and around") {
    inlined_paths paths;
    const auto block = paths.add("_inlfunc_blocks_token_3");
    const auto fc = paths.add("_inlfunc_fc_token_7");
    const auto act = paths.add("_inlfunc_act_token_8");
    paths.add_parameter(fc, "", "blocks.1.fc", true);
    paths.add_result(fc, "", block, "fc", true);
    paths.add_result(act, "", block, "act", true);
    paths.resolve();
    CHECK(path_of(paths, block) == "blocks.1");
    CHECK(path_of(paths, act, "inner") == "blocks.1.act.inner");
}

TEST_CASE("inlined_paths: parameters of a module inside do not lead to that") {
    inlined_paths paths;
    const auto attention = paths.add("_inlfunc_self_attn.1_token_2");
    paths.add_parameter(attention, "", "layers.0.self_attn.out_proj", true);
    // Nor is a module called that another one's function is named after.
    const auto of_class = paths.add("_inlfunc_Attention");
    paths.add_parameter(of_class, "", "layers.1.self_attn.out_proj", true);
    paths.add_parameter(of_class, "", "layers.1.self_attn", true);
    paths.resolve();
    CHECK(path_of(paths, attention) == "layers.0.self_attn");
    CHECK(path_of(paths, of_class) == "layers.1.self_attn");
}

TEST_CASE("inlined_paths: what follows a call does not tell its scope, unless named like it") {
    inlined_paths paths;
    const auto conv = paths.add("_inlfunc_conv");
    const auto fc = paths.add("_inlfunc_fc");
    paths.add_result(conv, "", no_id, "a/act", false); // fused with what follows
    paths.add_result(fc, "", no_id, "a/fc", false);
    paths.resolve();
    CHECK(path_of(paths, conv) == "unknown");
    CHECK(path_of(paths, fc) == "a.fc");
}

TEST_CASE("inlined_paths: levels of later calls of a module are counted") {
    inlined_paths paths;
    const auto call = paths.add("_inlfunc_attn_token_0");
    paths.add_result(call, "attn_1/v_1", no_id, "attn_2/v_2", true);
    paths.add_result(call, "b_1/", no_id, "b_2/", true); // an empty level
    paths.resolve();
    CHECK(path_of(paths, call, "attn_1") == "attn_1");
}

TEST_CASE("inlined_paths: members are below the list that the function is") {
    inlined_paths paths;
    const auto nn = paths.add("_inlfunc_nn");
    paths.add_parameter(nn, "nn.0", "convs.1.nn.0", true); // not a list in `convs.1`
    const auto one = paths.add("_inlfunc_F");
    const auto two = paths.add("_inlfunc_F_token_1");
    paths.add_parameter(one, "inc.0", "inc.0", true);
    paths.add_parameter(two, "inc.0", "down.conv.0", true); // named as in the first call
    paths.resolve();
    CHECK(path_of(paths, nn) == "convs.1.nn");
    CHECK(path_of(paths, nn, "nn.2") == "convs.1.nn.2");
    CHECK(path_of(paths, two) == "down.conv");
    CHECK(path_of(paths, two, "inc.1/act") == "down.conv.1.act");
}

TEST_CASE("inlined_paths: a call without results or parameters is around those that read its "
          "values") {
    inlined_paths paths;
    const auto attention = paths.add("_inlfunc_attention_token_1");
    const auto dense = paths.add("_inlfunc_dense_token_4");
    paths.add_parameter(dense, "", "layers.2.attention.dense", true);
    paths.add_value(dense, attention);
    paths.resolve();
    CHECK(path_of(paths, attention) == "layers.2.attention");
}

TEST_CASE("inlined_paths: a function that is called once keeps whole names") {
    inlined_paths paths;
    const auto whole = paths.add("_inlfunc_act");
    const auto other = paths.add("_inlfunc_relu");
    paths.add_node(whole, "encoder/act");
    paths.add_node(other, "inner/act"); // nothing in the model is called that
    paths.add_top("encoder");
    paths.resolve();
    CHECK(path_of(paths, whole, "encoder/act") == "encoder.act");
    CHECK(path_of(paths, other) == "unknown");
    CHECK_FALSE(paths.is_repeated(whole));
}

} // namespace test::onnx_detail_inlined_paths
