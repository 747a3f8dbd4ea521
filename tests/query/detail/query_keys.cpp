// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/detail/query_keys.hpp>

#include "../../catch.hpp"

#include <stemma/query/parse_query.hpp>

#include <algorithm>
#include <string>

namespace test::query_detail_query_keys {

TEST_CASE("query_keys: are sorted, unique and usable") {
    using stemma::detail::query_keys;
    using stemma::detail::query_operand;
    CHECK(std::is_sorted(query_keys.begin(), query_keys.end(),
                         [](const auto& a, const auto& b) { return a.name < b.name; }));
    for (const auto& key : query_keys) {
        const bool number =
            key.operand >= query_operand::depth && key.operand <= query_operand::weights;
        const auto text =
            std::string(key.name) + (number                                     ? ">=0"
                                     : key.operand == query_operand::two_places ? ":a..b"
                                                                                : ":a");
        INFO(text);
        const auto asked = stemma::parse_query(text);
        const bool of_module = asked.kind == stemma::query_kind::module;
        CHECK((of_module ? asked.parts.front().kind : asked.kind) == key.kind);
    }
}

} // namespace test::query_detail_query_keys
