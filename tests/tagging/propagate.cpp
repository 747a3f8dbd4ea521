// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/propagate.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/tagging/propagation.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace test::tagging_propagate {

using stemma::id;
using stemma::no_id;
using stemma::provenance;
using test::operator_scene;

namespace {

/// Two blocks of two layers, and a head; propagation starts from what `know` was given.
class scene : public operator_scene {
public:
    const stemma::module_tree tree =
        test::tree_of({"blocks.0.fc", "blocks.0.norm", "blocks.1.fc", "blocks.1.norm", "head"});

    [[nodiscard]] id at(std::string_view path) const { return test::module_at(tree, path); }
    operator_record& record(id v) { return operator_scene::at(v); }

    id know(id v, std::string_view path, float confidence = 0.95F,
            provenance source = provenance::scope) {
        known.resize(size());
        known[v] = {at(path), no_id, confidence, source, false};
        return v;
    }

    template <class Policy = stemma::both_sides>
    [[nodiscard]] std::vector<stemma::attribution> run(const Policy& policy = {}) {
        known.resize(size());
        auto result = known;
        stemma::propagate(*this, tree.index(), result, policy);
        return result;
    }

    template <class Policy = stemma::both_sides>
    [[nodiscard]] stemma::attribution of(id v, const Policy& policy = {}) {
        return run(policy)[v];
    }

    std::vector<stemma::attribution> known;
};

} // namespace

TEST_CASE("propagate: evidence is unchanged by every policy") {
    const auto check = [](const auto& policy) {
        scene s;
        const auto a = s.know(s.add(), "blocks.0.fc");
        const auto b = s.know(s.add({a}), "head");
        s.know(s.add({b}), "blocks.1.fc");
        const auto attribution = s.of(b, policy);
        CHECK(attribution.module == s.at("head"));
        CHECK(attribution.source == provenance::scope);
        CHECK(attribution.confidence == 0.95F);
    };
    check(stemma::both_sides{});
    check(stemma::residual_aware{});
    check(stemma::consumers_only{});
    check(stemma::producers_only{});
    check(stemma::nearest_evidence{});
    check(stemma::no_propagation{});
}

TEST_CASE("propagate: an owner of bodies takes the common ancestor of the evidence in them") {
    scene s;
    const auto x = s.know(s.add(), "head");
    const auto owner = s.add({x});
    s.know(s.add_inside(owner, {x}), "blocks.0.fc");
    s.know(s.add_inside(owner, {x}), "blocks.0.norm");
    const auto attribution = s.of(owner);
    CHECK(attribution.module == s.at("blocks.0"));
    CHECK(attribution.source == provenance::owner);
}

TEST_CASE("propagate: an owner of bodies has no more confidence than the evidence in them") {
    scene s;
    const auto owner = s.add();
    s.know(s.add_inside(owner, {}), "blocks.0.fc", 0.6F);
    s.know(s.add_inside(owner, {}), "blocks.0.norm", 0.3F);
    CHECK(s.of(owner).confidence == 0.3F);
}

TEST_CASE("propagate: a body that computes more than its layer is run by the layer's parent") {
    const auto [source, has_more, path] = GENERATE(table<provenance, bool, const char*>({
        {provenance::parameter, true, "blocks.0"},
        {provenance::parameter, false, "blocks.0.fc"},
        {provenance::scope, true, "blocks.0.fc"},
    }));
    scene s;
    const auto owner = s.add();
    const auto product = s.know(s.add_inside(owner, {}), "blocks.0.fc", 0.85F, source);
    if (has_more) {
        s.add_inside(owner, {product});
    }
    CHECK(s.of(owner).module == s.at(path));
    CHECK(s.of(product).module == s.at("blocks.0.fc"));
}

TEST_CASE("propagate: inner bodies are settled before outer ones") {
    scene s;
    const auto x = s.add();
    const auto outer = s.add({x});
    const auto inner = s.add_inside(outer, {x});
    s.know(s.add_inside(inner, {x}), "blocks.1.fc");
    s.know(s.add_inside(outer, {x}), "blocks.1.norm");
    CHECK(s.of(inner).module == s.at("blocks.1.fc"));
    CHECK(s.of(outer).module == s.at("blocks.1"));
}

