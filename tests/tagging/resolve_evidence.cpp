// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/resolve_evidence.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace test::tagging_resolve_evidence {

using stemma::claim;
using stemma::id;
using stemma::no_id;
using stemma::provenance;
using stemma::resolve_evidence;

namespace {

using id_list = std::vector<id>;

/// A source with predefined claims.
struct told {
    using policy_category = stemma::evidence_category;

    std::map<std::size_t, std::vector<claim>> of{};

    struct claims {
        const told* source;

        template <class Function>
        void for_each_claim(std::size_t v, Function f) const {
            if (const auto entry = source->of.find(v); entry != source->of.end()) {
                for (const auto& one : entry->second) {
                    f(one);
                }
            }
        }
    };

    template <class Context>
    [[nodiscard]] claims prepare(Context&) const {
        return {this};
    }
};

claim says(provenance source, id module, float confidence = 0.9F) {
    return {module, no_id, confidence, source};
}

struct scene {
    test::operator_scene ops;
    stemma::module_tree tree = test::tree_of({"a.b", "c"});
    told source;
    id a = test::module_at(tree, "a");
    id b = test::module_at(tree, "a.b");
    id c = test::module_at(tree, "c");

    stemma::evidence_result run(float min_confidence = 0) {
        stemma::evidence_context<test::operator_scene, stemma::module_tree> context(ops, tree);
        stemma::by_trust resolution;
        resolution.min_confidence = min_confidence;
        return resolve_evidence(context, source, resolution);
    }
};

} // namespace

TEST_CASE("resolve_evidence: an operator without claims has no module") {
    scene s;
    const auto claimed = s.ops.add();
    const auto unknown = s.ops.add();
    s.source.of[claimed] = {says(provenance::scope, s.b)};
    const auto result = s.run();
    REQUIRE(result.of.size() == 2);
    CHECK(result.of[claimed].module == s.b);
    CHECK(result.of[claimed].source == provenance::scope);
    CHECK(result.of[unknown].module == no_id);
    CHECK(result.dropped == 0);
}

TEST_CASE("resolve_evidence: contradictory claims are kept") {
    scene s;
    s.ops.add();
    const auto v = s.ops.add();
    s.source.of[v] = {says(provenance::metadata, s.b), says(provenance::scope, s.c)};
    const auto result = s.run();
    CHECK(result.of[v].module == s.b);
    CHECK(result.of[v].conflict);
    REQUIRE(result.conflicts.of(v).size() == 2);
    CHECK(result.conflicts.of(v)[0].module == s.b);
    CHECK(result.conflicts.of(v)[1].source == provenance::scope);
    CHECK(result.conflicts.of(0).empty());
    CHECK(result.conflicts.size() == 1);
}

TEST_CASE("resolve_evidence: claims that are not believed are counted") {
    scene s;
    const auto weak = s.ops.add();
    const auto strong = s.ops.add();
    s.source.of[weak] = {says(provenance::leftover, s.b, 0.3F)};
    s.source.of[strong] = {says(provenance::scope, s.b, 0.95F)};
    const auto result = s.run(0.6F);
    CHECK(result.dropped == 1);
    CHECK(result.of[weak].module == no_id);
    CHECK(result.of[strong].module == s.b);
}

TEST_CASE("resolve_evidence: several modules of one source are alternatives") {
    scene s;
    const auto tied = s.ops.add();
    const auto decided = s.ops.add();
    s.source.of[tied] = {says(provenance::parameter, s.b), says(provenance::parameter, s.c)};
    s.source.of[decided] = {says(provenance::scope, s.b), says(provenance::parameter, s.b),
                            says(provenance::parameter, s.c)};
    const auto result = s.run();
    const auto several = result.alternatives.of(tied);
    CHECK(id_list(several.begin(), several.end()) == id_list{s.b, s.c});
    CHECK(result.alternatives.of(decided).empty());
}

TEST_CASE("resolve_evidence: the caller of the module is kept") {
    scene s;
    const auto v = s.ops.add();
    auto claim = says(provenance::scope, s.b);
    claim.caller = s.c;
    s.source.of[v] = {claim};
    const auto result = s.run();
    REQUIRE(result.callers.of(v).size() == 1);
    CHECK(result.callers.of(v)[0] == s.c);
}

TEST_CASE("resolve_evidence: is independent of the number of threads") {
    scene s;
    for (std::size_t v = 0; v < 50; ++v) {
        s.ops.add({});
        if (v % 3 != 0) {
            s.source.of[v] = {says(provenance::scope, v % 2 == 0 ? s.a : s.c),
                              says(v % 5 == 0 ? provenance::scope : provenance::parameter, s.b)};
            s.source.of[v].back().caller = v % 7 == 0 ? s.c : no_id;
        }
    }
    const auto one = s.run();
    const auto lists_of = [](const auto& lists, auto text_of) {
        std::map<id, std::string> all;
        lists.for_each([&](id v, auto items) {
            for (const auto& item : items) {
                all[v] += std::to_string(text_of(item)) + " ";
            }
        });
        return all;
    };
    const auto module_of = [](const claim& claim) { return claim.module; };
    const auto itself = [](id module) { return module; };
    CHECK(one.conflicts.size() + one.alternatives.size() + one.callers.size() > 20);
    for (const unsigned most : {2U, 7U}) {
        const stemma::thread_scope threads({most, 1});
        const auto several = s.run();
        REQUIRE(several.of.size() == one.of.size());
        for (id v = 0; v < one.of.size(); ++v) {
            CHECK(several.of[v].module == one.of[v].module);
            CHECK(several.of[v].conflict == one.of[v].conflict);
        }
        CHECK(several.dropped == one.dropped);
        CHECK(lists_of(several.conflicts, module_of) == lists_of(one.conflicts, module_of));
        CHECK(lists_of(several.alternatives, itself) == lists_of(one.alternatives, itself));
        CHECK(lists_of(several.callers, itself) == lists_of(one.callers, itself));
    }
}

TEST_CASE("per_operator_lists: lists are found by vertex, in any order of adding once sorted") {
    stemma::detail::per_operator_lists<id> lists;
    const std::array<id, 2> two{7, 8};
    const std::array<id, 1> one{9};
    lists.add(5, two);
    lists.add(2, one);
    lists.sort();
    CHECK(lists.size() == 2);
    CHECK(lists.of(2).size() == 1);
    CHECK(lists.of(5)[1] == 8);
    CHECK(lists.of(3).empty());
    CHECK(lists.of(6).empty());
    id_list order;
    lists.for_each([&](id v, std::span<const id>) { order.push_back(v); });
    CHECK(order == id_list{2, 5});
}

} // namespace test::tagging_resolve_evidence
