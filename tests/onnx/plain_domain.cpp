// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/plain_domain.hpp>

#include "../catch.hpp"

namespace test::onnx_plain_domain {

TEST_CASE("plain_domain: the standard domain has two names, others one") {
    CHECK(stemma::plain_domain("ai.onnx").empty());
    CHECK(stemma::plain_domain("").empty());
    for (const auto* other : {"ai.onnx.ml", "ai", "com.microsoft", "AI.ONNX"}) {
        CHECK(stemma::plain_domain(other) == other);
    }
}

} // namespace test::onnx_plain_domain
