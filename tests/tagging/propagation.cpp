// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/propagation.hpp>

#include "../catch.hpp"
#include "../random_graphs.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/model/sweeps.hpp>
#include <stemma/tagging/any_policy.hpp>
#include <stemma/tagging/propagate.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace test::tagging_propagation {

using stemma::attribution;
using stemma::id;
using stemma::no_id;
using stemma::operator_graph;
using stemma::provenance;
using stemma::tree_index;

namespace {

/// Just a graph.
struct plain_operators {
    using graph_type = operator_graph;

    operator_graph wires;

    [[nodiscard]] const operator_graph& graph() const { return wires; }
};

struct data_operators : plain_operators {
    std::vector<bool> reading;
    std::vector<bool> hiding;

    [[nodiscard]] bool reads_data(id v) const { return reading[v]; }
    [[nodiscard]] bool hides_data(id v) const { return hiding[v]; }
};

struct steered_operators : plain_operators {
    id condition = no_id; ///< the value read as a condition

    [[nodiscard]] bool reads_condition(const operator_graph::edge& e) const {
        return get(stemma::value_index, wires, e) == condition;
    }
};

struct nested_operators : plain_operators {
    std::vector<id> owners;

    [[nodiscard]] id owner(id v) const { return owners[v]; }
};

// The modules of the small graphs: `a` holds `ax` and `ay`, `b` holds `bx`.
enum module : id { root, a, ax, ay, b, bx };

const tree_index& some_modules() {
    static const tree_index tree({no_id, root, a, a, root, b});
    return tree;
}

template <class Ops, class Policy>
std::vector<attribution> propagated(const Policy& policy, const Ops& ops,
                                    const std::vector<id>& evidence,
                                    const tree_index& modules = some_modules()) {
    STATIC_REQUIRE(stemma::propagation_policy<Policy, Ops>);
    STATIC_REQUIRE(stemma::explain_policy<stemma::propagation_category, Policy, Ops>());
    const stemma::sweep_order order(ops.graph());
    std::vector<attribution> result(evidence.size());
    for (std::size_t v = 0; v < evidence.size(); ++v) {
        result[v].module = evidence[v];
        result[v].source = evidence[v] == no_id ? provenance::root : provenance::scope;
    }
    policy.propagate(stemma::propagation_problem<Ops>{ops, modules, order, evidence}, result);
    return result;
}

constexpr id open = no_id;

/// Returns: the result of a policy for the vertices of a graph, including evidence.
template <class Policy>
std::vector<id> found(const test::edge_list& edges, const std::vector<id>& evidence,
                      const Policy& policy = {}) {
    std::vector<id> modules;
    for (const auto& one :
         propagated(policy, plain_operators{test::as_operator_graph(edges)}, evidence)) {
        modules.push_back(one.module);
    }
    return modules;
}

using ids = std::vector<id>;

const test::edge_list chain{4, {{0, 1}, {1, 2}, {2, 3}}};

template <class Function>
void for_each_policy(Function f) {
    f(stemma::both_sides{});
    f(stemma::consumers_only{});
    f(stemma::producers_only{});
    f(stemma::nearest_evidence{});
    f(stemma::residual_aware{});
    f(stemma::no_propagation{});
}

/// The laws of the concept, for one graph under two numberings.
template <class Policy>
void check_laws(test::random_numbers& random, const Policy& policy) {
    const auto count = 1 + random(10);
    const auto edges = test::random_edges(random, count, random(16));
    const tree_index modules(test::random_parents(random, 1 + random(8), 3));
    std::vector<id> evidence(count, no_id);
    for (auto& module : evidence) {
        module = random.one_in(2) ? no_id : static_cast<id>(random(modules.size()));
    }
    const auto result =
        propagated(policy, plain_operators{test::as_operator_graph(edges)}, evidence, modules);
    for (std::size_t v = 0; v < count; ++v) {
        if (evidence[v] == no_id) {
            REQUIRE(result[v].module < modules.size());
            REQUIRE_FALSE(is_evidence(result[v].source));
            REQUIRE((result[v].confidence >= 0 && result[v].confidence <= 1));
        } else {
            REQUIRE(result[v].module == evidence[v]);
            REQUIRE(result[v].source == provenance::scope);
        }
    }
    std::vector<std::size_t> name(count);
    for (std::size_t v = 0; v < count; ++v) {
        name[v] = v;
        std::swap(name[v], name[random(v + 1)]);
    }
    auto renamed_edges = edges;
    for (auto& [from, to] : renamed_edges.edges) {
        from = name[from];
        to = name[to];
    }
    auto renamed_evidence = evidence;
    for (std::size_t v = 0; v < count; ++v) {
        renamed_evidence[name[v]] = evidence[v];
    }
    const auto renamed = propagated(policy, plain_operators{test::as_operator_graph(renamed_edges)},
                                    renamed_evidence, modules);
    for (std::size_t v = 0; v < count; ++v) {
        REQUIRE(renamed[name[v]].module == result[v].module);
        REQUIRE(renamed[name[v]].source == result[v].source);
    }
}

} // namespace

