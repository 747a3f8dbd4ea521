// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/sweeps.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/model/attribution.hpp>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::model_sweeps {

using stemma::id;
using stemma::no_id;
using test::operator_scene;

namespace {

using problem = stemma::propagation_problem<operator_scene>;

/// Two blocks of two layers, and a head.
class scene : public operator_scene {
public:
    const stemma::module_tree tree =
        test::tree_of({"blocks.0.fc", "blocks.0.norm", "blocks.1.fc", "blocks.1.norm", "head"});

    [[nodiscard]] id at(std::string_view path) const { return test::module_at(tree, path); }

    /// Gives an operator evidence for its module.
    id know(id v, std::string_view path) {
        evidence.resize(size(), no_id);
        evidence[v] = at(path);
        return v;
    }

    template <class Function>
    auto ask(Function f) {
        evidence.resize(size(), no_id);
        const stemma::sweep_order order(graph());
        return f(problem{*this, tree.index(), order, evidence});
    }

    [[nodiscard]] std::vector<id> down() {
        return ask([](const problem& p) { return stemma::common_reader_modules(p); });
    }
    [[nodiscard]] std::vector<id> up() {
        return ask([](const problem& p) { return stemma::common_producer_modules(p); });
    }
    [[nodiscard]] std::vector<id> nearest() {
        return ask([](const problem& p) { return stemma::nearest_modules(p); });
    }
    [[nodiscard]] std::vector<bool> independent() {
        return ask([](const problem& p) { return stemma::data_independent(p); });
    }
    [[nodiscard]] std::vector<bool> steers() {
        return ask([](const problem& p) { return stemma::detail::steering_only(p); });
    }
    [[nodiscard]] std::vector<id> residual(std::size_t reach = 64) {
        return ask([&](const problem& p) { return stemma::residual_modules(p, reach); });
    }

    std::vector<id> evidence;
};

/// Random operators without cycles, some with known modules.
void fill(scene& s, test::random_numbers& random, std::size_t size) {
    for (std::size_t v = 0; v < size; ++v) {
        std::vector<id> inputs;
        for (auto i = v == 0 ? 0 : random(4); i > 0; --i) {
            inputs.push_back(static_cast<id>(random(v)));
        }
        const auto added = s.add(inputs);
        if (inputs.empty() && random.one_in(2)) {
            s.operator_scene::at(added).reads_data = false;
        }
        s.operator_scene::at(added).hides_data = random.one_in(6);
    }
    s.evidence.assign(size, no_id);
    for (auto& module : s.evidence) {
        if (random.one_in(2)) {
            module = static_cast<id>(random(s.tree.size()));
        }
    }
}

} // namespace

TEST_CASE("common_reader_modules: the common ancestor of readers with evidence") {
    scene s;
    const auto x = s.add();
    s.know(s.add({x}), "blocks.0.fc");
    CHECK(s.down()[x] == s.at("blocks.0.fc"));
    s.know(s.add({x}), "blocks.0.norm");
    CHECK(s.down()[x] == s.at("blocks.0"));
    s.know(s.add({x}), "head");
    CHECK(s.down()[x] == 0);
}

TEST_CASE("common_reader_modules: readers without evidence count by their own readers") {
    scene s;
    const auto x = s.add();
    const auto between = s.add({x});
    s.know(s.add({between}), "blocks.1.fc");
    s.know(s.add({x}), "blocks.1.norm");
    CHECK(s.down()[between] == s.at("blocks.1.fc"));
    CHECK(s.down()[x] == s.at("blocks.1"));
}

TEST_CASE("common_reader_modules: a reader's evidence hides what reads the reader") {
    scene s;
    const auto x = s.add();
    const auto reader = s.know(s.add({x}), "blocks.0.fc");
    s.know(s.add({reader}), "head");
    CHECK(s.down()[x] == s.at("blocks.0.fc"));
    CHECK(s.down()[reader] == s.at("blocks.0.fc"));
}

TEST_CASE("common_reader_modules: undecided readers and results of the model do not count") {
    scene s;
    const auto x = s.add();
    const auto lost = s.add({x});
    s.know(s.add({x}), "head");
    CHECK(s.down()[x] == s.at("head"));
    CHECK(s.down()[lost] == no_id);
}

TEST_CASE("common_producer_modules: the common ancestor of producers, by evidence or their own") {
    scene s;
    const auto a = s.know(s.add(), "blocks.0.fc");
    const auto b = s.know(s.add(), "blocks.0.norm");
    const auto unknown = s.add();
    const auto join = s.add({a, b, unknown});
    const auto behind = s.add({join});
    const auto up = s.up();
    CHECK(up[a] == s.at("blocks.0.fc"));
    CHECK(up[join] == s.at("blocks.0"));
    CHECK(up[behind] == s.at("blocks.0"));
    s.know(join, "head");
    CHECK(s.up()[behind] == s.at("head"));
}