TEST_CASE("propagate: an owner with evidence ignores its bodies") {
    scene s;
    const auto owner = s.know(s.add(), "blocks.0");
    s.know(s.add_inside(owner, {}), "blocks.0.fc");
    CHECK(s.of(owner).module == s.at("blocks.0"));
    CHECK(s.of(owner).source == provenance::scope);
}

TEST_CASE("propagate: an owner's module from its bodies is evidence for its producers") {
    scene s;
    const auto x = s.add();
    const auto owner = s.add({x});
    s.know(s.add_inside(owner, {}), "blocks.1.fc");
    CHECK(s.of(x).module == s.at("blocks.1.fc"));
    CHECK(s.of(x).source == provenance::consumer);
}

TEST_CASE("both_sides: if only one side is known, takes that") {
    scene s;
    const auto x = s.add();
    const auto a = s.know(s.add({x}), "blocks.0.fc");
    const auto y = s.add({a});
    CHECK(s.of(x).module == s.at("blocks.0.fc"));
    CHECK(s.of(x).source == provenance::consumer);
    CHECK(s.of(y).module == s.at("blocks.0.fc"));
    CHECK(s.of(y).source == provenance::producer);
}

TEST_CASE("both_sides: an unread operator in a body takes its owner's module") {
    scene s;
    const auto x = s.know(s.add(), "blocks.0.fc");
    const auto owner = s.know(s.add({x}), "head");
    const auto inside = s.add_inside(owner, {x});
    CHECK(s.of(inside).module == s.at("head"));
    CHECK(s.of(inside).source == provenance::owner);
}

TEST_CASE("both_sides: data-independent operators take their readers' module") {
    scene s;
    const auto x = s.know(s.add(), "blocks.0.fc");
    const auto shape = s.add({x}, "", "Shape");
    s.record(shape).hides_data = true;
    s.know(s.add({shape}), "blocks.1.fc");
    CHECK(s.of(shape).module == s.at("blocks.1.fc"));
    CHECK(s.of(shape).source == provenance::consumer);
}

TEST_CASE("both_sides: if readers and producers are related, takes the readers' side") {
    scene s;
    const auto deep = s.know(s.add(), "blocks.0.fc");
    const auto out = s.add({deep});
    const auto wide = s.know(s.add({out}), "blocks.0");
    const auto in = s.add({wide});
    s.know(s.add({in}), "blocks.0.norm");
    const auto equal = s.add({deep});
    s.know(s.add({equal}), "blocks.0.fc");
    CHECK(s.of(out).module == s.at("blocks.0"));
    CHECK(s.of(in).module == s.at("blocks.0.norm"));
    CHECK(s.of(equal).module == s.at("blocks.0.fc"));
    CHECK(s.of(equal).confidence > s.of(in).confidence);
}

TEST_CASE("both_sides: if they are unrelated, takes the common ancestor with low confidence") {
    scene s;
    const auto a = s.know(s.add(), "blocks.0.fc");
    const auto between = s.add({a});
    s.know(s.add({between}), "blocks.0.norm");
    const auto attribution = s.of(between);
    CHECK(attribution.module == s.at("blocks.0"));
    CHECK(attribution.source == provenance::between);
    CHECK(attribution.confidence <= 0.5F);
}

TEST_CASE("both_sides: takes the root if nothing is known") {
    scene s;
    const auto x = s.add();
    const auto y = s.add({x});
    CHECK(s.of(x).module == 0);
    CHECK(s.of(y).source == provenance::root);
    CHECK(s.of(y).confidence == 0);
}

TEST_CASE("both_sides: a condition belongs with the operator it steers") {
    scene s;
    const auto x = s.know(s.add(), "head");
    const auto decides = s.add({x});
    const auto branch = s.know(s.add(), "blocks.0.fc");
    s.read(branch, decides, true);
    CHECK(s.of(decides).module == s.at("blocks.0.fc"));
}

TEST_CASE("consumers_only: takes the readers' side, whatever the producers") {
    scene s;
    const auto a = s.know(s.add(), "blocks.0.fc");
    const auto between = s.add({a});
    const auto end = s.add({s.know(s.add({between}), "head")});
    const stemma::consumers_only policy;
    CHECK(s.of(between, policy).module == s.at("head"));
    CHECK(s.of(between, policy).source == provenance::consumer);
    CHECK(s.of(end, policy).module == 0);
    CHECK(s.of(end, policy).source == provenance::root);
}

