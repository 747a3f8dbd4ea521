// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/inlined_function.hpp>

#include "../../catch.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace test::onnx_detail_inlined_function {

using stemma::detail::inlined_function;

TEST_CASE("inlined_function: a call has the name of its function, numbered") {
    CHECK(inlined_function::name_of("_inlfunc_Out_token_4") == "_inlfunc_Out");
    CHECK(inlined_function::name_of("_inlfunc_Out") == "_inlfunc_Out");
    CHECK(inlined_function::name_of("_inlfunc_Out_token_x") == "_inlfunc_Out_token_x");
}

TEST_CASE("inlined_function: is named after modules, also where numbers make it unique") {
    const inlined_function block("_inlfunc_block.2");
    CHECK(block.is_named("encoder/block"));
    CHECK(block.is_named("encoder/block.1"));
    CHECK_FALSE(block.is_named("encoder/blocks"));
    CHECK(block.named_around("encoder.block.fc") == "encoder.block");
    CHECK(block.named_around("decoder.fc").empty());
}

TEST_CASE("inlined_function: scopes in a body lead to paths, and back") {
    inlined_function function("_inlfunc_block");
    CHECK(function.below("encoder.block", "fc/act") == "encoder.block.fc.act");
    CHECK(function.above("fc/act", "encoder.block.fc.act") == "encoder.block");
    CHECK(function.above("fc", "encoder.block.act") == std::nullopt);
    CHECK(function.outer_scope("fc", "encoder/block/fc") == "encoder/block");
    CHECK(function.outer_scope("fc_1", "encoder/block/fc") == "encoder/block"); // a later call
    CHECK(function.outer_scope("fc", "encoder/block/act") == std::nullopt);
    CHECK(inlined_function::without_counts("block_1/fc") == "block/fc");
}

TEST_CASE("inlined_function: the members of a called list are those of any list it stands for") {
    inlined_function function("_inlfunc_stages");
    function.note_reading("stages.0", "blocks.0", true);
    CHECK(function.list() == "stages");
    CHECK(function.below("blocks", "stages.0/fc") == "blocks.0.fc");
    CHECK(function.above("stages.0", "blocks.0") == "blocks");
    inlined_function other("_inlfunc_block");
    other.note_reading("fc", "block.fc", true);
    CHECK(other.list().empty());
}

} // namespace test::onnx_detail_inlined_function
