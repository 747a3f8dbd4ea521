// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/rewritten_operators.hpp>

#include "../catch.hpp"

namespace test::align_rewritten_operators {

using stemma::correspondence;

TEST_CASE("rewritten_operators: knows equal types, fusions, and decompositions", "[lexicon]") {
    static_assert(stemma::lexicon_policy<stemma::rewritten_operators>);
    const stemma::rewritten_operators lexicon;
    CHECK(lexicon.correspond("Relu", "Relu") == correspondence::head);
    CHECK(lexicon.correspond("Conv", "com.microsoft::FusedConv") == correspondence::head);
    CHECK(lexicon.correspond("Relu", "com.microsoft::FusedConv") == correspondence::part);
    CHECK(lexicon.correspond("BatchNormalization", "Conv") >= correspondence::part);
    CHECK(lexicon.correspond("LayerNormalization", "ReduceMean") == correspondence::part);
    CHECK(lexicon.correspond("Mul", "MatMul") == correspondence::part);
    CHECK(lexicon.correspond("Relu", "Softmax") == correspondence::none);
}

TEST_CASE("rewritten_operators: accepts custom tables", "[lexicon]") {
    const stemma::rewritten_operators lexicon({"mine::Block = Conv | Relu\n"});
    CHECK(lexicon.correspond("Conv", "mine::Block") == correspondence::head);
    CHECK(lexicon.correspond("Relu", "mine::Block") == correspondence::part);
    CHECK(lexicon.correspond("Conv", "com.microsoft::FusedConv") == correspondence::none);
}

TEST_CASE("rewritten_operators: finds types in lists", "[lexicon]") {
    CHECK(stemma::detail::lists_type(stemma::detail::passing_operators, "Cast"));
    CHECK(stemma::detail::lists_type(stemma::detail::passing_operators,
                                     "com.microsoft::QuantizeLinear"));
    CHECK_FALSE(stemma::detail::lists_type(stemma::detail::passing_operators, "CastLike"));
}

} // namespace test::align_rewritten_operators
