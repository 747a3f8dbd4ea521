// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/einsum_equation.hpp>

#include "../../catch.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace test::types_detail_einsum_equation {

TEST_CASE("einsum_equation: expands ellipses from the last axis", "[detail]") {
    const auto read = [](std::string_view text, const std::vector<std::size_t>& ranks) {
        const auto equation = stemma::detail::einsum_equation::read(text, ranks);
        std::string all;
        for (const auto& operand : equation ? equation->operands : std::vector<std::string>()) {
            all += operand + ",";
        }
        return equation ? all + equation->result : "none";
    };
    CHECK(read(" b i j , k j -> b i k ", {3, 2}) == "bij,kj,bik");
    CHECK(read("zai,ia", {3, 2}) == "zai,ia,z");
    CHECK(read("...ic,...jc->...ij", {4, 3}) == "\xfe\xff"
                                                "ic,\xff"
                                                "jc,\xfe\xff"
                                                "ij");
    CHECK(read("b...a", {3}) == "b\xff"
                                "a,\xff"
                                "ab");
    CHECK(read("...i->i", {1}) == "i,i");
    CHECK(read("ij->j", {3}) == "none");
    CHECK(read("ijk->j", {2}) == "none");
    CHECK(read("i,j->ij", {1}) == "none");
    CHECK(read("i->i", {1, 1}) == "none");
    CHECK(read("", {}) == "none");
}

} // namespace test::types_detail_einsum_equation
