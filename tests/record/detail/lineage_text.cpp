// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/lineage_text.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::record_detail_lineage_text {

using stemma::id;
using stemma::no_id;

TEST_CASE("lineage_text: agrees with spelling each text separately, in any order", "[detail]") {
    test::random_numbers random(4);
    for (int round = 0; round < 100; ++round) {
        std::vector<id> parent{no_id};
        std::vector<std::string> whole{"root"};
        for (id m = 1; m < 60; ++m) {
            parent.push_back(static_cast<id>(random(m)));
            whole.push_back(whole[parent[m]] + "/" + std::to_string(m));
        }
        stemma::detail::lineage_text text;
        for (int i = 0; i < 300; ++i) {
            const auto m = static_cast<id>(random(parent.size()));
            const auto spelled = text.spell(
                m, [&](id below) { return parent[below]; },
                [&](id part, std::size_t level, std::string& out) {
                    CHECK((level == 0) == (part == 0));
                    out += part == 0 ? "root" : "/" + std::to_string(part);
                });
            REQUIRE(spelled == whole[m]);
        }
    }
}

} // namespace test::record_detail_lineage_text