TEST_CASE("common modules: agree with the definition for any graph and visiting order") {
    test::random_numbers random(5);
    for (int round = 0; round < 300; ++round) {
        scene s;
        fill(s, random, 1 + random(30));
        // By definition: the common ancestor of the first evidence along all edges.
        const auto common = [&](id v, bool forward) {
            std::set<id> visited;
            id result = no_id;
            const std::function<void(id)> walk = [&](id u) {
                const auto meet = [&](std::size_t next) {
                    const auto w = static_cast<id>(next);
                    if (s.evidence[w] != no_id) {
                        result = result == no_id ? s.evidence[w]
                                                 : s.tree.index().lca(result, s.evidence[w]);
                    } else if (visited.insert(w).second) {
                        walk(w);
                    }
                };
                if (forward) {
                    for (auto [it, last] = out_edges(u, s.graph()); it != last; ++it) {
                        meet(target(*it, s.graph()));
                    }
                } else {
                    for (auto [it, last] = in_edges(u, s.graph()); it != last; ++it) {
                        meet(source(*it, s.graph()));
                    }
                }
            };
            walk(v);
            return result;
        };
        const auto down = s.down();
        const auto up = s.up();
        for (id v = 0; v < s.size(); ++v) {
            const bool open = s.evidence[v] == no_id;
            REQUIRE(down[v] == (open ? common(v, true) : s.evidence[v]));
            REQUIRE(up[v] == (open ? common(v, false) : s.evidence[v]));
        }
        // The same graph with vertices in reverse, so that index order is not topological.
        scene turned;
        const auto last = static_cast<id>(s.size() - 1);
        for (id v = 0; v <= last; ++v) {
            turned.add();
        }
        for (auto [it, end] = edges(s.graph()); it != end; ++it) {
            turned.read(last - static_cast<id>(target(*it, s.graph())),
                        last - static_cast<id>(source(*it, s.graph())));
        }
        turned.evidence.assign(s.evidence.rbegin(), s.evidence.rend());
        const auto turned_down = turned.down();
        const auto turned_up = turned.up();
        const auto near = s.nearest();
        const auto turned_near = turned.nearest();
        for (id v = 0; v <= last; ++v) {
            REQUIRE(turned_down[last - v] == down[v]);
            REQUIRE(turned_up[last - v] == up[v]);
            REQUIRE(turned_near[last - v] == near[v]);
        }
    }
}

TEST_CASE("common modules: operators leading into or out of a cycle are undecided") {
    scene s;
    const auto before = s.add();
    const auto a = s.add({before});
    const auto b = s.add({a});
    s.read(a, b);
    const auto behind = s.know(s.add({b}), "head");
    const auto after = s.add({behind});
    CHECK(s.down()[before] == no_id);
    CHECK(s.down()[b] == no_id);
    CHECK(s.up()[behind] == s.at("head"));
    CHECK(s.up()[after] == no_id);
}

TEST_CASE("data_independent: constants, shapes, and what is computed from them alone") {
    scene s;
    const auto x = s.add();
    const auto constant = s.add_constant();
    const auto shape = s.add({x}, "", "Shape");
    s.operator_scene::at(shape).hides_data = true;
    const auto computed = s.add({constant, shape});
    const auto mixed = s.add({computed, x});
    const auto independent = s.independent();
    CHECK_FALSE(independent[x]);
    CHECK(independent[constant]);
    CHECK(independent[shape]);
    CHECK(independent[computed]);
    CHECK_FALSE(independent[mixed]);
}

TEST_CASE("data_independent: nothing on or after a cycle is") {
    scene s;
    const auto constant = s.add_constant();
    const auto a = s.add({constant});
    const auto b = s.add({a});
    s.read(a, b);
    const auto behind = s.add({b});
    const auto independent = s.independent();
    CHECK(independent[constant]);
    CHECK_FALSE(independent[a]);
    CHECK_FALSE(independent[b]);
    CHECK_FALSE(independent[behind]);
}

TEST_CASE("settled_by_readers: constants surely read by one module, and what they are made from") {
    const auto settled = [](scene& s, float confidence) {
        return s.ask([&](const problem& p) {
            std::vector<stemma::attribution> attributions(p.evidence.size());
            for (std::size_t v = 0; v < attributions.size(); ++v) {
                attributions[v].module = p.evidence[v];
                attributions[v].confidence = confidence;
            }
            return stemma::detail::settled_by_readers(p, stemma::common_reader_modules(p),
                                                      attributions);
        });
    };
    scene s;
    const auto first = s.add_constant();
    const auto second = s.add({first});
    const auto shared = s.add_constant();
    const auto unread = s.add_constant();
    const auto data = s.add();
    const auto shape = s.add({data});
    s.operator_scene::at(shape).hides_data = true;
    s.know(s.add({second, shared, data, shape}), "blocks.0.fc");
    s.know(s.add({shared}), "blocks.0.norm");
    const auto sure = settled(s, 0.95F);
    CHECK(sure[first]);
    CHECK(sure[second]);
    for (auto v : {shared, unread, data, shape}) {
        CHECK_FALSE(sure[v]);
    }
    CHECK_FALSE(settled(s, 0.85F)[first]);
    // One reader in another module is enough for doubt.
    s.know(s.add({second}), "head");
    CHECK_FALSE(settled(s, 0.95F)[second]);
    CHECK_FALSE(settled(s, 0.95F)[first]);
}

