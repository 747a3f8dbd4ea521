// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/operator_domain.hpp>

#include "../../catch.hpp"

namespace test::model_detail_operator_domain {

TEST_CASE("plain_domain: the standard domain has two spellings, others one") {
    CHECK(stemma::detail::plain_domain("ai.onnx").empty());
    CHECK(stemma::detail::plain_domain("").empty());
    for (const auto* other : {"ai.onnx.ml", "ai", "com.microsoft", "AI.ONNX"}) {
        CHECK(stemma::detail::plain_domain(other) == other);
    }
}

TEST_CASE("spelled_domain: the standard domain is spelled out, others are unchanged") {
    CHECK(stemma::detail::spelled_domain("") == "ai.onnx");
    for (const auto* other : {"ai.onnx", "ai.onnx.ml", "ai", "com.microsoft"}) {
        CHECK(stemma::detail::spelled_domain(other) == other);
    }
}

TEST_CASE("plain_type: a type without its domain") {
    CHECK(stemma::detail::plain_type("com.microsoft::FusedConv") == "FusedConv");
    CHECK(stemma::detail::plain_type("Conv") == "Conv");
}

TEST_CASE("is_standard_domain: holds for the standard domain and its subdomains") {
    for (const auto* standard : {"", "ai.onnx", "ai.onnx.ml", "ai.onnx."}) {
        CHECK(stemma::detail::is_standard_domain(standard));
    }
    for (const auto* other : {"ai", "ai.onnxruntime", "com.ai.onnx", "AI.ONNX"}) {
        CHECK_FALSE(stemma::detail::is_standard_domain(other));
    }
}

} // namespace test::model_detail_operator_domain
