// SPDX-License-Identifier: Apache-2.0
#include <stemma/version.hpp>

#include "catch.hpp"

#include <stemma/model/module_tree.hpp>

#include <string>
#include <type_traits>
#include <typeinfo>

namespace test::version {

TEST_CASE("version: is part of symbol names, but not of source code", "[version]") {
    STATIC_REQUIRE(std::is_same_v<stemma::module_tree, stemma::STEMMA_ABI::module_tree>);
    const auto expected =
        "v" + std::to_string(STEMMA_VERSION_MAJOR) + "_" + std::to_string(STEMMA_VERSION_MINOR);
    const std::string linked = typeid(stemma::module_tree).name();
    CHECK(linked.find(expected) != std::string::npos);
}

} // namespace test::version
