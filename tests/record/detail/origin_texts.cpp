// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/origin_texts.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>

#include <string>
#include <vector>

namespace test::record_detail_origin_texts {

using stemma::id;
using stemma::origin_kind;

TEST_CASE("origin_texts: round-trip") {
    const auto modules = test::tree_of({"a", "b"});
    const auto a = test::module_at(modules, "a");
    const auto b = test::module_at(modules, "b");
    stemma::node_origins origins;
    const std::vector<id> all{origins.add_origin({"", 3, "n", a}),
                              origins.add_origin({"1/body", 2, "m", b}),
                              origins.add_origin({"", 7, "k", a})};
    origins.add(origin_kind::replaced, all);
    origins.add(origin_kind::inserted, std::vector<id>{all[0]});
    std::string text;
    stemma::detail::append_origins(origins, modules, 0, "n", a, text);
    CHECK(text == R"([3,["1/body#2","m","b"],[7,"k"]])");
    std::string inserted;
    stemma::detail::append_origins(origins, modules, 1, "q", a, inserted);
    CHECK(inserted == R"(["inserted",[3,"n"]])");

    stemma::node_origins again;
    stemma::detail::origin_reader reader(modules, again);
    reader.add(text, "n", a);
    reader.add(inserted, "q", a);
    CHECK(again.kind(0) == origin_kind::replaced);
    REQUIRE(again.of(0).size() == 3);
    CHECK(again[again.of(0)[1]].graph == "1/body");
    CHECK(again[again.of(0)[1]].module == b);
    CHECK(again[again.of(0)[2]].name == "k");
    CHECK(again.kind(1) == origin_kind::inserted);
    CHECK(stemma::detail::modules_of(again, 0) == std::vector<id>{a, b});
}

TEST_CASE("origin_texts: malformed texts are ignored") {
    const auto modules = test::tree_of({"a"});
    stemma::node_origins origins;
    stemma::detail::origin_reader reader(modules, origins);
    const std::vector<std::string> damaged{"",
                                           "{",
                                           "7",
                                           "[-1]",
                                           R"(["x"])",
                                           R"(["#y"])",
                                           R"([[1,"n","gone"]])",
                                           "[[]]",
                                           "[[1,2,3,4]]",
                                           R"(["5/body#"])",
                                           R"(["5/body#99999999999"])",
                                           R"(["5/body#4294967295"])"};
    for (id node = 0; node < damaged.size(); ++node) {
        CAPTURE(damaged[node]);
        reader.add(damaged[node], "n", 0);
        CHECK(origins.of(node).empty());
        CHECK(origins.kind(node) == origin_kind::unknown);
    }
}

} // namespace test::record_detail_origin_texts