TEST_CASE("producers_only: takes the producers' side, whatever the readers") {
    scene s;
    const auto begin = s.add();
    const auto a = s.know(s.add({begin}), "blocks.0.fc");
    const auto between = s.add({a});
    s.know(s.add({between}), "head");
    const stemma::producers_only policy;
    CHECK(s.of(between, policy).module == s.at("blocks.0.fc"));
    CHECK(s.of(between, policy).source == provenance::producer);
    CHECK(s.of(begin, policy).module == 0);
    CHECK(s.of(begin, policy).source == provenance::root);
}

TEST_CASE("nearest_evidence: the fewest edges decide") {
    scene s;
    const auto a = s.know(s.add(), "blocks.0.fc");
    const auto b = s.add({a});
    const auto c = s.add({b});
    s.know(s.add({c}), "blocks.1.fc");
    const stemma::nearest_evidence policy;
    CHECK(s.of(b, policy).module == s.at("blocks.0.fc"));
    CHECK(s.of(c, policy).module == s.at("blocks.1.fc"));
    CHECK(s.of(s.add(), policy).source == provenance::root);
}

TEST_CASE("residual_aware: a skip connection joins in the module containing what was skipped") {
    scene s;
    const auto x = s.know(s.add(), "head");
    const auto norm = s.know(s.add({x}), "blocks.0.norm");
    const auto fc = s.know(s.add({norm}), "blocks.0.fc");
    const auto sum = s.add({x, fc});
    s.know(s.add({sum}), "blocks.1.norm");
    const auto plain = s.add({fc});
    s.know(s.add({plain}), "blocks.0.norm");
    CHECK(s.of(sum, stemma::residual_aware{}).module == s.at("blocks.0"));
    CHECK(s.of(plain, stemma::residual_aware{}).module == s.of(plain).module);
}

TEST_CASE("no_propagation: operators without evidence, and owners of bodies, stay with the root") {
    scene s;
    const auto owner = s.add();
    s.know(s.add_inside(owner, {}), "blocks.0.fc");
    const auto reader = s.add({owner});
    s.know(s.add({reader}), "head");
    for (auto v : {owner, reader}) {
        CHECK(s.of(v, stemma::no_propagation{}).module == 0);
        CHECK(s.of(v, stemma::no_propagation{}).source == provenance::root);
    }
}

TEST_CASE("propagate: every operator gets a module with a rule as provenance") {
    const auto check = [](const auto& policy, std::uint64_t seed) {
        test::random_numbers random(seed);
        for (int round = 0; round < 100; ++round) {
            scene s;
            std::vector<bool> has_evidence;
            for (auto size = 1 + random(30); s.size() < size;) {
                std::vector<id> inputs;
                for (auto i = s.size() == 0 ? 0 : random(4); i > 0; --i) {
                    inputs.push_back(static_cast<id>(random(s.size())));
                }
                const auto v = s.size() > 0 && random.one_in(4)
                                   ? s.add_inside(static_cast<id>(random(s.size())), inputs)
                                   : s.add(inputs);
                has_evidence.push_back(random.one_in(3));
                if (has_evidence.back()) {
                    const auto m = static_cast<id>(random(s.tree.size()));
                    s.know(v, s.tree.path(m));
                }
            }
            if (random.one_in(4)) {
                s.read(static_cast<id>(random(s.size())), static_cast<id>(random(s.size())));
            }
            const auto result = s.run(policy);
            for (std::size_t v = 0; v < result.size(); ++v) {
                REQUIRE(result[v].module < s.tree.size());
                REQUIRE(stemma::is_evidence(result[v].source) == has_evidence[v]);
                REQUIRE(result[v].confidence >= 0);
                REQUIRE(result[v].confidence < 0.95F + 0.001F);
            }
        }
    };
    check(stemma::both_sides{}, 11);
    check(stemma::residual_aware{}, 12);
    check(stemma::consumers_only{}, 13);
    check(stemma::producers_only{}, 14);
    check(stemma::nearest_evidence{}, 15);
    check(stemma::no_propagation{}, 16);
}

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

} // namespace test::tagging_propagate
