// SPDX-License-Identifier: Apache-2.0
#include <stemma/open/attribution_options.hpp>

#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../model_files.hpp"
#include "../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/tagging/policy_registry.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace test::open_attribution_options {

using stemma::id;

namespace {

/// Selects one module, by rank.
struct only {
    using policy_category = stemma::selection_category;

    id module;

    [[nodiscard]] bool selects(const stemma::module_tree&, id m) const { return m == module; }
};

/// Claims that every operator is in the last module.
struct all_in_last {
    using policy_category = stemma::evidence_category;

    struct claims {
        id last;

        template <class Vertex, class Function>
        void for_each_claim(const Vertex&, Function f) const {
            f(stemma::claim{last, stemma::no_id, 1, stemma::provenance::exported});
        }
    };

    template <class Ops, class Modules>
    [[nodiscard]] claims prepare(stemma::evidence_context<Ops, Modules>& context) const {
        return {static_cast<id>(context.index().size() - 1)};
    }
};

/// The same, with a name.
struct labels : all_in_last {
    static constexpr std::string_view name = "labels";
};

/// Numbers as tags.
struct numbers {
    using policy_category = stemma::naming_category;

    template <class Modules>
    void name_modules(const Modules& modules, stemma::tag_table& tags) const {
        for (id m = 0; m < modules.index().size(); ++m) {
            if (tags.is_selected(m)) {
                tags.set_segment(m, std::to_string(m));
            }
        }
    }
};

const auto path = test::fixture("mlp/model.onnx");

/// Returns: how a model tagged with `options` is read with `again`, tags first.
std::vector<std::string> read_again(const stemma::attribution_options& options,
                                    const stemma::attribution_options& again) {
    stemma::detail::model_record record;
    record.options = stemma::detail::recorded_options(options);
    auto adopted = again;
    auto problems = adopt_options(adopted, record);
    const stemma::attributed_model opened(path, adopted);
    problems.insert(problems.begin(), opened.tags().tags.text(1));
    return problems;
}

} // namespace

TEST_CASE("attribution_options: accepts policies as types, in any order", "[attribution_options]") {
    stemma::attribution_options options;
    options.captures = stemma::captures({test::fixture("mlp/modules.json")});
    const stemma::attributed_model plain(path, options);
    options.set(stemma::no_propagation{}, stemma::module_paths{}, stemma::all_modules{},
                stemma::cautious{});
    const stemma::attributed_model opened(path, options);
    const auto& tags = opened.tags().tags;
    for (id m = 0; m < tags.size(); ++m) {
        CHECK(tags.is_selected(m));
    }
    CHECK(plain.tags().tags.text(1) != tags.text(1));
    CHECK(stemma::detail::recorded_options(options) ==
          std::map<std::string, std::string>{{"select", "all"},
                                             {"naming", "module-paths"},
                                             {"resolve", "cautious"},
                                             {"propagate", "off"}});
    CHECK(stemma::detail::recorded_options({}).empty());
}

TEST_CASE("attribution_options: custom policies are used as they are", "[attribution_options]") {
    const stemma::attributed_model chosen(path, stemma::attribution_options().set(only{2}));
    for (id m = 0; m < chosen.modules().size(); ++m) {
        CHECK(chosen.tags().tags.is_selected(m) == (m == 0 || m == 2));
    }
    stemma::attribution_options options;
    options.selection = [](const stemma::module_tree&, id m) { return m == 2; };
    const stemma::attributed_model same(path, options);
    CHECK(same.tags().tags.text(2) == chosen.tags().tags.text(2));
}

TEST_CASE("attribution_options: custom sources are queried, under their names",
          "[attribution_options]") {
    const stemma::attributed_model last(path, stemma::attribution_options().set(all_in_last{}));
    for (const auto& one : last.tags().attributions) {
        CHECK(one.module + 1 == last.modules().size());
        CHECK(one.source == stemma::provenance::exported);
    }
    stemma::attribution_options options;
    options.sources.emplace(); // none of the built-in ones
    stemma::attributed_model labelled(path, options.set(labels{}));
    const auto& tags = labelled.tags();
    for (const auto& one : tags.attributions) {
        CHECK(one.module + 1 == labelled.modules().size());
        CHECK(tags.provenances[one.source] == "labels");
    }
    const auto claims = labelled.claims_about(0);
    REQUIRE(claims.size() == 1);
    CHECK(tags.provenances[claims.front().source] == "labels");
}

