// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/probed_names.hpp>

#include "../catch.hpp"
#include "../scratch_folder.hpp"

#include <string>
#include <vector>

namespace test::numerics_probed_names {

TEST_CASE("probed_names: reads names in order", "[numerics][probed_names]") {
    const test::scratch_folder folder;
    const auto path = folder.make(
        "a.json", R"({"schema": "stemma.probe/1", "values": [{"name": "b"}, {"name": "a"}]})");
    CHECK(stemma::probed_names(path) == std::vector<std::string>{"b", "a"});
}

TEST_CASE("probed_names: rejects anything else", "[numerics][probed_names]") {
    const test::scratch_folder folder;
    for (const auto* text :
         {"", "{", "[]", "{}", R"({"schema": "stemma.probe/1"})", R"({"schema": 1, "values": []})",
          R"({"schema": "stemma.probe/1", "values": {}})",
          R"({"schema": "stemma.probe/1", "values": [1]})",
          R"({"schema": "stemma.probe/1", "values": [{"name": 1}]})"}) {
        INFO(text);
        CHECK_THROWS_AS(stemma::probed_names(folder.make("a.json", text)), stemma::error);
    }
    CHECK_THROWS_AS(stemma::probed_names(folder.file("missing")), stemma::error);
}

} // namespace test::numerics_probed_names
