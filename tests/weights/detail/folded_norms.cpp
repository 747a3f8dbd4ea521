// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/folded_norms.hpp>

#include "../../catch.hpp"

#include <string>
#include <vector>

namespace test::weights_detail_folded_norms {

using namespace stemma::detail;

TEST_CASE("norm_names: the pair of a name comes first") {
    CHECK(norm_names("conv1").front().name == "bn1");
    CHECK(norm_names("conv1").front().paired);
    CHECK(norm_names("convolution").front().name == "normalization");
    CHECK(norm_names("3").front().name == "4");
    CHECK_FALSE(norm_names("depthwise").front().paired);
}

TEST_CASE(
    "norm_names: of names without pair, a norm without number is that of a single convolution") {
    CHECK(norm_names("c").front().name == "c_bn");
    CHECK(norm_names("c", {{}, true, 1}).front().name == "bn");
    CHECK(norm_names("conv1", {{}, true, 1}).front().name == "bn1");
    CHECK(norm_names("cv1").front().name == "bn1");
    CHECK(norm_names("pointwise", {{}, false, 2}).front().name == "bn2");
}

TEST_CASE("norm_names: all norms of a model are called alike") {
    CHECK(norm_names("conv2", {{"norm"}, false, 0}).front().name == "norm2");
    CHECK(norm_names("c2", {{"n"}, false, 0}).front().name == "n2");
    CHECK(norm_names("depthwise_conv", {{"batch_norm"}, true, 1}).front().name == "batch_norm");
    CHECK(norm_names("3", {{"norm"}, false, 0}).front().name == "4");
}

TEST_CASE("norm_names: a pair is whole if it is the whole name") {
    CHECK(norm_names("conv2").front().whole);
    CHECK(norm_names("conv_a").front().paired);
    CHECK_FALSE(norm_names("conv_a").front().whole);
}

TEST_CASE("norm_word: the word for a norm in a name") {
    CHECK(norm_word("final_bn") == "bn");
    CHECK(norm_word("batch_norm_2") == "batch_norm");
    CHECK(norm_word("n1") == "n");
    CHECK(norm_word("1").empty());
}

TEST_CASE("norms_beside: a list of convolutions has a list of norms beside it") {
    CHECK(norms_beside("net.convs.2").front() == "net.bns.2");
    CHECK(norms_beside("convs.0").front() == "bns.0");
    CHECK(norms_beside("net.layers.2").empty());
    CHECK(norms_beside("conv1.0").empty());
    CHECK(norms_beside("convs.first").empty());
    CHECK(norms_beside("3").empty());
}

} // namespace test::weights_detail_folded_norms
