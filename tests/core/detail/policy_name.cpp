// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/policy_name.hpp>

#include "../../catch.hpp"

#include <string>
#include <string_view>

namespace test::core_detail_policy_name {

namespace {

struct unnamed {};
struct named {
    static constexpr std::string_view name = "named";
};
struct called {
    std::string name;
};
struct counting {
    int count = 0;
    [[nodiscard]] std::string name() const { return "count:" + std::to_string(count); }
};

} // namespace

TEST_CASE("name_of_policy: from a class, an object or a function", "[policy_name]") {
    using stemma::detail::name_of_policy;
    CHECK(name_of_policy(unnamed{}).empty());
    CHECK(name_of_policy(named{}) == "named");
    CHECK(name_of_policy(called{"me"}) == "me");
    CHECK(name_of_policy(counting{7}) == "count:7");
    STATIC_REQUIRE_FALSE(stemma::detail::named_policy<unnamed>);
    STATIC_REQUIRE(stemma::detail::named_policy<called>);
}

} // namespace test::core_detail_policy_name
