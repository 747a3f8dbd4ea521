// SPDX-License-Identifier: Apache-2.0
// expect: policies: add `using policy_category` to the class of each argument
#include <stemma/policy/policies.hpp>

struct mine {};

const stemma::policies chosen{mine{}};
