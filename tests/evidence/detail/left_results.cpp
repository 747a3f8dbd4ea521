// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/left_results.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/model/module_tree.hpp>

#include <functional>
#include <string>
#include <vector>

namespace test::evidence_detail_left_results {

using stemma::id;
using stemma::no_id;

namespace {

/// An encoder's state, and its outputs, which are rearranged; both are joined.
struct scene {
    test::operator_scene ops;
    std::vector<id> owner;
    stemma::module_tree tree = test::tree_of({"enc.fc", "enc.rnn", "dec.cell", "dec.att"});
    id state = add({}, "enc.fc");
    id outputs = add({}, "enc.rnn");
    id moved = add({outputs});
    id joined = add({state, moved});

    id add(const std::vector<id>& inputs, const std::string& module = "") {
        owner.push_back(module.empty() ? no_id : test::module_at(tree, module));
        return ops.add(inputs, "", "Any");
    }

    /// Whether the join combines what the encoder has returned.
    [[nodiscard]] bool left() const {
        std::vector<stemma::detail::nearest_owners> behind(owner.size());
        for (auto v = static_cast<id>(owner.size()); v-- > 0;) {
            for (auto [out, last] = out_edges(v, ops.graph()); out != last; ++out) {
                const auto w = target(*out, ops.graph());
                if (owner[w] != no_id) {
                    behind[v].add({static_cast<id>(w), owner[w]}, std::less<>());
                } else {
                    behind[v].add(behind[w], std::less<>());
                }
            }
        }
        const stemma::detail::vertices_by_index vertex(ops.graph());
        const std::vector<bool> steady(owner.size(), false);
        return stemma::detail::left_results(ops, vertex, tree.index(), steady, owner, behind)
            .holds(joined, test::module_at(tree, "enc"));
    }
};

} // namespace

TEST_CASE("left_results: everything that is joined is read elsewhere, and only there") {
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
