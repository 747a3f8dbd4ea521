// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/detail/overrule_shared.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/sweeps.hpp>
#include <stemma/tagging/resolve_evidence.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace test::tagging_detail_overrule_shared {

using stemma::id;
using stemma::no_id;
using stemma::provenance;

namespace {

class scene : public test::operator_scene {
public:
    const stemma::module_tree tree = test::tree_of({"blocks.0.fc", "blocks.1.fc", "head"});

    [[nodiscard]] id at(std::string_view path) const { return test::module_at(tree, path); }

    id know(id v, std::string_view path) {
        result.resize(size());
        result[v] = {at(path), 0, 0.95F, provenance::scope, false};
        return v;
    }

    std::vector<stemma::detail::overruled> run() {
        result.resize(size());
        return stemma::detail::overrule_shared(*this, tree.index(), result);
    }

    std::vector<stemma::attribution> result;
};

} // namespace

TEST_CASE("overrule_shared: a constant read in unrelated modules belongs above them") {
    scene s;
    const auto constant = s.know(s.add_constant(), "blocks.0.fc");
    s.know(s.add({constant}), "blocks.0.fc");
    s.know(s.add({constant}), "blocks.1.fc");
    const auto changed = s.run();
    REQUIRE(changed.size() == 1);
    CHECK(changed[0].v == constant);
    CHECK(changed[0].before.module == s.at("blocks.0.fc"));
    CHECK(changed[0].readers == s.at("blocks"));
    CHECK(s.result[constant].module == s.at("blocks"));
    CHECK(s.result[constant].conflict);
    CHECK(s.result[constant].source == provenance::scope);
    CHECK(s.result[constant].confidence < 0.95F);
}

TEST_CASE("overrule_shared: confidence is that of the readers") {
    scene s;
    const auto constant = s.know(s.add_constant(), "blocks.0.fc");
    s.know(s.add({constant}), "blocks.0.fc");
    const auto unsure = s.know(s.add({constant}), "blocks.1.fc");
    s.result[unsure].confidence = 0.4F;
    REQUIRE(s.run().size() == 1);
    CHECK(s.result[constant].confidence == 0.4F);
}

TEST_CASE("overrule_shared: a constant read only by another module goes above both") {
    scene s;
    const auto constant = s.know(s.add_constant(), "blocks.0.fc");
    s.know(s.add({constant}), "head");
    REQUIRE(s.run().size() == 1);
    CHECK(s.result[constant].module == 0);
}

TEST_CASE("overrule_shared: a module's result read only by others stays") {
    scene s;
    const auto angles = s.know(s.add_constant(), "head");
    const auto cosine = s.know(s.add({angles}), "head");
    s.know(s.add({cosine}), "blocks.0.fc");
    s.know(s.add({cosine}), "blocks.1.fc");
    s.know(s.add({cosine}), "");
    CHECK(s.run().empty());
    CHECK(s.result[cosine].module == s.at("head"));
}

TEST_CASE("overrule_shared: readers above or below the module change nothing") {
    scene s;
    const auto constant = s.know(s.add_constant(), "blocks.0");
    s.know(s.add({constant}), "blocks.0.fc");
    s.know(s.add({constant}), "blocks");
    s.add({constant}); // unknown
    CHECK(s.run().empty());
    CHECK(s.result[constant].module == s.at("blocks.0"));
}

TEST_CASE("overrule_shared: a module owned elsewhere reads for its caller") {
    scene s;
    const auto constant = s.know(s.add_constant(), "blocks.1.fc");
    s.know(s.add({constant}), "blocks.1.fc");
    const auto lent = s.know(s.add({constant}), "blocks.0.fc");
    const auto run = [&](std::string_view caller) {
        stemma::detail::per_operator_lists<id> callers;
        const auto module = s.at(caller);
        callers.add(lent, {&module, 1});
        auto result = s.result;
        const auto changed = stemma::detail::overrule_shared(
            s, s.tree.index(), std::span<stemma::attribution>(result),
            stemma::data_independent(s, stemma::sweep_order(s.graph())), callers);
        return changed.empty() ? "" : std::string(s.tree.path(result[constant].module));
    };
    CHECK(run("blocks.1").empty());
    CHECK(run("head") == "blocks"); // of the owners
}

TEST_CASE("overrule_shared: operators that depend on data, or lack evidence, are left alone") {
    scene s;
    const auto data = s.know(s.add(), "blocks.0.fc");
    const auto open = s.add_constant();
    s.know(s.add({data, open}), "blocks.1.fc");
    CHECK(s.run().empty());
    CHECK(s.result[data].module == s.at("blocks.0.fc"));
    CHECK(s.result[open].module == no_id);
}

TEST_CASE("overrule_shared: decisions are based on the original evidence") {
    scene s;
    const auto first = s.know(s.add_constant(), "blocks.0.fc");
    const auto second = s.know(s.add({first}), "blocks.0.fc");
    s.know(s.add({second}), "blocks.0.fc");
    s.know(s.add({second}), "blocks.1.fc");
    CHECK(s.run().size() == 1);
    CHECK(s.result[first].module == s.at("blocks.0.fc"));
    CHECK(s.result[second].module == s.at("blocks"));
}

} // namespace test::tagging_detail_overrule_shared
