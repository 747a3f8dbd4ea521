// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/skipped_products.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_skipped_products {

using stemma::id;
using texts = std::vector<std::string>;

namespace {

/// `x + last(second(product(first(x))))`, where each but the products is a module.
test::region_scene<> skipped(const texts& modules) {
    test::region_scene scene;
    const auto x = scene.add({}, "", "Relu");
    auto last = x;
    for (const auto& module : modules) {
        last = module.empty() ? scene.lose({last}) : scene.add({last}, module, "Mul");
    }
    scene.add({x, last});
    return scene;
}

/// Returns: the modules of the products, one after the other.
texts complete(const test::region_scene<>& scene) {
    test::region_knowledge known(scene);
    stemma::detail::skipped_products(known.facts).complete();
    texts modules;
    for (const auto v : scene.lost) {
        modules.push_back(known.path(known.facts.owner[v]));
    }
    return modules;
}

} // namespace

TEST_CASE("skipped_products: are in the only module there that calls others") {
    CHECK(complete(skipped({"block.norm", "", "block.mixer.conv", ""})) ==
          texts{"block.mixer", "block.mixer"});
    CHECK(complete(skipped({"", "block.mixer.query", "block.mixer.key", ""})) ==
          texts{"block.mixer", "block.mixer"});
}

TEST_CASE("skipped_products: unknown beside two such modules, a list, or one parameter") {
    CHECK(complete(skipped({"block.one.conv", "", "block.other.conv"})) == texts{"none"});
    CHECK(complete(skipped({"block.norm", "", "block.fc.0"})) == texts{"none"});
    CHECK(complete(skipped({"block.norm", ""})) == texts{"none"});
}

TEST_CASE("skipped_products: unknown if other modules are between them and that module") {
    CHECK(complete(skipped({"", "block.norm1", "block.mixer.conv", "block.norm2", ""})) ==
          texts{"none", "none"});
}

TEST_CASE("skipped_products: unknown if nothing passes them by") {
    auto scene = skipped({"block.norm", "block.mixer.conv"});
    scene.lose({static_cast<id>(scene.ops.size() - 1)});
    CHECK(complete(scene) == texts{"none"});
}

} // namespace test::evidence_detail_skipped_products
