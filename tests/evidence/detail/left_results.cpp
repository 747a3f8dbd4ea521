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

} // namespace test::evidence_detail_left_results