TEST_CASE("propagation policies: keep evidence and place every operator under any numbering",
          "[policy][propagation]") {
    test::random_numbers random(1);
    for (int round = 0; round < 500; ++round) {
        for_each_policy([&](const auto& policy) {
            STATIC_REQUIRE(std::is_empty_v<std::decay_t<decltype(policy)>>);
            check_laws(random, policy);
        });
    }
}

TEST_CASE("both_sides: one known side decides", "[policy][propagation]") {
    CHECK(found<stemma::both_sides>(chain, {open, open, ax, open}) == ids{ax, ax, ax, ax});
    CHECK(found<stemma::both_sides>(chain, {open, open, open, open}) ==
          ids{root, root, root, root});
    const auto result =
        propagated(stemma::both_sides{}, plain_operators{test::as_operator_graph(chain)},
                   {open, ax, open, open});
    CHECK(result[0].source == provenance::consumer);
    CHECK(result[2].source == provenance::producer);
}

TEST_CASE("both_sides: readers decide if the sides are related, else their common ancestor",
          "[policy][propagation]") {
    CHECK(found<stemma::both_sides>(chain, {a, open, ax, open})[1] == ax);
    CHECK(found<stemma::both_sides>(chain, {ax, open, a, open})[1] == a);
    CHECK(found<stemma::both_sides>(chain, {ax, open, ay, open})[1] == a);
    CHECK(found<stemma::both_sides>(chain, {ax, open, bx, open})[1] == root);
    const auto between =
        propagated(stemma::both_sides{}, plain_operators{test::as_operator_graph(chain)},
                   {ax, open, ay, open})[1];
    CHECK(between.source == provenance::between);
    CHECK(between.confidence <= 0.5F);
}

TEST_CASE("both_sides: operators independent of data belong to their readers",
          "[policy][propagation]") {
    data_operators ops;
    ops.wires = test::as_operator_graph(chain);
    ops.reading = {true, false, false, false};
    ops.hiding = {false, true, false, false};
    // Vertex 1 is a Shape of what `ax` computed; it and everything after it serve `bx`.
    const auto result = propagated(stemma::both_sides{}, ops, {ax, open, open, bx});
    CHECK(result[1].module == bx);
    CHECK(result[2].module == bx);
    ops.hiding[1] = false;
    CHECK(propagated(stemma::both_sides{}, ops, {ax, open, open, bx})[1].module == root);
}

TEST_CASE("both_sides: a condition belongs to what it steers", "[policy][propagation]") {
    steered_operators ops;
    ops.wires = test::as_operator_graph(chain);
    const std::vector<id> evidence{ax, open, open, bx};
    CHECK(propagated(stemma::both_sides{}, ops, evidence)[2].module == root);
    ops.condition = 2; // the last edge
    CHECK(propagated(stemma::both_sides{}, ops, evidence)[2].module == bx);
    CHECK(propagated(stemma::both_sides{}, ops, evidence)[1].module == bx);
}

TEST_CASE("both_sides: a body stays with its owner", "[policy][propagation]") {
    nested_operators ops;
    // 1 and 2 are in the body of 3; the output of 1 is also read outside.
    ops.wires = test::as_operator_graph({5, {{0, 1}, {1, 2}, {2, 3}, {1, 4}}});
    ops.owners = {no_id, 3, 3, no_id, no_id};
    const auto result = propagated(stemma::both_sides{}, ops, {bx, open, open, a, bx});
    CHECK(result[1].module == a);
    CHECK(result[1].source == provenance::owner);
    CHECK(result[2].module == a);
    CHECK(propagated(stemma::both_sides{}, ops, {bx, open, ax, a, ay})[1].module == a);
}

