// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/wire/known_policies.hpp>

#include "../../catch.hpp"

#include <stemma/policy/policy_registry.hpp>

namespace test::onnx_wire_known_policies {

TEST_CASE("known_policies: are one and the same everywhere, and start with those in the box",
          "[known_policies]") {
    CHECK(&stemma::known_policies() == &stemma::known_policies());
    const stemma::onnx_policy_registry box;
    CHECK(stemma::known_policies().propagations.names() == box.propagations.names());
    CHECK(stemma::known_policies().resolutions.names() == box.resolutions.names());
}

} // namespace test::onnx_wire_known_policies
