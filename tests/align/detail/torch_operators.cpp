// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/torch_operators.hpp>

#include "../../catch.hpp"

#include <stemma/align/lexicon.hpp>

#include <cstddef>
#include <sstream>
#include <string>

namespace test::align_detail_torch_operators {

TEST_CASE("torch_operators: every name in the table finds its own entry", "[torch_operators]") {
    const stemma::torch_lexicon lexicon;
    std::istringstream lines{std::string(stemma::detail::torch_operators)};
    std::size_t names = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty()) {
            continue;
        }
        INFO(line);
        const auto equals = line.find('=');
        REQUIRE(equals != line.npos);
        const auto leaves = line.front() == '?'   ? stemma::trail::maybe
                            : line.front() == '-' ? stemma::trail::never
                                                  : stemma::trail::always;
        line = line.substr(line.find_first_not_of("?-"));
        std::istringstream words(line.substr(0, line.find('=')));
        std::istringstream heads(line.substr(line.find('=') + 1));
        std::string head;
        REQUIRE(heads >> head);
        for (std::string name; words >> name; ++names) {
            INFO(name);
            CHECK(stemma::detail::plain_operator_name(name) == name);
            CHECK(lexicon.lists(name));
            CHECK(lexicon.trail_of(name) == leaves);
            CHECK(lexicon.correspond(name, head == "*" ? "Anything" : head) >=
                  (head == "*" ? stemma::correspondence::rare : stemma::correspondence::head));
        }
    }
    CHECK(names > 300);
}

TEST_CASE("torch_operators: an activation may be there as the function that defines it",
          "[torch_operators]") {
    const stemma::torch_lexicon lexicon;
    for (const auto* name : {"leaky_relu", "prelu", "elu", "selu"}) {
        INFO(name);
        CHECK(lexicon.correspond(name, "Where") == stemma::correspondence::head);
        CHECK(lexicon.correspond(name, "Less") == stemma::correspondence::part);
        CHECK(lexicon.correspond(name, "Mul") == stemma::correspondence::part);
    }
}

} // namespace test::align_detail_torch_operators