TEST_CASE("attribution_options: a record makes the same choices as its writer",
          "[attribution_options]") {
    stemma::attribution_options options;
    for (const auto& chosen :
         {stemma::attribution_options().set(stemma::module_paths{}, stemma::all_modules{}),
          stemma::attribution_options().set(stemma::not_infrastructure{.keep = {"Linear"}}),
          stemma::attribution_options().set(stemma::down_to_depth{1}, stemma::by_trust{0.25F}),
          stemma::attribution_options().set(stemma::class_paths{})}) {
        const auto once = read_again(chosen, chosen);
        CHECK(read_again(chosen, options) == once);
        CHECK(once.size() == 1);
        stemma::attribution_options adopted;
        stemma::detail::model_record record;
        record.options = stemma::detail::recorded_options(chosen);
        CHECK(adopt_options(adopted, record).empty());
        CHECK(stemma::detail::recorded_options(adopted) == record.options);
    }
    options.naming = stemma::module_paths{};
    CHECK(read_again(stemma::attribution_options().set(numbers{}), options) ==
          read_again(options, options));
}

TEST_CASE("attribution_options: unknown policies in a record are reported",
          "[attribution_options]") {
    auto chosen = stemma::attribution_options().set(numbers{});
    CHECK(read_again(chosen, {}).back() ==
          "pkg.stemma.model was written with an unnamed naming policy; the default is used");
    stemma::onnx_policy_registry registry;
    registry.namings.add("numbers", numbers{});
    registry.sources.add(labels{});
    chosen.naming = registry.namings.get("naming", "numbers");
    chosen.sources.emplace({stemma::provenance::scope});
    chosen.set(labels{});
    CHECK(stemma::detail::recorded_options(chosen) ==
          std::map<std::string, std::string>{{"naming", "numbers"}, {"sources", "scope,labels"}});
    CHECK(read_again(chosen, {}).size() == 3); // the tag, and two
    stemma::attribution_options again;
    again.known = &registry;
    CHECK(read_again(chosen, again) == std::vector<std::string>{"/0/1"});
}

TEST_CASE("any_trusted: all claims of a capture that fits badly are in doubt",
          "[attribution_options]") {
    using namespace stemma::detail::confidence;
    const auto trace = [](float confidence) {
        return stemma::claim{1, stemma::no_id, confidence, stemma::provenance::trace};
    };
    const stemma::claim_table doubted{stemma::provenance::trace, {{}, trace(capture_doubt)}};
    const stemma::claim_table fitting{stemma::provenance::trace, {trace(capture_flaw), {}}};
    CHECK_FALSE(stemma::detail::any_trusted({}));
    CHECK_FALSE(stemma::detail::any_trusted({doubted}));
    CHECK(stemma::detail::any_trusted({doubted, fitting}));
}

TEST_CASE("refining_regions: what a doubtful capture only places in a module may be in one below",
          "[attribution_options]") {
    using namespace stemma::detail::confidence;
    auto graph = test::graph({test::node("MatMul", {"x", "block.a.weight"}, {"h"}, "h"),
                              test::node("Relu", {"h"}, {"r"}, "r"),
                              test::node("MatMul", {"r", "block.b.weight"}, {"y"}, "y")},
                             {"x"}, {"y"});
    graph.inner(5, test::tensor("block.a.weight", {4, 4}));
    graph.inner(5, test::tensor("block.b.weight", {4, 4}));
    test::evidence_scene scene(graph);
    const auto count_claims = [&](const std::vector<stemma::claim_table>& given) {
        std::size_t count = 0;
        stemma::detail::refining_regions{true, &given}
            .prepare(scene.context())
            .for_each_claim(scene.node("r"), [&](const stemma::claim& one) {
                CHECK(scene.modules().path(one.module) == "block");
                ++count;
            });
        return count;
    };
    const auto claimed = [&](std::string_view place, float confidence, bool exact) {
        const auto m = stemma::find_module(stemma::module_lookup(scene.modules()), place);
        const stemma::claim one{m, stemma::no_id, confidence, stemma::provenance::fx, exact};
        return std::vector<stemma::claim_table>{
            {stemma::provenance::fx, std::vector<stemma::claim>(scene.model().node_count(), one)}};
    };
    CHECK(count_claims({}) == 1);
    CHECK(count_claims(claimed("", capture_doubt, false)) == 1);
    CHECK(count_claims(claimed("block", capture_doubt, false)) == 1);
    CHECK(count_claims(claimed("block.a", capture_doubt, false)) == 0);
    CHECK(count_claims(claimed("block", capture_doubt, true)) == 0);
    CHECK(count_claims(claimed("", capture_flaw, false)) == 0);
    CHECK(count_claims(claimed("block.a", region - 0.1F, true)) == 1); // less sure than the region
}

} // namespace test::open_attribution_options
