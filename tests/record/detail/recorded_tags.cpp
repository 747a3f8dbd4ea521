// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/recorded_tags.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"
#include "../../refusal.hpp"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::record_detail_recorded_tags {

using stemma::id;

TEST_CASE("recorded_tags: the table round-trips through JSON") {
    test::random_numbers random(2);
    for (std::size_t nodes = 0; nodes < 60; ++nodes) {
        const std::size_t modules = 7;
        stemma::detail::recorded_tags table;
        while (table.module.size() < nodes) {
            const auto module = static_cast<id>(random(modules));
            std::vector<id> several;
            for (id m = 0; m < modules && random.one_in(2); ++m) {
                several.push_back(m);
            }
            for (auto run = 1 + random(4); run > 0 && table.module.size() < nodes; --run) {
                if (several.size() > 1) {
                    table.several[static_cast<id>(table.module.size())] = several;
                }
                table.module.push_back(module);
            }
        }
        const auto text = stemma::detail::to_json(table);
        CHECK(text.find('\n') == text.npos);
        const auto read = stemma::detail::read_recorded_tags(text, "file", nodes, modules);
        CHECK(read.module == table.module);
        CHECK(read.several == table.several);
    }
}

TEST_CASE("recorded_tags: equal neighbours make one run") {
    stemma::detail::recorded_tags table;
    table.module.assign(100000, 3);
    CHECK(stemma::detail::to_json(table).size() < 100);
}

TEST_CASE("recorded_tags: rejects a table that does not fit the model") {
    const auto is_refused = [](const std::string& runs, std::size_t nodes) {
        const auto code = test::refusal("file", [&] {
            return stemma::detail::read_recorded_tags("{\"runs\": [" + runs + "]}", "file", nodes,
                                                      4);
        });
        return code == stemma::error_code::malformed;
    };
    CHECK_FALSE(is_refused("[2, 3], [1, 0, [0, 3]]", 3));
    CHECK(is_refused("[2, 3]", 3));
    CHECK(is_refused("[4, 3]", 3));
    CHECK(is_refused("[3, 4]", 3));
    CHECK(is_refused("[3, 0, [0, 4]]", 3));
    CHECK(is_refused("[3, 0, 7]", 3));
    CHECK(is_refused("[-3, 0]", 3));
    CHECK(is_refused("[18446744073709551615, 0]", 3));
    CHECK(is_refused("[3]", 3));
    CHECK(is_refused("3", 3));
    CHECK(is_refused("{\"a\": 3}", 3));
    CHECK(is_refused("[\"3\", 0]", 3));
    CHECK(is_refused("", 1));
    // A few bytes that expand to endless lists.
    std::string long_list = "0";
    for (int i = 0; i < 100000; ++i) {
        long_list += ", 1";
    }
    CHECK(is_refused("[1000000, 0, [" + long_list + "]]", 1000000));
}

} // namespace test::record_detail_recorded_tags
