// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/lone_owners.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_lone_owners {

using texts = std::vector<std::string>;

namespace {

/// The module around an owner where each of some modules has a parameter.
std::string around(const texts& modules, const std::string& path) {
    test::region_scene scene;
    for (const auto& module : modules) {
        scene.add({}, module);
    }
    const test::region_knowledge known(scene);
    return known.path(stemma::detail::modules_around_lone_owners(known.facts)[known.at(path)]);
}

} // namespace

TEST_CASE("lone_owners: the outermost module in which nothing else has parameters") {
    const texts modules{"norm", "attn.out.proj", "ff.fc1", "ff.fc2"};
    CHECK(around(modules, "attn.out.proj") == "attn");
    CHECK(around(modules, "norm") == "none");
    CHECK(around(modules, "ff.fc1") == "none");
    CHECK(around(modules, "attn") == "none"); // has none itself
}

TEST_CASE("lone_owners: lists do not run") {
    const texts modules{"norm", "attn.to_out.0", "layers.0"};
    CHECK(around(modules, "attn.to_out.0") == "attn");
    CHECK(around(modules, "layers.0") == "none");
}

TEST_CASE("lone_owners: the model is no answer") {
    CHECK(around({"attn.out"}, "attn.out") == "attn");
    CHECK(around({"out"}, "out") == "none");
}

} // namespace test::evidence_detail_lone_owners
