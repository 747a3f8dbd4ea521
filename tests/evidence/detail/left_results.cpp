// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/left_results.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>

#include <functional>
#include <vector>

namespace test::evidence_detail_left_results {

using stemma::id;

namespace {

/// An encoder's state, and its outputs, which are rearranged; both are joined.
struct scene : test::region_scene<> {
    id state = add({}, "enc.fc");
    id outputs = add({}, "enc.rnn");
    id moved = add({outputs});
    id joined = add({state, moved});

    /// Whether the join combines what the encoder has returned.
    [[nodiscard]] bool left() const {
        const test::region_knowledge known(*this);
        std::vector<stemma::detail::nearest_owners> behind(ops.size());
        for (auto v = static_cast<id>(behind.size()); v-- > 0;) {
            for (const auto w : known.facts.readers(v)) {
                modules[w].empty() ? behind[v].add(behind[w], std::less<>())
                                   : behind[v].add({w, known.facts.owner[w]}, std::less<>());
            }
        }
        return stemma::detail::combines_left(known.facts, behind, joined, known.at("enc"));
    }
};

} // namespace

TEST_CASE("combines_left: everything that is joined is read elsewhere, and only there") {
    scene s;
    CHECK_FALSE(s.left());
    s.add({s.state}, "dec.cell");
    CHECK_FALSE(s.left()); // the outputs may be the encoder's own
    const auto product = s.add({s.outputs});
    CHECK_FALSE(s.left());
    s.add({product}, "dec.att");
    CHECK(s.left());
    s.add({s.outputs}, "enc.fc");
    CHECK_FALSE(s.left());
}

TEST_CASE("reads_child: the result of a child, or what only that was turned into") {
    scene s;
    const auto split = s.add({s.state, s.outputs});
    const auto own = s.add({}, "enc");
    const auto user = s.add({own});
    const test::region_knowledge known(s);
    const auto reads = [&](id v) {
        return stemma::detail::reads_child(known.facts, v, known.at("enc"));
    };
    CHECK(reads(s.moved));
    CHECK(reads(s.joined));
    CHECK(reads(split));
    CHECK_FALSE(reads(user));
}

TEST_CASE("find_results_of_lost: unknown weights on every way from the last owners") {
    test::region_scene net;
    const auto x = net.add({}, "stem");
    const auto one = net.add({net.lose({x})});
    const auto index = net.add();
    const auto all = net.add({one, index});
    const auto some = net.add({one, x});
    const test::region_knowledge known(net);
    std::vector<stemma::detail::nearest_owners> before(net.ops.size());
    for (const auto v : {one, all, some, static_cast<id>(one - 1)}) {
        before[v].add({x, known.at("stem")}, std::greater<>());
    }
    const auto lost = stemma::detail::find_results_of_lost(known.facts, before);
    CHECK(lost[one]);
    CHECK(lost[all]);
    CHECK_FALSE(lost[some]);
    CHECK_FALSE(lost[index]);
}

TEST_CASE("leads_out_of: all known owners behind an operator are outside") {
    scene s;
    const auto tree = s.tree();
    const auto at = [&](const char* path) { return test::module_at(tree, path); };
    stemma::detail::nearest_owners behind;
    const auto leads_out = [&] {
        return stemma::detail::leads_out_of(tree.index(), at("enc"), behind);
    };
    CHECK_FALSE(leads_out());
    behind.add({1, stemma::no_id}, std::less<>());
    CHECK_FALSE(leads_out());
    behind.add({2, 0}, std::less<>());
    CHECK(leads_out());
    behind.add({3, at("enc.fc")}, std::less<>());
    CHECK_FALSE(leads_out());
}

} // namespace test::evidence_detail_left_results
