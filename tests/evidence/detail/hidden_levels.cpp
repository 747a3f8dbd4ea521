// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/hidden_levels.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree_builder.hpp>

namespace test::evidence_detail_hidden_levels {

namespace {

struct scene {
    stemma::module_tree_builder builder;
    stemma::detail::hidden_levels levels{builder};

    stemma::id at(const char* path) { return builder.at_path(path); }
};

} // namespace

TEST_CASE("hidden_levels: what one list member shows applies to those that begin alike") {
    scene s;
    s.levels.note(s.at("block.0"), "att", s.at("block.0.layer.0.att"));
    s.at("block.1.layer");
    CHECK(s.levels.find(s.at("block.1"), "att") == "layer.0.att");
    CHECK(s.levels.find(s.at("block.1"), "norm").empty());
    CHECK(s.levels.find(s.at("block.2"), "att").empty());
    s.at("other.1.layer");
    CHECK(s.levels.find(s.at("other.1"), "att").empty());
}

TEST_CASE("hidden_levels: nothing is shown if nothing is left out") {
    scene s;
    s.levels.note(s.at("block.0"), "att", s.at("block.0.att"));
    s.levels.note(s.at("block.0"), "layer.0", s.at("block.0.layer.0"));
    s.levels.note(s.at("block.0"), "far", s.at("elsewhere.far"));
    s.at("block.1.att");
    s.at("block.1.layer.0");
    s.at("block.1.elsewhere");
    for (const auto* segment : {"att", "layer.0", "far"}) {
        CHECK(s.levels.find(s.at("block.1"), segment).empty());
    }
}

TEST_CASE("hidden_levels: only list members show anything") {
    scene s;
    s.levels.note(s.at("encoder"), "att", s.at("encoder.layer.att"));
    s.levels.note(0, "fc", s.at("body.fc"));
    s.at("decoder.layer");
    CHECK(s.levels.find(s.at("decoder"), "att").empty());
    CHECK(s.levels.find(0, "fc").empty());
}

} // namespace test::evidence_detail_hidden_levels
