// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/fused_operators.hpp>

#include "../catch.hpp"

#include <stemma/align/detail/torch_operators.hpp>
#include <stemma/align/lexicon.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace test::align_fused_operators {

namespace {

/// For every exported operator that represents captured ones, one of those.
std::map<std::string, std::string> captured_by_head() {
    std::map<std::string, std::string> by_head;
    std::istringstream lines{std::string(stemma::detail::torch_operators)};
    for (std::string line; std::getline(lines, line);) {
        const auto equals = line.find('=');
        if (equals == line.npos) {
            continue;
        }
        std::string name;
        std::istringstream(line.substr(line.find_first_not_of("?-"))) >> name;
        std::istringstream words(line.substr(equals + 1, line.find('|') - equals - 1));
        for (std::string head; words >> head;) {
            by_head.emplace(head, name);
        }
    }
    return by_head;
}

} // namespace

TEST_CASE("fused_operators: every type is listed once and has a known leading operator",
          "[torch_operators]") {
    const stemma::torch_lexicon lexicon;
    const auto captured = captured_by_head();
    std::istringstream lines{std::string(stemma::detail::fused_operators)};
    std::set<std::string> types;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty()) {
            continue;
        }
        INFO(line);
        const auto equals = line.find('=');
        REQUIRE(equals != line.npos);
        std::istringstream heads(line.substr(equals + 1, line.find('|') - equals - 1));
        std::string leading;
        for (std::string head; leading.empty() && heads >> head;) {
            const auto entry = captured.find(head);
            leading = entry == captured.end() ? "" : entry->second;
        }
        REQUIRE_FALSE(leading.empty());
        std::istringstream words(line.substr(0, equals));
        for (std::string type; words >> type;) {
            INFO(type);
            CHECK(types.insert(type).second);
            CHECK(lexicon.correspond(leading, type) == stemma::correspondence::head);
            CHECK(lexicon.fuses(leading, type) == (line.find('|') != line.npos));
        }
    }
    CHECK(types.size() > 70);
}

} // namespace test::align_fused_operators