TEST_CASE("consumers_only: takes the common ancestor of all readers", "[policy][propagation]") {
    const test::edge_list fork{4, {{0, 1}, {0, 2}, {0, 3}}};
    CHECK(found<stemma::consumers_only>(fork, {open, ax, ay, open})[0] == a);
    CHECK(found<stemma::consumers_only>(fork, {open, ax, bx, open})[0] == root);
    CHECK(found<stemma::consumers_only>(fork, {ax, open, open, open})[1] == root);
    CHECK(found<stemma::consumers_only>(chain, {ax, open, bx, open}) == ids{ax, bx, bx, root});
}

TEST_CASE("producers_only: takes the common ancestor of all producers", "[policy][propagation]") {
    const test::edge_list join{4, {{0, 3}, {1, 3}, {2, 3}}};
    CHECK(found<stemma::producers_only>(join, {ax, ay, open, open})[3] == a);
    CHECK(found<stemma::producers_only>(join, {open, open, open, ax})[0] == root);
    CHECK(found<stemma::producers_only>(chain, {ax, open, bx, open}) == ids{ax, ax, bx, bx});
}

TEST_CASE("nearest_evidence: the fewest edges decide, in either direction",
          "[policy][propagation]") {
    CHECK(found<stemma::nearest_evidence>(chain, {ax, open, open, bx}) == ids{ax, ax, bx, bx});
    CHECK(found<stemma::nearest_evidence>(chain, {ax, open, ay, open}) == ids{ax, a, ay, ay});
    CHECK(found<stemma::nearest_evidence>({3, {{0, 1}}}, {ax, open, open}) == ids{ax, ax, root});
}

TEST_CASE("residual_aware: a skip connection ends in the module that computes what it skips",
          "[policy][propagation]") {
    // 0 feeds 1, 2 and their sum 3, which `bx` reads.
    const test::edge_list skip{5, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {3, 4}}};
    const std::vector<id> evidence{bx, ax, ay, open, bx};
    CHECK(found<stemma::both_sides>(skip, evidence)[3] == bx);
    CHECK(found<stemma::residual_aware>(skip, evidence)[3] == a);
    // Without the skip it behaves as both_sides.
    const test::edge_list straight{5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}};
    CHECK(found<stemma::residual_aware>(straight, evidence) ==
          found<stemma::both_sides>(straight, evidence));
}

TEST_CASE("no_propagation: leaves the rest to the root", "[policy][propagation]") {
    CHECK(found<stemma::no_propagation>(chain, {open, ax, open, open}) ==
          ids{root, ax, root, root});
}

TEST_CASE("propagates: is false only for no_propagation, also type-erased",
          "[policy][propagation]") {
    using any_propagation = stemma::any_policy<stemma::propagation_category, nested_operators>;
    const auto asks = [](const auto& policy) { return stemma::detail::propagates(policy); };
    CHECK(asks(stemma::both_sides{}));
    CHECK_FALSE(asks(stemma::no_propagation{}));
    CHECK_FALSE(asks(any_propagation{stemma::no_propagation{}}));
    CHECK(asks(any_propagation{}));
    // An owner whose body is known uses it, unless propagation is off.
    nested_operators ops;
    ops.wires = test::as_operator_graph({2, {}});
    ops.owners = {1, no_id};
    std::vector<attribution> result(2);
    result[0].module = ax;
    auto untouched = result;
    stemma::propagate(ops, some_modules(), result, any_propagation{});
    CHECK(result[1].module == ax);
    stemma::propagate(ops, some_modules(), untouched, any_propagation{stemma::no_propagation{}});
    CHECK(untouched[1].module == root);
    CHECK(untouched[1].source == provenance::root);
}

namespace {

struct without_category {
    void propagate(const stemma::propagation_problem<plain_operators>&,
                   std::span<attribution>) const {}
};

struct not_const {
    using policy_category = stemma::propagation_category;
    void propagate(const stemma::propagation_problem<plain_operators>&, std::span<attribution>) {}
};

struct wrong_signature {
    using policy_category = stemma::propagation_category;
    void propagate(std::span<attribution>) const {}
};

} // namespace

TEST_CASE("propagation_policy: rejects near misses", "[policy][propagation]") {
    STATIC_REQUIRE_FALSE(stemma::propagation_policy<without_category, plain_operators>);
    STATIC_REQUIRE_FALSE(stemma::propagation_policy<not_const, plain_operators>);
    STATIC_REQUIRE_FALSE(stemma::propagation_policy<wrong_signature, plain_operators>);
}

} // namespace test::tagging_propagation
