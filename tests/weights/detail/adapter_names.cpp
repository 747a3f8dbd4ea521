// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/adapter_names.hpp>

#include "../../catch.hpp"

#include <map>
#include <string>
#include <vector>

namespace test::weights_detail_adapter_names {

namespace {

using strings = std::vector<std::string>;

std::map<std::string, std::string> match(const strings& names, const strings& entries) {
    std::vector<stemma::parameter_origin> origins;
    for (const auto& entry : entries) {
        origins.emplace_back().entries = {entry};
    }
    return stemma::detail::match_adapter_names(names, origins, "adapter");
}

} // namespace

TEST_CASE("match_adapter_names: names may begin elsewhere", "[weights][adapter_names]") {
    using map = std::map<std::string, std::string>;
    const strings entries{"a.0.fc.weight", "a.1.fc.weight", "head.weight"};
    CHECK(match({"a.0.fc.weight"}, entries) == map{{"a.0.fc.weight", "a.0.fc.weight"}});
    CHECK(match({"1.fc.weight"}, entries) == map{{"a.1.fc.weight", "1.fc.weight"}});
    CHECK(match({"m.a.0.fc.weight", "m.head.weight"}, entries) ==
          map{{"a.0.fc.weight", "m.a.0.fc.weight"}, {"head.weight", "m.head.weight"}});
    CHECK_THROWS_WITH(match({"fc.weight"}, entries), Catch::Contains("no initializer"));
    CHECK_THROWS_WITH(match({"m.b.weight"}, entries), Catch::Contains("no initializer"));
    CHECK_THROWS_WITH(match({"m.weight"}, entries), Catch::Contains("no initializer"));
}

TEST_CASE("match_adapter_names: an adapter of two encoders is for no model of one",
          "[weights][adapter_names]") {
    const strings entries{"layers.0.q.weight", "layers.1.q.weight", "fc.weight"};
    CHECK_THROWS_WITH(match({"text.layers.0.q.weight", "vision.layers.0.q.weight"}, entries),
                      Catch::Contains("vision.layers.0.q.weight") &&
                          Catch::Contains("another part of a model than text.layers.0.q.weight"));
    CHECK_THROWS_WITH(match({"text.layers.0.q.weight", "vision.layers.1.q.weight"}, entries),
                      Catch::Contains("another part"));
    CHECK_THROWS_WITH(match({"layers.0.q.weight", "vision.fc.weight"}, entries),
                      Catch::Contains("another part"));
    CHECK_THROWS_WITH(match({"0.q.weight", "layers.0.q.weight"}, entries),
                      Catch::Contains("as would 0.q.weight"));
}

} // namespace test::weights_detail_adapter_names
