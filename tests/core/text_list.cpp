// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/text_list.hpp>

#include "../catch.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace test::core_text_list {

using parts = std::vector<std::string>;
using stemma::split_list;

TEST_CASE("split_list: leaves out empty parts", "[text_list]") {
    CHECK(split_list("").empty());
    CHECK(split_list(",,").empty());
    CHECK(split_list("a") == parts{"a"});
    CHECK(split_list(",a,,b,") == parts{"a", "b"});
    CHECK(split_list("a b, c") == parts{"a b", " c"});
}

TEST_CASE("split_list: braces hold a part together", "[text_list]") {
    CHECK(split_list("{a,b}") == parts{"{a,b}"});
    CHECK(split_list("x{a,{b,c}},d,{,}") == parts{"x{a,{b,c}}", "d", "{,}"});
    CHECK(split_list("{a,b") == parts{"{a", "b"});
    CHECK(split_list("a},b") == parts{"a}", "b"});
    CHECK(split_list(std::string(100'000, '{') + ",b").size() == 2);
}

TEST_CASE("join_list: is the inverse of split_list", "[text_list]") {
    for (const auto& list : {parts{}, parts{"a"}, parts{"a", "b c", "d.*"}}) {
        CHECK(split_list(stemma::detail::join_list(list)) == list);
    }
}

TEST_CASE("take_until: removes the mark, but does not return it", "[text_list]") {
    std::string_view text = "a||b";
    parts taken;
    while (!text.empty()) {
        taken.emplace_back(stemma::detail::take_until(text, '|'));
    }
    CHECK(taken == parts{"a", "", "b"});
    CHECK(stemma::detail::take_until(text, '|').empty());
    CHECK(text.empty());
}

} // namespace test::core_text_list