TEST_CASE("nearest_modules: fewest edges in either direction, the common ancestor of ties") {
    scene s;
    const auto a = s.know(s.add(), "blocks.0.fc");
    const auto b = s.add({a});
    const auto c = s.add({b});
    const auto d = s.add({c});
    const auto e = s.know(s.add({d}), "blocks.1.fc");
    const auto alone = s.add();
    const auto near = s.nearest();
    CHECK(near[a] == s.at("blocks.0.fc"));
    CHECK(near[b] == s.at("blocks.0.fc"));
    CHECK(near[c] == s.at("blocks"));
    CHECK(near[d] == s.at("blocks.1.fc"));
    CHECK(near[e] == s.at("blocks.1.fc"));
    CHECK(near[alone] == no_id);
}

TEST_CASE("residual_modules: joins of skip connections belong with the skipped part") {
    scene s;
    const auto x = s.know(s.add(), "head");
    const auto norm = s.know(s.add({x}), "blocks.0.norm");
    const auto fc = s.know(s.add({norm}), "blocks.0.fc");
    const auto sum = s.add({x, fc});
    const auto plain = s.add({fc});
    const auto both = s.add({fc, s.know(s.add(), "head")});
    const auto joined = s.residual();
    CHECK(joined[sum] == s.at("blocks.0"));
    CHECK(joined[plain] == no_id);
    CHECK(joined[both] == no_id);
    CHECK(joined[fc] == no_id);
}

TEST_CASE("residual_modules: what comes in from the side does not count") {
    scene s;
    const auto x = s.know(s.add(), "head");
    const auto mask = s.know(s.add({s.know(s.add(), "blocks.1.norm")}), "blocks.1.fc");
    const auto norm = s.know(s.add({x}), "blocks.0.norm");
    const auto masked = s.add({mask, norm});
    const auto sum = s.add({s.know(s.add({masked}), "blocks.0.fc"), x});
    CHECK(s.residual()[sum] == s.at("blocks.0"));
}

TEST_CASE("residual_modules: the order of the inputs does not matter, and the search is bounded") {
    scene s;
    const auto x = s.know(s.add(), "head");
    auto last = x;
    for (int i = 0; i < 5; ++i) {
        last = s.know(s.add({last}), "blocks.1.fc");
    }
    const auto sum = s.add({last, x});
    CHECK(s.residual()[sum] == s.at("blocks.1.fc"));
    CHECK(s.residual(3)[sum] == no_id);
}

TEST_CASE("steering_only: results used only as conditions, directly or through operators without "
          "evidence") {
    scene s;
    const auto x = s.add();
    const auto less = s.add({x});
    const auto negated = s.add({less});
    const auto branch = s.add({x});
    s.read(branch, negated, true);
    CHECK(s.steers()[negated]);
    CHECK(s.steers()[less]);
    CHECK_FALSE(s.steers()[x]);
    CHECK_FALSE(s.steers()[branch]);
    s.know(negated, "head");
    CHECK_FALSE(s.steers()[negated]);
    CHECK_FALSE(s.steers()[less]);
}

TEST_CASE("stay_with_owners: operators in bodies stay in the module that runs the body") {
    scene s;
    const auto owner = s.add();
    const auto lost = s.add_inside(owner, {});
    const auto strayed = s.add_inside(owner, {});
    const auto inside = s.add_inside(owner, {});
    const auto anchor = s.add_inside(owner, {});
    const auto inner = s.add_inside(lost, {});
    s.know(anchor, "head");
    std::vector<stemma::attribution> result(s.size());
    for (auto [v, path] :
         {std::pair(owner, "blocks.0"), std::pair(lost, ""), std::pair(strayed, "blocks.1.fc"),
          std::pair(inside, "blocks.0.fc"), std::pair(anchor, "head"), std::pair(inner, "")}) {
        result[v].module = s.at(path);
        result[v].confidence = 0.9F;
    }
    s.ask([&](const problem& p) {
        stemma::detail::stay_with_owners(p, result, [&](id v) { return v == lost || v == inner; });
        return 0;
    });
    CHECK(result[lost].module == s.at("blocks.0"));
    CHECK(result[lost].source == stemma::provenance::owner);
    CHECK(result[lost].confidence <= 0.7F);
    CHECK(result[strayed].module == s.at("blocks.0"));
    CHECK(result[inside].module == s.at("blocks.0.fc"));
    CHECK(result[anchor].module == s.at("head"));
    CHECK(result[inner].module == s.at("blocks.0"));
}

} // namespace test::model_sweeps
