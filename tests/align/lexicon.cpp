// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/lexicon.hpp>

#include "../catch.hpp"

#include <string_view>

namespace test::align_lexicon {

using stemma::correspondence;
using stemma::torch_lexicon;
using stemma::trail;
using stemma::detail::plain_operator_name;

TEST_CASE("plain_operator_name: an operator has one name however it is printed", "[lexicon]") {
    for (const std::string_view name :
         {"torch.Tensor.add", "torch.Tensor.add_", "aten.add.Tensor", "aten.add_.Tensor",
          "aten::add", "aten::add.Tensor", "torch._VariableFunctionsClass.add", "_operator.add",
          "torch.Tensor.__add__"}) {
        CHECK(plain_operator_name(name) == "add");
    }
    CHECK(plain_operator_name("torch.nn.functional.batch_norm") == "batchnorm");
    CHECK(plain_operator_name("torch.nn.modules.batchnorm.BatchNorm2d") == "batchnorm2d");
    CHECK(plain_operator_name("torch.Tensor.__rsub__") == "rsub");
    CHECK(plain_operator_name("torch.Tensor.shape.__get__") == "shape");
    CHECK(plain_operator_name("<function _assert at 0x7f>") == "assert");
    CHECK(plain_operator_name("aten.t.default") == "t");
    CHECK(plain_operator_name("").empty());
}

TEST_CASE("torch_lexicon: heads come before parts, parts before anything", "[lexicon]") {
    const torch_lexicon lexicon;
    CHECK(lexicon.correspond("torch.nn.functional.linear", "Gemm") == correspondence::head);
    CHECK(lexicon.correspond("torch.nn.functional.linear", "MatMul") == correspondence::head);
    CHECK(lexicon.correspond("torch.nn.functional.linear", "Add") == correspondence::part);
    CHECK(lexicon.correspond("torch.nn.functional.linear", "Shape") == correspondence::plumbing);
    CHECK(lexicon.correspond("torch.nn.functional.linear", "Conv") == correspondence::none);
    CHECK(lexicon.correspond("torch.nn.modules.conv.Conv2d", "Conv") == correspondence::head);
    CHECK(lexicon.correspond("torch.nn.modules.batchnorm.BatchNorm3d", "BatchNormalization") ==
          correspondence::head);
    CHECK(lexicon.correspond("aten.native_layer_norm.default", "ReduceMean") ==
          correspondence::head);
}

TEST_CASE("torch_lexicon: unlisted operators are compared by name", "[lexicon]") {
    const torch_lexicon lexicon;
    CHECK_FALSE(lexicon.lists("mylib::fused_softsign"));
    CHECK(lexicon.correspond("mylib::fused_softsign", "Softsign") == correspondence::head);
    CHECK(lexicon.correspond("mylib::fused_softsign", "Conv") == correspondence::none);
    CHECK(lexicon.trail_of("mylib::fused_softsign") == trail::maybe);
}

TEST_CASE("torch_lexicon: knows which operators leave no trace", "[lexicon]") {
    const torch_lexicon lexicon;
    CHECK(lexicon.trail_of("torch.Tensor.contiguous") == trail::never);
    CHECK(lexicon.trail_of("torch.Tensor.dim") == trail::never);
    CHECK(lexicon.trail_of("torch.nn.functional.dropout") == trail::maybe);
    CHECK(lexicon.trail_of("aten::slice") == trail::maybe); // x[:] is x
    CHECK(lexicon.trail_of("torch.nn.functional.batch_norm") == trail::maybe);
    CHECK(lexicon.trail_of("torch.nn.functional.conv2d") == trail::always);
}

TEST_CASE("torch_lexicon: a fused operator counts as what it was fused from", "[lexicon]") {
    const torch_lexicon lexicon;
    CHECK(lexicon.correspond("aten.conv2d.default", "FusedConv") == correspondence::head);
    CHECK(lexicon.correspond("aten.relu.default", "FusedConv") == correspondence::rare);
    CHECK(lexicon.correspond("aten.linear.default", "MatMulNBits") == correspondence::head);
    CHECK(lexicon.fuses("aten.relu.default", "FusedConv"));
    CHECK(lexicon.fuses("aten.relu.default", "com.microsoft::FusedConv"));
    CHECK_FALSE(lexicon.fuses("aten.softmax.int", "FusedConv"));
    CHECK_FALSE(lexicon.fuses("aten.linear.default", "MatMul"));
    CHECK(lexicon.fuses("aten.add.Tensor", "MatMulNBits"));
    CHECK_FALSE(lexicon.fuses("aten.add.Tensor", "MatMulInteger")); // takes no bias
    // the standard's name in another domain
    CHECK_FALSE(lexicon.fuses("aten.relu.default", "Conv"));
    CHECK(lexicon.fuses("aten.relu.default", "com.microsoft.nchwc::Conv"));
    CHECK(stemma::fuses(lexicon, "aten.relu.default", "FusedConv"));
    CHECK_FALSE(stemma::fuses(stemma::equal_names{}, "Relu", "FusedConv"));
    CHECK_FALSE(torch_lexicon("relu = Relu").fuses("relu", "FusedConv"));
    CHECK(torch_lexicon("relu = Relu", "Both = Conv | Relu").fuses("relu", "Both"));
}

TEST_CASE("torch_lexicon: accepts another table", "[lexicon]") {
    const torch_lexicon lexicon("?twist spin = Twist | Turn | Bend\n\nnonsense\n");
    CHECK(lexicon.correspond("spin", "Twist") == correspondence::head);
    CHECK(lexicon.correspond("twist", "Turn") == correspondence::part);
    CHECK(lexicon.correspond("twist", "Bend") == correspondence::rare);
    CHECK(lexicon.trail_of("twist") == trail::maybe);
    CHECK_FALSE(lexicon.lists("linear"));
    CHECK_FALSE(lexicon.lists("nonsense"));
}

TEST_CASE("similar_names: compares only names", "[lexicon]") {
    const stemma::similar_names lexicon;
    CHECK(lexicon.correspond("my::Add", "Add") == correspondence::head);
    CHECK(lexicon.correspond("add_v2", "Add") == correspondence::head);
    CHECK(lexicon.correspond("linear", "Gemm") == correspondence::none);
    CHECK(torch_lexicon().correspond("linear", "Gemm") == correspondence::head);
    CHECK(lexicon.trail_of("linear") == trail::maybe);
    STATIC_REQUIRE(stemma::explain_policy<stemma::lexicon_category, stemma::similar_names>());
}

TEST_CASE("equal_names: ignores case and underscores", "[lexicon]") {
    const stemma::equal_names lexicon;
    CHECK(lexicon.correspond("mat_mul", "MatMul") == correspondence::head);
    CHECK(lexicon.correspond("add_v2", "Add") == correspondence::none);
    CHECK(lexicon.correspond("reshape", "Shape") == correspondence::none);
    CHECK(lexicon.trail_of("anything") == trail::always);
    STATIC_REQUIRE(stemma::explain_policy<stemma::lexicon_category, stemma::equal_names>());
}

namespace {

struct without_category {
    [[nodiscard]] correspondence correspond(std::string_view, std::string_view) const {
        return correspondence::none;
    }
    [[nodiscard]] trail trail_of(std::string_view) const { return trail::maybe; }
};

struct without_trail {
    using policy_category = stemma::lexicon_category;
    [[nodiscard]] correspondence correspond(std::string_view, std::string_view) const {
        return correspondence::none;
    }
};

struct without_correspond {
    using policy_category = stemma::lexicon_category;
    [[nodiscard]] trail trail_of(std::string_view) const { return trail::maybe; }
};

} // namespace

TEST_CASE("lexicon_policy: rejects near misses", "[lexicon]") {
    STATIC_REQUIRE(stemma::lexicon_policy<torch_lexicon>);
    STATIC_REQUIRE(stemma::explain_policy<stemma::lexicon_category, torch_lexicon>());
    STATIC_REQUIRE_FALSE(stemma::lexicon_policy<without_category>);
    STATIC_REQUIRE_FALSE(stemma::lexicon_policy<without_trail>);
    STATIC_REQUIRE_FALSE(stemma::lexicon_policy<without_correspond>);
}

} // namespace test::align_lexicon
