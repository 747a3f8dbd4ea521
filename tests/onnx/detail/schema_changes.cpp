// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/schema_changes.hpp>

#include "../../catch.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace test::onnx_detail_schema_changes {

using stemma::detail::changed_between;
using stemma::detail::last_known_opset;

TEST_CASE("changed_between: knows what each opset changed") {
    CHECK(changed_between("Reshape", 18, 19));
    CHECK(changed_between("Gelu", 17, 20)); // new ones count
    CHECK_FALSE(changed_between("MatMul", 17, last_known_opset));
    CHECK_FALSE(changed_between("Add", 17, last_known_opset));
}

TEST_CASE("changed_between: a longer range includes all changes of its parts") {
    for (const char* op : {"Reshape", "Cast", "Conv", "Split", "TopK", "Relu", "Mish", "LpPool"}) {
        for (std::int64_t from = 17; from <= last_known_opset; ++from) {
            CHECK_FALSE(changed_between(op, from, from));
            for (std::int64_t to = from + 1; to <= last_known_opset; ++to) {
                CHECK(changed_between(op, from, to) ==
                      (changed_between(op, from, to - 1) || changed_between(op, to - 1, to)));
            }
        }
    }
}

TEST_CASE("changed_between: unknown opsets may change everything") {
    CHECK(changed_between("Add", 17, last_known_opset + 1));
    CHECK(changed_between("Add", 13, 17));
    CHECK_FALSE(changed_between("Add", 13, 13));
}

TEST_CASE("changed_between: only whole names count") {
    for (const char* op : {"", " ", "Cas", "ast", "Cast CastLike", " Cast", "Cast ", "x"}) {
        CAPTURE(op);
        CHECK_FALSE(changed_between(op, 17, last_known_opset));
    }
}

} // namespace test::onnx_detail_schema_changes
