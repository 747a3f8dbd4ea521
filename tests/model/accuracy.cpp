// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/accuracy.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::model_accuracy {

using stemma::id;
using stemma::no_id;
using stemma::relate;
using stemma::relation;

TEST_CASE("accuracy: two modules are equal, ancestor and descendant, or unrelated") {
    const auto tree = test::tree_of({"a.b", "a.bc", "d"});
    const auto at = [&](const char* path) { return test::module_at(tree, path); };
    CHECK(relate(tree.index(), at("a"), at("a")) == relation::exact);
    CHECK(relate(tree.index(), at("a"), at("a.b")) == relation::ancestor);
    CHECK(relate(tree.index(), 0, at("d")) == relation::ancestor);
    CHECK(relate(tree.index(), at("a.b"), at("a")) == relation::descendant);
    CHECK(relate(tree.index(), at("a.b"), at("a.bc")) == relation::contaminated);
    CHECK(relate(tree.index(), at("d"), at("a.b")) == relation::contaminated);
}

TEST_CASE("accuracy: paths relate like their modules") {
    const auto tree = test::tree_of({"a.b.c", "a.b.cd", "a.bc", "ab", "d.0", "d.01"});
    for (id m = 0; m < tree.size(); ++m) {
        for (id n = 0; n < tree.size(); ++n) {
            CHECK(relate(tree.path(m), tree.path(n)) == relate(tree.index(), m, n));
        }
    }
}

TEST_CASE("accuracy: only operators with a truth count, and those not found count as missing") {
    const auto tree = test::tree_of({"a.b", "c"});
    const auto at = [&](const char* path) { return test::module_at(tree, path); };
    const std::vector<id> truth{at("a.b"), at("a.b"), at("a"), at("c"), no_id, at("c")};
    const std::vector<id> modules{at("a.b"), at("a"), at("a.b"), at("a"), at("c"), no_id};
    const auto result = stemma::measure_accuracy(tree.index(), modules, truth);
    CHECK(result.exact == 1);
    CHECK(result.ancestor == 1);
    CHECK(result.descendant == 1);
    CHECK(result.contaminated == 1);
    CHECK(result.missing == 1);
    CHECK(result.total() == 5);
}

TEST_CASE("accuracy: sums add every count") {
    stemma::accuracy all{1, 2, 3, 4, 5};
    all += {10, 20, 30, 40, 50};
    CHECK(all == stemma::accuracy{11, 22, 33, 44, 55});
}

} // namespace test::model_accuracy
