// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/region_exports.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test::fold_detail_region_exports {

namespace {

using stemma::id;
using stemma::no_id;

/// A chain of four Relus in two regions of two, and their exports.
struct chain {
    std::string bytes;
    stemma::wire_model model{bytes};
    stemma::detail::divided_graph graph{
        0, stemma::detail::nested_graph(model, 0), {0, 1, 2, 3}, {}};
    std::vector<id> place{1, 1, 2, 2};
    stemma::detail::fold_plan plan{};

    explicit chain(const test::names& outputs)
        : bytes(test::model(
                    test::graph({test::node("Relu", {"x"}, {"a"}), test::node("Relu", {"a"}, {"b"}),
                                 test::node("Relu", {"b"}, {"c"}),
                                 test::node("Add", {"c", "a"}, {"d"})},
                                {"x"}, outputs))
                    .bytes()) {
        graph.spread.assign(4, false);
        graph.leaving = stemma::detail::graph_results(model, 0);
        plan.regions.resize(3);
        for (id r = 0; r < 3; ++r) {
            plan.regions[r].parent = r == 0 ? no_id : 0;
            plan.regions[r].end = r == 0 ? 3 : r + 1;
        }
        plan.root = {0};
    }

    [[nodiscard]] std::set<std::pair<id, std::string>> exports() const {
        std::set<std::pair<id, std::string>> pairs;
        stemma::detail::find_exports(model, graph, place, plan, [&](id r, id value) {
            CHECK(pairs.emplace(r, model.value_name(value)).second);
        });
        return pairs;
    }
};

} // namespace

TEST_CASE("find_exports: values read elsewhere, or outputs of the graph") {
    using found = std::set<std::pair<id, std::string>>;
    CHECK(chain({"d"}).exports() == found{{1, "a"}, {1, "b"}, {2, "d"}});
    CHECK(chain({"d", "c"}).exports() == found{{1, "a"}, {1, "b"}, {2, "c"}, {2, "d"}});
    CHECK(chain({}).exports() == found{{1, "a"}, {1, "b"}});
    auto moved = chain({"d"});
    moved.graph.spread[0] = true; // it is wherever it is read
    CHECK(moved.exports() == found{{1, "b"}, {2, "d"}});
}

TEST_CASE("find_exports: a value leaves all regions up to the one that contains its readers") {
    auto nested = chain({"d"});
    nested.plan.regions[1].end = 3; // the second region lies in the first one
    nested.plan.regions[2].parent = 1;
    const std::set<std::pair<id, std::string>> expected{{1, "d"}, {2, "d"}};
    CHECK(nested.exports() == expected);
}

TEST_CASE("first_uses: the first readers outside the region") {
    const auto scene = chain({"d"});
    const auto uses = [&](id region, const std::vector<id>& nodes) {
        std::vector<id> values;
        for (auto node : nodes) {
            values.push_back(scene.model.first_output(node));
        }
        return stemma::detail::first_uses(scene.model, scene.graph, scene.place, scene.plan, region,
                                          values);
    };
    const auto first = uses(1, {0, 1});
    CHECK(first.size() == 2);
    CHECK(first.at(scene.model.first_output(0)) == 3); // the second Relu is inside
    CHECK(first.at(scene.model.first_output(1)) == 2);
    CHECK(uses(2, {3}).empty()); // an output of the graph, which no node reads
}

} // namespace test::fold_detail_region_exports
