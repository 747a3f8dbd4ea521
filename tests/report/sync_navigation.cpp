// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/sync_navigation.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../wire_builder.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace test::report_sync_navigation {

TEST_CASE("write_sync_navigation: links of nodes of the main graphs, by their positions") {
    const auto body = test::graph({test::node("Relu", {"x"}, {"r"})}, {}, {"r"});
    const test::built_model model(test::model(test::graph(
        {test::owner_node("If", {"c"}, {"a"}, {test::graph_attribute("then_branch", body)}),
         test::node("Tanh", {"a"}, {"b"}), test::node("Neg", {"b"}, {"y"})},
        {"c", "x"}, {"y"})));
    // Node 0 stands in the body.
    const std::vector<stemma::node_link> links{{{0}, {0}}, {{1, 2}, {1}}, {{0, 3}, {2, 3}}};
    stemma::string_sink sink;
    stemma::write_sync_navigation(sink, links, model, model);
    const auto json = nlohmann::json::parse(sink.text);
    CHECK(json["type"] == "sync_navigation");
    CHECK(json["disableMappingFallback"] == true);
    const auto entry = [](std::vector<std::string> left, std::vector<std::string> right) {
        return nlohmann::json{{"leftNodeIds", left}, {"rightNodeIds", right}};
    };
    CHECK(json["mappingEntries"] ==
          nlohmann::json::array({entry({"0", "1"}, {"0"}), entry({"2"}, {"1", "2"})}));
    CHECK(json["mapping"] == nlohmann::json{{"0", "0"}, {"1", "0"}, {"2", "1"}});
}

} // namespace test::report_sync_navigation
