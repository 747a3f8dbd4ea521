// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/input_roles.hpp>

#include "../../catch.hpp"

#include <set>
#include <sstream>
#include <string>

namespace test::onnx_detail_input_roles {

using role = stemma::detail::input_role;

TEST_CASE("input_roles: an operator's letters are the roles of its inputs") {
    const stemma::detail::input_roles roles;
    const auto* conv = roles.find("", "QLinearConv");
    REQUIRE(conv != nullptr);
    CHECK(conv->input(0) == role::operand);
    CHECK(conv->input(1) == role::scale);
    CHECK(conv->input(2) == role::zero_point);
    CHECK(conv->input(3) == role::weight);
    CHECK(conv->input(8) == role::weight);
    CHECK(conv->input(9) == role::operand);
    const auto* norm = roles.find("", "BatchNormalization");
    REQUIRE(norm != nullptr);
    CHECK(norm->input(2) == role::weight);
    CHECK(norm->input(3) == role::buffer);
    CHECK(norm->input(4) == role::buffer);
    const auto* dynamic = roles.find("", "DynamicQuantizeLinear");
    REQUIRE(dynamic != nullptr);
    CHECK(dynamic->output(1) == role::scale);
    CHECK(dynamic->output(2) == role::zero_point);
    CHECK(roles.find("", "Softmax") == nullptr);
}

TEST_CASE("input_roles: a star repeats, a slash describes packed elements") {
    const stemma::detail::input_roles roles("Join >*\nPacked .w / width 2\n");
    REQUIRE(roles.find("", "Join") != nullptr);
    CHECK(roles.find("", "Join")->input(0) == role::moved);
    CHECK(roles.find("", "Join")->input(17) == role::moved);
    CHECK(roles.find("", "Join")->bits == 0);
    REQUIRE(roles.find("", "Packed") != nullptr);
    CHECK(roles.find("", "Packed")->bits == 2);
    CHECK(roles.find("", "Packed")->bits_attribute == "width");
}

TEST_CASE("input_roles: a domain's operator takes precedence over that of any domain") {
    const stemma::detail::input_roles roles;
    REQUIRE(roles.find("com.microsoft", "Attention") != nullptr);
    CHECK(roles.find("com.microsoft", "Attention")->input(1) == role::weight);
    CHECK(roles.find("", "Attention")->input(1) == role::operand);
    CHECK(roles.find("com.example", "Attention") == roles.find("", "Attention"));
}

TEST_CASE("input_roles: the table lists every operator once, with valid letters") {
    std::istringstream table{std::string(stemma::detail::operator_input_roles)};
    std::set<std::string> types;
    for (std::string line; std::getline(table, line);) {
        if (line.empty()) {
            continue;
        }
        CAPTURE(line);
        std::istringstream words(line);
        std::string type;
        std::string letters;
        REQUIRE(words >> type >> letters);
        CHECK(types.insert(type).second);
        CHECK(letters.find_first_not_of(".wbszio>df-*") == std::string::npos);
        CHECK(letters != "*");
    }
    CHECK(types.size() > 50);
}

} // namespace test::onnx_detail_input_roles
