// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/tool_names.hpp>

#include "../../catch.hpp"

namespace test::align_detail_tool_names {

using stemma::detail::prefix_length;
using stemma::detail::suffix_length;
using stemma::detail::tool_suffixes;

TEST_CASE("tool_names: matches the longest suffix, digits where required", "[align]") {
    CHECK(suffix_length("a_nchwc", tool_suffixes) == 6);
    CHECK(suffix_length("a_token_12", tool_suffixes) == 9);
    CHECK(suffix_length("a_token_", tool_suffixes) == 0);
    CHECK(suffix_length("a_quantized_scale", tool_suffixes) == 16);
    CHECK(suffix_length("_nchwc", tool_suffixes) == 0);
    CHECK(suffix_length("relu_1", tool_suffixes) == 0);
    CHECK(suffix_length("", tool_suffixes) == 0);
}

TEST_CASE("tool_names: matches prefixes", "[align]") {
    CHECK(prefix_length("graph_input_cast_0", "graph_input_cast_\nfused ") == 17);
    CHECK(prefix_length("fused a", "graph_input_cast_\nfused ") == 6);
    CHECK(prefix_length("fused ", "fused ") == 0);
    CHECK(prefix_length("a", "") == 0);
}

} // namespace test::align_detail_tool_names
