// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/slot_roles.hpp>

#include "../../catch.hpp"

namespace test::weights_detail_slot_roles {

using stemma::detail::gates_of_slot;
using stemma::detail::role_of_slot;

TEST_CASE("slot_roles: an operator is found by its whole name") {
    CHECK(role_of_slot("Conv", 1).attribute == "weight");
    CHECK(role_of_slot("Conv", 2).attribute == "bias");
    CHECK(role_of_slot("Conv", 0).attribute.empty());
    CHECK(role_of_slot("Conv", 3).attribute.empty());
    CHECK(role_of_slot("Con", 1).attribute.empty());
    CHECK(role_of_slot("", 1).attribute.empty());
    CHECK(role_of_slot("BatchNormalization", 4).attribute == "running_var");
}

TEST_CASE("slot_roles: the table marks transposed and uncertain inputs") {
    CHECK(role_of_slot("MatMul", 1).transposed);
    CHECK(role_of_slot("MatMul", 1).sure);
    CHECK_FALSE(role_of_slot("Gemm", 1).transposed);
    CHECK_FALSE(role_of_slot("Add", 0).sure);
    CHECK(role_of_slot("Add", 1).attribute == "bias");
}

TEST_CASE("slot_roles: weights and biases of recurrent operators have gates") {
    CHECK(gates_of_slot("LSTM", 1) == 4);
    CHECK(gates_of_slot("GRU", 3) == 3);
    CHECK(gates_of_slot("RNN", 2) == 1);
    CHECK(gates_of_slot("LSTM", 0) == 0);
    CHECK(gates_of_slot("LSTM", 5) == 0);
    CHECK(gates_of_slot("Gemm", 1) == 0);
}

} // namespace test::weights_detail_slot_roles
