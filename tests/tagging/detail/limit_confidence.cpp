// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/detail/limit_confidence.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/tagging/propagate.hpp>
#include <stemma/tagging/propagation.hpp>

#include <string_view>
#include <vector>

namespace test::tagging_detail_limit_confidence {

using stemma::id;
using stemma::no_id;
using stemma::provenance;

namespace {

class scene : public test::operator_scene {
public:
    const stemma::module_tree tree = test::tree_of({"blocks.0.fc", "blocks.1.fc", "head"});

    id know(id v, std::string_view path, float confidence) {
        known.resize(size());
        known[v] = {test::module_at(tree, path), no_id, confidence, provenance::scope, false};
        return v;
    }

    template <class Policy = stemma::both_sides>
    [[nodiscard]] std::vector<stemma::attribution> run(const Policy& policy = {}) {
        known.resize(size());
        auto result = known;
        stemma::propagate(*this, tree.index(), result, policy);
        return result;
    }

    std::vector<stemma::attribution> known;
};

} // namespace

TEST_CASE("limit_confidence: confidence is limited by the reader's, over any distance") {
    scene s;
    const auto far = s.add();
    const auto near = s.add({far});
    s.know(s.add({near}), "head", 0.3F);
    const auto result = s.run();
    CHECK(result[far].source == provenance::consumer);
    CHECK(result[far].confidence == 0.3F);
    CHECK(result[near].confidence == 0.3F);
}

TEST_CASE("limit_confidence: confidence is limited by the producers'") {
    scene s;
    const auto anchor = s.know(s.add(), "head", 0.2F);
    const auto near = s.add({anchor});
    const auto far = s.add({near});
    const auto result = s.run();
    CHECK(result[far].source == provenance::producer);
    CHECK(result[far].confidence == 0.2F);
}

TEST_CASE("limit_confidence: the least confident of several limits") {
    scene s;
    const auto v = s.add();
    s.know(s.add({v}), "head", 0.9F);
    s.know(s.add({v}), "head", 0.35F);
    CHECK(s.run()[v].confidence == 0.35F);
}

TEST_CASE("limit_confidence: confident neighbours leave the rule's own confidence") {
    scene s;
    const auto before = s.know(s.add(), "head", 0.95F);
    const auto v = s.add({before});
    s.know(s.add({v}), "head", 0.95F);
    CHECK(s.run()[v].confidence == 0.85F);
}

TEST_CASE("limit_confidence: a constant is not limited by its reader's other inputs") {
    scene s;
    const auto unsure = s.know(s.add(), "head", 0.2F);
    const auto constant = s.add_constant();
    const auto reads_both = s.add({unsure, constant}); // nothing reads it: it follows `unsure`
    s.know(s.add({constant}), "blocks.0.fc", 0.95F);
    const auto result = s.run();
    CHECK(result[reads_both].confidence == 0.2F);
    CHECK(result[constant].confidence >= 0.8F);
}

TEST_CASE("limit_confidence: in a body, confidence is limited by the owner's") {
    scene s;
    const auto owner = s.know(s.add(), "blocks.0", 0.3F);
    const auto inside = s.add_inside(owner, {});
    const auto result = s.run();
    CHECK(result[inside].source == provenance::owner);
    CHECK(result[inside].confidence == 0.3F);
}

TEST_CASE("limit_confidence: evidence is unchanged, and nothing exceeds what it follows") {
    const auto check = [](const auto& policy, unsigned seed) {
        test::random_numbers random(seed);
        for (int round = 0; round < 100; ++round) {
            scene s;
            for (auto size = 1 + random(30); s.size() < size;) {
                std::vector<id> inputs;
                for (auto i = s.size() == 0 ? 0 : random(4); i > 0; --i) {
                    inputs.push_back(static_cast<id>(random(s.size())));
                }
                const auto v = s.add(inputs);
                if (random.one_in(3)) {
                    s.know(v, s.tree.path(static_cast<id>(random(s.tree.size()))),
                           static_cast<float>(random(100)) / 100);
                }
            }
            const auto result = s.run(policy);
            for (id v = 0; v < result.size(); ++v) {
                const auto source_of = result[v].source;
                if (stemma::is_evidence(source_of)) {
                    REQUIRE(result[v].confidence == s.known[v].confidence);
                    continue;
                }
                const bool follows_readers =
                    source_of == provenance::consumer || source_of == provenance::between;
                for (auto [it, last] = out_edges(v, s.graph()); it != last && follows_readers;
                     ++it) {
                    const auto& reader = result[target(*it, s.graph())];
                    const bool counts = stemma::is_evidence(reader.source) ||
                                        reader.source == provenance::consumer ||
                                        reader.source == provenance::between;
                    REQUIRE((!counts || result[v].confidence <= reader.confidence));
                }
                const bool follows_producers =
                    source_of == provenance::producer || source_of == provenance::between;
                for (auto [it, last] = in_edges(v, s.graph()); it != last && follows_producers;
                     ++it) {
                    const auto& producer = result[source(*it, s.graph())];
                    const bool counts = stemma::is_evidence(producer.source) ||
                                        producer.source == provenance::producer;
                    REQUIRE((!counts || result[v].confidence <= producer.confidence));
                }
            }
        }
    };
    check(stemma::both_sides{}, 21);
    check(stemma::residual_aware{}, 22);
    check(stemma::consumers_only{}, 23);
    check(stemma::producers_only{}, 24);
    check(stemma::nearest_evidence{}, 25);
    check(stemma::no_propagation{}, 26);
}

} // namespace test::tagging_detail_limit_confidence
